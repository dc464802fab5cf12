//! Runs a target until its time is over: cases from a seed, minimised when one fails.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::hash::{BuildHasher, RandomState};
use std::panic::{set_hook, take_hook};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// Seconds of a target in an ordinary run.
const SECONDS: u64 = 2;
/// The seed of an ordinary run.
const SEED: u64 = 20_261_123;
/// Cases from one seed.
const BATCH: u32 = 16;

/// Panics of the code under test, anywhere in the process, with their places.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records panics from now on. Those of tests are not recorded, nor those of the libraries that decode images, which
/// the code under test catches.
fn record_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            if !place.starts_with("tests/") && !place.contains("/zune-") && !place.contains("/image") {
                PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
            }
            before(panic);
        }));
    });
}

/// # Errors
/// The panics that were recorded.
pub fn no_panic() -> Result<(), String> {
    let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
    if panics.is_empty() { Ok(()) } else { Err(format!("a panic: {}", panics.join("; "))) }
}

#[expect(clippy::disallowed_methods, reason = "how long a test runs is no setting of the server")]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// The first seed: `CIVITAS_FUZZ_SEED`; else always the same in an ordinary run, another one with a budget.
fn first_seed() -> u64 {
    let chosen = variable("CIVITAS_FUZZ_SEED");
    chosen.unwrap_or_else(|| match variable("CIVITAS_FUZZ_SECONDS") {
        Some(_) => RandomState::new().hash_one(0),
        None => SEED,
    })
}

/// Checks cases of a strategy for `CIVITAS_FUZZ_SECONDS`, divided by `parts`.
///
/// # Panics
/// With the smallest case that fails, and its seed.
pub fn fuzz<S: Strategy>(
    name: &str,
    parts: u64,
    strategy: &S,
    check: impl Fn(&S::Value) -> Result<(), String>,
) {
    record_panics();
    let budget = Duration::from_secs(variable("CIVITAS_FUZZ_SECONDS").unwrap_or(SECONDS))
        / u32::try_from(parts).expect("few");
    let (started, mut seed, mut cases) = (Instant::now(), first_seed(), 0);
    let first = seed;
    while started.elapsed() < budget || cases == 0 {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let config =
            Config { cases: BATCH, max_shrink_iters: 500, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let outcome =
            runner.run(strategy, |case| check(&case).and_then(|()| no_panic()).map_err(TestCaseError::fail));
        match outcome {
            Ok(()) => {}
            Err(TestError::Fail(reason, case)) => {
                panic!("{name}, CIVITAS_FUZZ_SEED={seed}: {reason}\nthe smallest case: {case:#?}")
            }
            Err(TestError::Abort(reason)) => panic!("{name}: {reason}"),
        }
        (seed, cases) = (seed.wrapping_add(1), cases + u64::from(BATCH));
    }
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let rate = cases as f64 / seconds;
    println!("{name}: {cases} cases in {seconds:.1} s, {rate:.0} per second, from seed {first}");
}
