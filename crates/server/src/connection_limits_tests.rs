use super::*;
use actix_http::h1;
use actix_web::http::header::{HOST, HeaderName, HeaderValue};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use tokio::time::sleep;

const STALL: Duration = Duration::from_secs(30);
/// A part of a body, of which this is left.
fn data(left: Unread) -> Passed {
    Passed::Body { left, has_data: true }
}

/// A part of a head.
const HEAD: Passed = Passed::Head { has_begun: true, body: 0 };

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
        limits.read(HEAD);
        sleep(Duration::from_secs(1)).await;
        assert!(!is_late(&mut clock));
    }
    limits.read(HEAD);
    assert_eq!(until_late(&mut clock).await, 2);
}

#[tokio::test(start_paused = true)]
async fn no_time_counts_while_a_request_is_answered() {
    let (limits, mut clock) = limits();
    assert!(!is_late(&mut clock), "the first head has the clock of actix-http");
    drop(answer(&limits));
    limits.read(HEAD);
    assert!(!is_late(&mut clock));
    let answer = answer(&limits);
    sleep(Duration::from_secs(3600)).await;
    drop(answer);
    assert_eq!(until_late(&mut clock).await, LONGEST_WAIT.as_secs());
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

#[tokio::test(start_paused = true)]
async fn a_client_that_has_read_much_must_go_on() {
    let (limits, mut clock) = limits();
    let _answer = answer(&limits);
    limits.wrote(None);
    limits.wrote(Some(100_000_000));
    assert_eq!(until_late(&mut clock).await, 60);
}

#[tokio::test(start_paused = true)]
async fn all_that_a_slow_client_takes_counts() {
    let (limits, mut clock) = limits();
    let _answer = answer(&limits);
    for _ in 0..100 {
        limits.wrote(None);
        sleep(Duration::from_secs(20)).await;
        assert!(!is_late(&mut clock));
        limits.wrote(Some(2 * 1024));
        limits.wrote_all();
        limits.wrote(Some(20 * 1024));
    }
}

#[tokio::test(start_paused = true)]
async fn no_time_for_the_next_head_counts_while_the_rest_of_an_answer_waits_for_the_client() {
    let limits = Rc::new(Limits::new(Duration::from_secs(600)));
    let mut clock = Clock::new(limits.clone());
    let answer = answer(&limits);
    limits.wrote(None);
    drop(answer);
    sleep(Duration::from_secs(500)).await;
    assert!(!is_late(&mut clock));
    limits.wrote_all();
    assert_eq!(until_late(&mut clock).await, LONGEST_WAIT.as_secs());
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
    let mut request = request((CONTENT_LENGTH, "100009"), body);
    let answer = limits.begin(&mut request);
    assert_eq!(may_read(&limits), None, "the handler does something else");
    let reader = refused(&limits);
    let mut body = request.take_payload();
    assert!(part(&mut body).is_pending());
    assert!(was_woken(&reader));
    assert_eq!(may_read(&limits), Some(Piece::Body(Unread::Bytes(100_009))));
    limits.read(data(Unread::Bytes(100_005)));
    assert_eq!(may_read(&limits), None, "the handler has not got it");
    sender.feed_data(Bytes::from_static(b"part"));
    assert_eq!(part(&mut body), Poll::Ready(Some(4)));
    assert!(part(&mut body).is_pending());
    assert_eq!(may_read(&limits), Some(Piece::Body(Unread::Bytes(100_005))));
    limits.read(data(Unread::Nothing));
    assert!(part(&mut body).is_pending());
    assert_eq!(may_read(&limits), None, "all is read");
    drop(answer);
    assert_eq!(may_read(&limits), Some(Piece::Head));
}

#[tokio::test]
async fn a_body_that_was_read_with_its_head_is_not_read_again() {
    let (limits, _) = limits();
    for (with_head, left) in [(9, None), (0, Some(Piece::Body(Unread::Bytes(9))))] {
        limits.read(Passed::Head { has_begun: true, body: with_head });
        let (_sender, body) = h1::Payload::create(false);
        let mut request = request((CONTENT_LENGTH, "9"), body);
        let answer = limits.begin(&mut request);
        assert!(part(request.payload()).is_pending());
        assert_eq!(may_read(&limits), left);
        drop((request, answer));
    }
}

#[tokio::test]
async fn a_short_body_is_read_although_the_handler_does_not_wait_for_it() {
    let (limits, _) = limits();
    for (length, expected) in [("8192", Some(Piece::Body(Unread::Bytes(8192)))), ("8193", None)] {
        let (_sender, body) = h1::Payload::create(false);
        let _answer = limits.begin(&mut request((CONTENT_LENGTH, length), body));
        assert_eq!(may_read(&limits), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_for_a_short_body_but_not_for_long() {
    let (limits, _) = limits();
    let begun = Instant::now();
    for (length, left, waits) in [("9", 0, 0), ("9", 9, 200), ("8193", 8193, 0)] {
        let (_sender, body) = h1::Payload::create(false);
        let answer = limits.begin(&mut request((CONTENT_LENGTH, length), body));
        let begun = Instant::now();
        limits.read(data(Unread::of_length(left)));
        answer.body_arrived().await;
        assert_eq!(begun.elapsed().as_millis(), waits, "{left} of {length}");
    }
    let (_sender, body) = h1::Payload::create(false);
    let answer = limits.begin(&mut request((CONTENT_LENGTH, "9"), body));
    let half = Instant::now();
    limits.read_all();
    answer.body_arrived().await;
    assert!(half.elapsed().is_zero(), "the client sends no more");
    assert!(begun.elapsed() < STALL);
}

#[tokio::test]
async fn chunks_are_read_to_their_end_and_a_body_without_a_length_to_that_of_the_connection() {
    let (limits, _) = limits();
    let chunks = Unread::Chunks(Chunks::default());
    for (header, unread) in [((TRANSFER_ENCODING, "chunked"), chunks), ((HOST, "a"), Unread::Unknown)] {
        let (mut sender, body) = h1::Payload::create(false);
        let mut request = request(header, body);
        let _answer = limits.begin(&mut request);
        let mut body = request.take_payload();
        for _ in 0..3 {
            assert!(part(&mut body).is_pending());
            assert_eq!(may_read(&limits), Some(Piece::Body(unread)));
            limits.read(data(unread));
        }
        sender.feed_eof();
        assert_eq!(part(&mut body), Poll::Ready(None));
        assert_eq!(may_read(&limits), None);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_did_not_read_of_a_body_is_no_head() {
    let (limits, mut clock) = limits();
    for header in [(CONTENT_LENGTH, "100000"), (TRANSFER_ENCODING, "chunked")] {
        let (_sender, body) = h1::Payload::create(false);
        let mut request = request(header, body);
        let answer = limits.begin(&mut request);
        assert!(part(request.payload()).is_pending());
        assert!(may_read(&limits).is_some());
        drop(request);
        assert_eq!(may_read(&limits), None, "the handler reads no more");
        drop(answer);
        assert!(matches!(may_read(&limits), Some(Piece::Body(_))) && limits.has_unread());
        limits.read(data(Unread::Bytes(7)));
        sleep(Duration::from_secs(170)).await;
        assert!(!is_late(&mut clock), "more of the body may come");
        limits.read(data(Unread::Nothing));
        limits.read(Passed::Head { has_begun: false, body: 0 });
        sleep(Duration::from_secs(60)).await;
        assert!(!is_late(&mut clock) && !limits.has_unread(), "it is idle");
        assert_eq!(may_read(&limits), Some(Piece::Head));
        limits.read(HEAD);
        assert_eq!(until_late(&mut clock).await, HEAD_TIME.as_secs());
    }
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

#[tokio::test]
async fn a_handler_that_waits_for_a_chunk_gets_more_than_its_size() {
    let (limits, _) = limits();
    let (_sender, body) = h1::Payload::create(false);
    let mut request = request((TRANSFER_ENCODING, "chunked"), body);
    let _answer = limits.begin(&mut request);
    assert!(part(request.payload()).is_pending());
    let left = Unread::Chunks(Chunks::default());
    limits.read(Passed::Body { left, has_data: false });
    assert!(may_read(&limits).is_some());
    limits.read(data(left));
    assert_eq!(may_read(&limits), None, "it has not got the data yet");
}
