//! Requests and streams: answered within the process, under no policy (R1, R26).

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{BoxStream, StreamExt};
use thiserror::Error;

use crate::contract::{Request, StreamRequest};
use crate::handler::{RequestHandler, StreamHandler};

/// The handlers of the requests and streams of a program. Put it into an `Arc` to share it.
///
/// Nothing is queued, stored or limited: a call runs in its caller's task, as if the handler were called directly.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// struct GetPrice {
///     article: u64,
/// }
///
/// impl Request for GetPrice {
///     type Response = u64;
/// }
///
/// struct Prices;
///
/// impl RequestHandler<GetPrice> for Prices {
///     async fn handle(&self, request: GetPrice) -> u64 {
///         100 * request.article
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let requests = Requests::new().handler::<GetPrice, _>(Prices);
/// assert_eq!(requests.send(GetPrice { article: 7 }).await?, 700);
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct Requests {
    /// A `Box<dyn Answers<R>>` for each request `R`, a `Box<dyn Streams<S>>` for each stream request `S`.
    handlers: HashMap<Call, Box<dyn Any + Send + Sync>>,
}

/// One type may be both a request and a stream request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Request(TypeId),
    Stream(TypeId),
}

/// Nobody answers this request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("nobody answers `{request}`; add its handler to `Requests`")]
#[non_exhaustive]
pub struct NoHandler {
    /// The request's type.
    pub request: &'static str,
}

impl Requests {
    /// Without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers requests `R` by `handler`. A later handler for the same request replaces an earlier one.
    #[must_use]
    pub fn handler<R: Request, H: RequestHandler<R>>(self, handler: H) -> Self {
        let handler: Box<dyn Answers<R>> = Box::new(Handler::new(handler));
        self.with(Call::Request(TypeId::of::<R>()), handler)
    }

    /// Answers stream requests `S` by `handler`. A later handler for the same request replaces an earlier one.
    #[must_use]
    pub fn stream_handler<S: StreamRequest, H: StreamHandler<S>>(self, handler: H) -> Self {
        let handler: Box<dyn Streams<S>> = Box::new(Handler::new(handler));
        self.with(Call::Stream(TypeId::of::<S>()), handler)
    }

    /// Has `request` answered by its handler, in this task.
    ///
    /// # Errors
    /// [`NoHandler`] where none was added.
    ///
    /// # Panics
    /// Where the handler panics.
    ///
    /// # Cancel safety
    /// Dropping the future drops that of the handler.
    pub async fn send<R: Request>(&self, request: R) -> Result<R::Response, NoHandler> {
        let handler = self.find::<Box<dyn Answers<R>>, R>(Call::Request(TypeId::of::<R>()))?;
        Ok(handler.answer(request).await)
    }

    /// Has `request` answered by its handler, item by item, in the task that polls the stream.
    ///
    /// # Errors
    /// [`NoHandler`] where none was added.
    pub fn stream<S: StreamRequest>(
        &self,
        request: S,
    ) -> Result<BoxStream<'_, S::Item>, NoHandler> {
        let handler = self.find::<Box<dyn Streams<S>>, S>(Call::Stream(TypeId::of::<S>()))?;
        Ok(handler.answer(request))
    }

    fn with(mut self, call: Call, handler: impl Any + Send + Sync) -> Self {
        self.handlers.insert(call, Box::new(handler));
        self
    }

    fn find<E: Any, R>(&self, call: Call) -> Result<&E, NoHandler> {
        let handler = self.handlers.get(&call);
        handler
            .and_then(|handler| handler.downcast_ref())
            .ok_or(NoHandler {
                request: type_name::<R>(),
            })
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.handlers.keys()).finish()
    }
}

/// A request handler without its type.
trait Answers<R: Request>: Send + Sync {
    fn answer(&self, request: R) -> BoxFuture<'_, R::Response>;
}

