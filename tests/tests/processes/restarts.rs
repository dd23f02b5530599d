//! R82, R85: a server that crashes and comes back.

use warp_tests::processes::{Note, Office, Outcome, Place, Server};

use crate::{PROGRAM, setting, start_four, stop};

/// The server crashes in the middle of its work. The workers go on once it is back, nothing is lost, and nothing is done twice.
/// `WARP_TEST_RESTARTS` sets how often.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_and_comes_back_loses_nothing() -> Outcome {
    let test = "a_server_that_crashes_and_comes_back_loses_nothing";
    let Some(server) = Server::start(test)? else {
        return Ok(());
    };
    let mut office = Office::at(PROGRAM, Place::on(&server.url)).await?;
    let processes = start_four(&office);
    office.until_there(&processes).await?;
    let mut ids = Vec::new();
    for _ in 0..setting("WARP_TEST_RESTARTS", 2)? {
        let before = begun(&office);
        let jobs = office.enqueue(100).await?;
        office
            .until(async || Ok(begun(&office) >= before + jobs.len() / 4))
            .await?;
        server.crash_and_restart()?;
        office.reopen().await?;
        office
            .until(async || Ok(begun(&office) >= before + jobs.len() / 2))
            .await?;
        ids.extend(jobs);
    }
    // What they have without knowing it they give back when they leave.
    stop(processes).await;

    let heirs = start_four(&office);
    let all = ids.len() as u64;
    office
        .until(async || Ok(office.ended().await? == all))
        .await?;
    stop(heirs).await;
    let judge = office.is_in_order(&ids, &[]).await?;
    assert!(judge.runs.values().all(|&runs| runs == 1));
    Ok(())
}

/// How often a handler has begun.
fn begun(office: &Office) -> usize {
    let notes = office.notebook.read().into_iter();
    notes
        .filter(|note| matches!(note, Note::Began { .. }))
        .count()
}
