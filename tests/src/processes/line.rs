//! The line between a process and its server, which can be cut and held up at a chosen message.

use std::io;
use std::sync::{Arc, Mutex};

use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::office::Outcome;

/// What the server says when it has committed.
const COMMITTED: &[u8] = b"COMMIT\0";

/// A line to a PostgreSQL server. It is down once this is dropped.
#[derive(Debug)]
pub struct Line {
    /// Where it begins, on this machine.
    pub port: u16,
    fault: Arc<Mutex<Option<Fault>>>,
    _connections: JoinSet<()>,
}

/// What befalls a connection.
#[derive(Debug)]
pub enum Trouble {
    /// It is cut before the server sees the message.
    CutBefore,
    /// It is cut when the server has committed, and before it says so.
    CutAfterCommit,
    /// It is held up, and goes on with the message once this is sent or dropped.
    HeldUntil(oneshot::Receiver<()>),
}

/// It strikes once, at the next message that contains a text.
#[derive(Debug)]
struct Fault {
    text: String,
    trouble: Trouble,
    strikes: oneshot::Sender<()>,
}

impl Line {
    /// A line to a server.
    pub async fn to(server: &PgConnectOptions) -> Outcome<Self> {
        let server = (server.get_host().to_owned(), server.get_port());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let fault = Arc::<Mutex<Option<Fault>>>::default();
        let mut connections = JoinSet::new();
        connections.spawn({
            let fault = Arc::clone(&fault);
            async move {
                let mut open = JoinSet::new();
                while let Ok((client, _)) = listener.accept().await {
                    let (server, fault) = (server.clone(), Arc::clone(&fault));
                    // However it ends, both sides see that it did.
                    open.spawn(async move { drop(connect(client, server, &fault).await) });
                }
            }
        });
        Ok(Self {
            port,
            fault,
            _connections: connections,
        })
    }

    /// Makes trouble at the next message of a process that contains `text`, and tells when it did.
    pub fn strike(&self, text: impl Into<String>, trouble: Trouble) -> oneshot::Receiver<()> {
        let (strikes, has_struck) = oneshot::channel();
        let text = text.into();
        *self.fault.lock().unwrap() = Some(Fault {
            text,
            trouble,
            strikes,
        });
        has_struck
    }
}

async fn connect(
    mut client: TcpStream,
    server: (String, u16),
    fault: &Mutex<Option<Fault>>,
) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut messages = Messages::default();
    let mut answers = vec![0; 16 * 1024];
    loop {
        while let Some(message) = messages.next() {
            match strikes(fault, &message) {
                None => {}
                Some((Trouble::CutBefore, strikes)) => {
                    let _ = strikes.send(());
                    return Ok(());
                }
                Some((Trouble::CutAfterCommit, strikes)) => {
                    server.write_all(&message).await?;
                    wait_for_commit(&mut server).await?;
                    let _ = strikes.send(());
                    return Ok(());
                }
                Some((Trouble::HeldUntil(released), strikes)) => {
                    let _ = strikes.send(());
                    let _ = released.await;
                }
            }
            server.write_all(&message).await?;
        }
        let count = tokio::select! {
            count = client.read_buf(&mut messages.bytes) => count?,
            count = server.read(&mut answers) => {
                let count = count?;
                client.write_all(&answers[..count]).await?;
                count
            }
        };
        if count == 0 {
            return Ok(());
        }
    }
}

fn strikes(fault: &Mutex<Option<Fault>>, message: &[u8]) -> Option<(Trouble, oneshot::Sender<()>)> {
    let mut fault = fault.lock().unwrap();
    let struck = fault.take_if(|fault| contains(message, fault.text.as_bytes()))?;
    Some((struck.trouble, struck.strikes))
}

async fn wait_for_commit(server: &mut TcpStream) -> io::Result<()> {
    let mut answers = Vec::new();
    while !contains(&answers, COMMITTED) {
        if server.read_buf(&mut answers).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// What a process sends, in messages: a letter, and the length of what follows, itself included. The first has no letter.
#[derive(Default)]
struct Messages {
    bytes: Vec<u8>,
    has_begun: bool,
}

impl Messages {
    fn next(&mut self) -> Option<Vec<u8>> {
        let letter = usize::from(self.has_begun);
        let length = self.bytes.get(letter..letter + 4)?.try_into().ok()?;
        let length = letter + usize::try_from(u32::from_be_bytes(length)).ok()?;
        if self.bytes.len() < length {
            return None;
        }
        self.has_begun = true;
        Some(self.bytes.drain(..length).collect())
    }
}
