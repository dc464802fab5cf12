use super::*;
use actix_http::h1;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use tokio::time::sleep;

const STALL: Duration = Duration::from_secs(30);

fn turn() -> (Rc<Turn>, Clock) {
    let turn = Rc::new(Turn::new(STALL));
    (turn.clone(), Clock::new(turn))
}

fn answer(turn: &Rc<Turn>) -> Answering {
    turn.begin(&mut Request::new())
}

fn is_late(clock: &mut Clock) -> bool {
    clock.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn may_read(turn: &Turn) -> bool {
    turn.poll_may_read(&Context::from_waker(Waker::noop())).is_ready()
}

async fn until_late(clock: &mut Clock) -> u64 {
    let begun = Instant::now();
    poll_fn(|cx| clock.poll(cx)).await;
    (Instant::now() - begun).as_secs()
}

#[tokio::test(start_paused = true)]
async fn a_head_that_has_begun_is_late_after_its_time_however_it_drips() {
    let (turn, mut clock) = turn();
    drop(answer(&turn));
    sleep(Duration::from_secs(20)).await;
    assert!(!is_late(&mut clock), "it is idle");
    for _ in 0..8 {
        turn.read();
        sleep(Duration::from_secs(1)).await;
        assert!(!is_late(&mut clock));
    }
    turn.read();
    assert_eq!(until_late(&mut clock).await, 2);
}

#[tokio::test(start_paused = true)]
async fn no_time_counts_while_a_request_is_answered() {
    let (turn, mut clock) = turn();
    assert!(!is_late(&mut clock), "the first head has the clock of actix-http");
    drop(answer(&turn));
    turn.read();
    assert!(!is_late(&mut clock));
    let answer = answer(&turn);
    sleep(Duration::from_secs(3600)).await;
    turn.read();
    assert!(!is_late(&mut clock));
    drop(answer);
    assert_eq!(until_late(&mut clock).await, LONGEST_WAIT.as_secs(), "a head that began before may be there");
}

#[tokio::test(start_paused = true)]
async fn a_client_must_read_the_least_speed_after_the_stall() {
    let (turn, mut clock) = turn();
    let _answer = answer(&turn);
    turn.wrote(Some(1_000_000));
    assert!(!is_late(&mut clock), "it takes all at once");
    turn.wrote(None);
    turn.wrote(Some(5 * 1024));
    sleep(Duration::from_secs(20)).await;
    assert!(!is_late(&mut clock));
    turn.wrote_all();
    sleep(Duration::from_secs(3600)).await;
    assert!(!is_late(&mut clock), "the answer has no more yet");
    turn.wrote(None);
    assert_eq!(until_late(&mut clock).await, 15, "35 seconds for 5 KiB");
    turn.wrote_all();
    let _next = answer(&turn);
    turn.wrote(None);
    assert_eq!(until_late(&mut clock).await, 30);
}

#[tokio::test]
async fn nothing_is_read_ahead_of_an_answer_but_the_body_of_its_request() {
    let (turn, _) = turn();
    assert!(may_read(&turn), "the first head");
    let first = answer(&turn);
    assert!(!may_read(&turn));
    drop(first);
    assert!(may_read(&turn), "the next head");

    let (mut sender, payload) = h1::Payload::create(false);
    let mut request = Request::with_payload(Payload::from(payload));
    let second = turn.begin(&mut request);
    assert!(may_read(&turn), "its body");
    sender.feed_data(Bytes::from_static(b"part"));
    sender.feed_eof();
    let mut body = request.take_payload();
    for expected in [true, false] {
        assert_eq!(poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await.is_some(), expected);
        assert_eq!(may_read(&turn), expected);
    }
    drop(second);
    let (_sender, payload) = h1::Payload::create(false);
    let mut request = Request::with_payload(Payload::from(payload));
    let _third = turn.begin(&mut request);
    drop(request);
    assert!(!may_read(&turn), "nobody reads the body");
}

#[derive(Default)]
struct Reader(AtomicBool);

impl Wake for Reader {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Someone who may not read now.
fn refused(turn: &Turn) -> Arc<Reader> {
    let reader = Arc::new(Reader::default());
    assert!(turn.poll_may_read(&Context::from_waker(&reader.clone().into())).is_pending());
    reader
}

fn was_woken(reader: &Reader) -> bool {
    reader.0.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_reader_that_had_to_wait_is_woken() {
    let (turn, _) = turn();
    let answer = answer(&turn);
    let reader = refused(&turn);
    assert!(!was_woken(&reader));
    drop(answer);
    assert!(was_woken(&reader) && may_read(&turn));
    turn.wrote(None);
    let reader = refused(&turn);
    turn.wrote(Some(7));
    assert!(!was_woken(&reader), "a part is left");
    turn.wrote_all();
    assert!(was_woken(&reader) && may_read(&turn));
}
