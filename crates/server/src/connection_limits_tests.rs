use super::*;
use actix_http::h1;
use actix_web::http::header::{HeaderName, HeaderValue};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use tokio::time::sleep;

const STALL: Duration = Duration::from_secs(30);

fn limits() -> (Rc<Limits>, Clock) {
    let limits = Rc::new(Limits::new(STALL));
    (limits.clone(), Clock::new(limits))
}

fn answer(limits: &Rc<Limits>) -> Answering {
    limits.begin(&mut Request::new())
}

fn is_late(clock: &mut Clock) -> bool {
    clock.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// What may be read now.
fn may_read(limits: &Limits) -> Option<Piece> {
    match limits.poll_may_read(&Context::from_waker(Waker::noop())) {
        Poll::Ready(piece) => Some(piece),
        Poll::Pending => None,
    }
}

async fn until_late(clock: &mut Clock) -> u64 {
    let begun = Instant::now();
    poll_fn(|cx| clock.poll(cx)).await;
    (Instant::now() - begun).as_secs()
}

#[tokio::test(start_paused = true)]
async fn a_head_that_has_begun_is_late_after_its_time_even_if_parts_of_it_arrive() {
    let (limits, mut clock) = limits();
    drop(answer(&limits));
    sleep(Duration::from_secs(20)).await;
    assert!(!is_late(&mut clock), "it is idle");
    for _ in 0..8 {
        limits.read(1, 0);
        sleep(Duration::from_secs(1)).await;
        assert!(!is_late(&mut clock));
    }
    limits.read(1, 0);
    assert_eq!(until_late(&mut clock).await, 2);
}

#[tokio::test(start_paused = true)]
async fn no_time_counts_while_a_request_is_answered() {
    let (limits, mut clock) = limits();
    assert!(!is_late(&mut clock), "the first head has the clock of actix-http");
    drop(answer(&limits));
    limits.read(1, 0);
    assert!(!is_late(&mut clock));
    let answer = answer(&limits);
    sleep(Duration::from_secs(3600)).await;
    limits.read(1, 0);
    assert!(!is_late(&mut clock));
    drop(answer);
    assert_eq!(until_late(&mut clock).await, LONGEST_WAIT.as_secs(), "a head that began before may be there");
}

#[tokio::test(start_paused = true)]
async fn a_client_must_read_the_least_speed_after_the_stall() {
    let (limits, mut clock) = limits();
    let _answer = answer(&limits);
    limits.wrote(Some(1_000_000));
    assert!(!is_late(&mut clock), "it takes all at once");
    limits.wrote(None);
    limits.wrote(Some(5 * 1024));
    sleep(Duration::from_secs(20)).await;
    assert!(!is_late(&mut clock));
    limits.wrote_all();
    sleep(Duration::from_secs(3600)).await;
    assert!(!is_late(&mut clock), "the answer has no more yet");
    limits.wrote(None);
    assert_eq!(until_late(&mut clock).await, 15, "35 seconds for 5 KiB");
    limits.wrote_all();
    let _next = answer(&limits);
    limits.wrote(None);
    assert_eq!(until_late(&mut clock).await, 30);
}

/// A request with this header and body.
fn request(header: (HeaderName, &'static str), body: h1::Payload) -> Request {
    let mut request = Request::with_payload(Payload::from(body));
    request.headers_mut().insert(header.0, HeaderValue::from_static(header.1));
    request
}

/// Polls the next part of a body.
fn part(body: &mut Payload) -> Poll<Option<usize>> {
    let polled = Pin::new(body).poll_next(&mut Context::from_waker(Waker::noop()));
    polled.map(|part| part.map(|part| part.unwrap().len()))
}

#[tokio::test]
async fn nothing_is_read_ahead_of_an_answer() {
    let (limits, _) = limits();
    assert_eq!(may_read(&limits), Some(Piece::Head));
    let answer = answer(&limits);
    assert_eq!(may_read(&limits), None);
    drop(answer);
    assert_eq!(may_read(&limits), Some(Piece::Head));
}

#[tokio::test]
async fn a_body_is_read_to_its_end_while_the_handler_waits_for_it() {
    let (limits, _) = limits();
    let (mut sender, body) = h1::Payload::create(false);
    let mut request = request((CONTENT_LENGTH, "9"), body);
    let answer = limits.begin(&mut request);
    assert_eq!(may_read(&limits), None, "the handler does something else");
    let reader = refused(&limits);
    let mut body = request.take_payload();
    assert!(part(&mut body).is_pending());
    assert!(was_woken(&reader));
    assert_eq!(may_read(&limits), Some(Piece::Body(9)));
    limits.read(4, 0);
    assert_eq!(may_read(&limits), None);
    sender.feed_data(Bytes::from_static(b"part"));
    assert_eq!(part(&mut body), Poll::Ready(Some(4)));
    assert!(part(&mut body).is_pending());
    assert_eq!(may_read(&limits), Some(Piece::Body(5)));
    limits.read(5, 0);
    assert!(part(&mut body).is_pending());
    assert_eq!(may_read(&limits), None, "all is read");
    drop(answer);
    assert_eq!(may_read(&limits), Some(Piece::Head));
}

#[tokio::test]
async fn a_body_that_was_read_with_its_head_is_not_read_again() {
    let (limits, _) = limits();
    for (with_head, left) in [(9, None), (0, Some(Piece::Body(9)))] {
        limits.read(100, with_head);
        let (_sender, body) = h1::Payload::create(false);
        let mut request = request((CONTENT_LENGTH, "9"), body);
        let answer = limits.begin(&mut request);
        assert!(part(request.payload()).is_pending());
        assert_eq!(may_read(&limits), left);
        drop((request, answer));
    }
}

#[tokio::test]
async fn a_body_of_unknown_length_is_read_until_the_dispatcher_finds_its_end() {
    let (limits, _) = limits();
    let (mut sender, body) = h1::Payload::create(false);
    let mut request = request((TRANSFER_ENCODING, "chunked"), body);
    let _answer = limits.begin(&mut request);
    let mut body = request.take_payload();
    for _ in 0..3 {
        assert!(part(&mut body).is_pending());
        assert_eq!(may_read(&limits), Some(Piece::Body(u64::MAX)));
        limits.read(7, 0);
    }
    sender.feed_eof();
    assert_eq!(part(&mut body), Poll::Ready(None));
    assert_eq!(may_read(&limits), None);
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_did_not_read_of_a_body_is_no_head() {
    let (limits, mut clock) = limits();
    let (_sender, body) = h1::Payload::create(false);
    let mut request = request((CONTENT_LENGTH, "9"), body);
    let answer = limits.begin(&mut request);
    assert!(part(request.payload()).is_pending());
    drop(request);
    assert_eq!(may_read(&limits), None, "the handler reads no more");
    drop(answer);
    assert_eq!(may_read(&limits), Some(Piece::Body(9)));
    limits.read(9, 0);
    sleep(Duration::from_secs(60)).await;
    assert!(!is_late(&mut clock), "it is idle");
    assert_eq!(may_read(&limits), Some(Piece::Head));
    limits.read(1, 0);
    assert_eq!(until_late(&mut clock).await, HEAD_TIME.as_secs());
}

#[derive(Default)]
struct Reader(AtomicBool);

impl Wake for Reader {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A reader that may not read now.
fn refused(limits: &Limits) -> Arc<Reader> {
    let reader = Arc::new(Reader::default());
    assert!(limits.poll_may_read(&Context::from_waker(&reader.clone().into())).is_pending());
    reader
}

fn was_woken(reader: &Reader) -> bool {
    reader.0.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_reader_that_had_to_wait_is_woken() {
    let (limits, _) = limits();
    let answer = answer(&limits);
    let reader = refused(&limits);
    assert!(!was_woken(&reader));
    drop(answer);
    assert!(was_woken(&reader) && may_read(&limits).is_some());
    limits.wrote(None);
    let reader = refused(&limits);
    limits.wrote(Some(7));
    assert!(!was_woken(&reader), "a part is left");
    limits.wrote_all();
    assert!(was_woken(&reader) && may_read(&limits).is_some());
}