/// A stream handler without its type.
trait Streams<S: StreamRequest>: Send + Sync {
    fn answer(&self, request: S) -> BoxStream<'_, S::Item>;
}

struct Handler<R, H> {
    handler: H,
    request: PhantomData<fn(R)>,
}

impl<R, H> Handler<R, H> {
    fn new(handler: H) -> Self {
        Self {
            handler,
            request: PhantomData,
        }
    }
}

impl<R: Request, H: RequestHandler<R>> Answers<R> for Handler<R, H> {
    fn answer(&self, request: R) -> BoxFuture<'_, R::Response> {
        self.handler.handle(request).boxed()
    }
}

impl<S: StreamRequest, H: StreamHandler<S>> Streams<S> for Handler<S, H> {
    fn answer(&self, request: S) -> BoxStream<'_, S::Item> {
        self.handler.handle(request).boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::{Stream, stream};
    use tokio::sync::Barrier;

    use super::*;
    use crate::prelude::*;

    struct Double(u32);
    impl Request for Double {
        type Response = Result<u32, String>;
    }

    /// A stream request under the name of a request.
    impl StreamRequest for Double {
        type Item = u32;
    }

    struct Calculator;
    impl RequestHandler<Double> for Calculator {
        async fn handle(&self, request: Double) -> Result<u32, String> {
            request
                .0
                .checked_mul(2)
                .ok_or_else(|| "too large".to_owned())
        }
    }
    impl StreamHandler<Double> for Calculator {
        fn handle(&self, request: Double) -> impl Stream<Item = u32> + Send {
            stream::iter([request.0, request.0])
        }
    }

    /// R1, R2: one handler answers, also with an error of its own; one type may be asked for in both ways.
    #[tokio::test]
    async fn requests_and_streams_are_answered_by_their_handler() {
        let requests = Requests::new()
            .handler::<Double, _>(Calculator)
            .stream_handler::<Double, _>(Calculator);
        assert_eq!(requests.send(Double(4)).await, Ok(Ok(8)));
        assert_eq!(
            requests.send(Double(u32::MAX)).await,
            Ok(Err("too large".to_owned()))
        );
        let items: Vec<u32> = requests
            .stream(Double(4))
            .expect("a handler")
            .collect()
            .await;
        assert_eq!(items, [4, 4]);
    }

    /// R2: a request that nobody answers is an error that names it.
    #[tokio::test]
    async fn a_request_without_a_handler_is_an_error() {
        let requests = Requests::new().stream_handler::<Double, _>(Calculator);
        let error = requests.send(Double(1)).await.expect_err("no handler");
        assert!(error.to_string().contains("tests::Double`"), "{error}");
        assert!(Requests::new().stream(Double(1)).is_err());
    }

    /// A later handler replaces an earlier one.
    #[tokio::test]
    async fn the_last_handler_answers() {
        struct Zero;
        impl RequestHandler<Double> for Zero {
            async fn handle(&self, _request: Double) -> Result<u32, String> {
                Ok(0)
            }
        }
        let requests = Requests::new()
            .handler::<Double, _>(Calculator)
            .handler::<Double, _>(Zero);
        assert_eq!(requests.send(Double(4)).await, Ok(Ok(0)));
    }

    /// R26: a type that is also a job has its mutex as a job only.
    #[tokio::test]
    async fn requests_follow_no_policy() {
        #[mutex("meet")]
        #[derive(Serialize, Deserialize, Job)]
        struct Meet;
        impl Request for Meet {
            type Response = ();
        }
        struct Place(Barrier);
        impl RequestHandler<Meet> for Place {
            async fn handle(&self, _request: Meet) {
                self.0.wait().await;
            }
        }

        let requests = Arc::new(Requests::new().handler::<Meet, _>(Place(Barrier::new(2))));
        let both = tokio::join!(requests.send(Meet), requests.send(Meet));
        assert_eq!(both, (Ok(()), Ok(())));
    }
}
