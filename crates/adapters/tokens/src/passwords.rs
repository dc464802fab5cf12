//! Argon2id on a few dedicated threads: each call takes 20 ms and 19 MiB. Hashes of bcrypt from elsewhere are verified
//! there too.

use crate::bytes::random;
use argon2::password_hash::Error as HashError;
use argon2::{Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier};
use async_trait::async_trait;
use bcrypt::HashParts;
use civitas_accounts::{Passwords, Secret, is_bcrypt};
use civitas_kernel::text::nfc;
use civitas_kernel::{Error, Result};
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The length of a salt, in bytes (RFC 9106, 3.1).
const SALT_BYTES: usize = 16;

/// The most memory of a stored hash in all its passes together, in KiB: a sign-in takes about 0.3 s of one core then.
const MAX_MEMORY_KIB: u64 = 256 * 1024;
/// The most passes of a stored hash.
const MAX_PASSES: u32 = 16;
/// The most lanes of a stored hash.
const MAX_LANES: u32 = 16;

/// The costs of bcrypt that are verified. With 15 a sign-in takes about 2 s of one core, with 12 a fifth of a second.
const BCRYPT_COSTS: RangeInclusive<u32> = 4..=15;
/// Hashes of bcrypt with a higher cost take longer than any other: up to 4 s for a password that is compared in two forms.
const USUAL_BCRYPT_COST: u32 = 12;

/// The most calls that wait at once.
const MAX_WAITING: usize = 64;
/// The longest wait; longer in builds without optimization, which are slow.
const MAX_WAIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });

/// The hash that is checked for an unknown account, so that the check takes as long as for a known account. The password
/// is random and not stored.
static DUMMY_HASH: LazyLock<Result<String>> = LazyLock::new(|| hash(&Secret::random("", 32)));

/// Hashes passwords with Argon2id and its default cost (19 MiB, two passes). One call for every two cores runs at once,
/// so that sign-ins leave half of the processor to other requests. At most 64 others wait, at most 2 s, without a
/// thread; beyond that the answer is `Unavailable`. Hashes of bcrypt that take long have as many permits of their own, and
/// wait at most 10 s.
#[derive(Debug)]
pub struct Argon2Passwords {
    permits: Arc<Semaphore>,
    long_permits: Arc<Semaphore>,
    queue: Semaphore,
    longest_wait: Duration,
    pepper: Option<Secret>,
}

impl Argon2Passwords {
    /// One permit for every two cores.
    pub fn new() -> Self {
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        Self::with_limits((cores / 2).max(1), MAX_WAITING, MAX_WAIT)
    }

    /// The same for commands, which nobody waits for as for a sign-in: any number of calls wait, as long as it takes.
    pub fn without_wait_limit() -> Self {
        Self { queue: Semaphore::new(Semaphore::MAX_PERMITS), longest_wait: Duration::MAX, ..Self::new() }
    }

    /// The same with the pepper of the application that the hashes of bcrypt come from. It follows each password that is
    /// compared with one of them; hashes of Argon2id are of the password alone.
    #[must_use]
    pub fn with_pepper(self, pepper: Option<Secret>) -> Self {
        Self { pepper, ..self }
    }

    fn with_limits(permits: usize, most_waiting: usize, longest_wait: Duration) -> Self {
        let semaphore = || Arc::new(Semaphore::new(permits));
        Self {
            permits: semaphore(),
            long_permits: semaphore(),
            queue: Semaphore::new(most_waiting),
            longest_wait,
            pepper: None,
        }
    }

    async fn with_permit<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.with_permit_of(&self.permits, self.longest_wait, work).await
    }

    async fn with_permit_of<T: Send + 'static>(
        &self,
        permits: &Arc<Semaphore>,
        longest_wait: Duration,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // The permit is released with the work, not with the caller: a dropped request must not start another one
        // early.
        let permit = if let Ok(permit) = permits.clone().try_acquire_owned() {
            permit
        } else {
            let _queued = self.queue.try_acquire().map_err(|_| overloaded("too many calls wait"))?;
            let permit = timeout(longest_wait, permits.clone().acquire_owned()).await;
            permit.map_err(|_| overloaded("a call waited too long"))?.map_err(Error::internal)?
        };
        let task = spawn_blocking(move || {
            let outcome = work();
            drop(permit);
            outcome
        });
        task.await.map_err(Error::internal)?
    }
}

fn overloaded(cause: &str) -> Error {
    Error::Unavailable(format!("hashing of passwords: {cause}").into())
}

impl Default for Argon2Passwords {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Passwords for Argon2Passwords {
    async fn hash(&self, password: Secret) -> Result<String> {
        self.with_permit(move || hash(&composed(&password))).await
    }

    async fn verify(&self, password: Secret, hash: Option<String>) -> Result<bool> {
        let (permits, longest_wait) = match &hash {
            Some(hash) if is_long(hash) => (&self.long_permits, self.longest_wait.saturating_mul(5)),
            _ => (&self.permits, self.longest_wait),
        };
        let pepper = self.pepper.clone();
        let matches_hash = move |password: &Secret| match &hash {
            Some(hash) => matches(password, hash, pepper.as_ref()),
            None => matches(password, nobody()?, None).map(|_| false),
        };
        self.with_permit_of(permits, longest_wait, move || {
            let composed = composed(&password);
            // A hash from elsewhere may be of the text as it was typed. Right and wrong passwords take as long.
            let is_other = composed.expose() != password.expose();
            let (first, second) = (matches_hash(&composed)?, is_other && matches_hash(&password)?);
            Ok(first || second)
        })
        .await
    }

    fn check_hash(&self, hash: &str) -> Result<()> {
        let checked = if is_bcrypt(hash) { check_bcrypt(hash) } else { read(hash).map(drop) };
        checked.map_err(Error::rejected)
    }
}

/// The composed form of a password (RFC 8265): the same keys give other forms on other systems.
fn composed(password: &Secret) -> Secret {
    Secret::new(nfc(password.expose()))
}

fn hash(password: &Secret) -> Result<String> {
    let salt: [u8; SALT_BYTES] = random()?;
    let hash = Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt);
    hash.map(|h| h.to_string()).map_err(Error::internal)
}

const NO_HASH: &str = "is not a hash of Argon2id or bcrypt";

/// Checks a stored hash of bcrypt; otherwise what is wrong with it, as the end of a sentence.
fn check_bcrypt(hash: &str) -> Result<(), &'static str> {
    let cost = hash.parse::<HashParts>().map_err(|_| NO_HASH)?.get_cost();
    if BCRYPT_COSTS.contains(&cost) { Ok(()) } else { Err("has a cost of bcrypt that is not from 4 to 15") }
}

/// Whether a hash takes longer than others.
fn is_long(hash: &str) -> bool {
    is_bcrypt(hash) && hash.parse::<HashParts>().is_ok_and(|hash| hash.get_cost() > USUAL_BCRYPT_COST)
}

/// Reads a stored hash of Argon2id, the same way. Its cost is checked before any work.
fn read(hash: &str) -> Result<PasswordHash, &'static str> {
    let hash = PasswordHash::new(hash).map_err(|_| NO_HASH)?;
    if hash.algorithm.as_str() != "argon2id" || hash.version.is_some_and(|version| version != 0x13) {
        return Err(NO_HASH);
    }
    if hash.salt.is_none() || hash.hash.is_none() {
        return Err(NO_HASH);
    }
    let cost = Params::try_from(&hash).map_err(|_| NO_HASH)?;
    let memory = u64::from(cost.m_cost()) * u64::from(cost.t_cost());
    if memory > MAX_MEMORY_KIB || cost.t_cost() > MAX_PASSES || cost.p_cost() > MAX_LANES {
        return Err(
            "costs too much: at most 256 MiB of memory in all passes together (m times t is at most 262144), \
                    16 passes (t) and 16 lanes (p)",
        );
    }
    Ok(hash)
}

/// Whether a text is that of a hash of bcrypt: the password and the pepper, one after the other, and of a long one the first
/// 72 bytes, as where the hash was made. A NUL would end it early: such a password has no hash.
fn matches_bcrypt(password: &Secret, hash: &str, pepper: Option<&Secret>) -> bool {
    let peppered = Secret::new(format!("{}{}", password.expose(), pepper.map_or("", Secret::expose)));
    let is_right = bcrypt::verify(peppered.expose(), hash).unwrap_or(false);
    is_right && !password.expose().contains('\0')
}

fn matches(password: &Secret, hash: &str, pepper: Option<&Secret>) -> Result<bool> {
    let verified = if is_bcrypt(hash) {
        check_bcrypt(hash).map(|()| matches_bcrypt(password, hash, pepper))
    } else {
        read(hash).and_then(|hash| {
            match Argon2::default().verify_password(password.expose().as_bytes(), &hash) {
                Ok(()) => Ok(true),
                Err(HashError::PasswordInvalid) => Ok(false),
                Err(_) => Err("cannot be computed"),
            }
        })
    };
    let fault = match verified {
        Ok(is_right) => return Ok(is_right),
        Err(fault) => fault,
    };
    // Possibly imported. The sign-in fails like one with a wrong password.
    tracing::warn!(fault, "a stored password hash is not used");
    matches(password, nobody()?, None).map(|_| false)
}

fn nobody() -> Result<&'static str> {
    DUMMY_HASH.as_ref().map(String::as_str).map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[tokio::test]
    async fn a_password_opens_its_own_hash_only() {
        let passwords = Argon2Passwords::new();
        let (first, second) = tokio::join!(
            passwords.hash(Secret::new("correct horse")),
            passwords.hash(Secret::new("correct horse")),
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        assert!(first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{first}");
        assert_ne!(first, second, "each hash has a salt of its own");
        assert!(passwords.verify(Secret::new("correct horse"), Some(first.clone())).await.unwrap());
        assert!(!passwords.verify(Secret::new("correct horsf"), Some(first)).await.unwrap());
    }

    /// A hash of `correct horse` by crypt(3).
    const BCRYPT: &str = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";

    #[tokio::test]
    async fn a_password_opens_its_hash_of_bcrypt_only() {
        let passwords = Argon2Passwords::new();
        for version in ["$2a$", "$2b$", "$2y$"] {
            let hash = BCRYPT.replace("$2y$", version);
            passwords.check_hash(&hash).unwrap();
            assert!(passwords.verify(Secret::new("correct horse"), Some(hash.clone())).await.unwrap());
            assert!(!passwords.verify(Secret::new("correct horsf"), Some(hash)).await.unwrap());
        }
        let long = "x".repeat(80);
        let hash = bcrypt::hash_with_salt(&long[..72], 4, [7; SALT_BYTES]).unwrap().to_string();
        assert!(passwords.verify(Secret::new(long), Some(hash)).await.unwrap(), "bcrypt reads 72 bytes");
    }

    /// The vectors of sheet 13 §6.1.
    #[tokio::test]
    async fn the_pepper_follows_the_password_and_bcrypt_reads_72_bytes_of_both() {
        const PLAIN: &str = "$2a$11$q6jA//raH2IAgz78CeDjuOeI2Ba/InfOPz6ntkRu8w7XREshkGQiC";
        const PEPPERED: &str = "$2a$11$qDiz/i8WNsWBpJpOuzyd6eHeQxoMjsXYq35iuWEuoaQMh6nqAhj3m";
        const LONG: &str = "$2a$04$TxsHDB/HrU6dqcIlTm1SB.ju0QJda2kOpuu/SQ92JTQcu4X59oAgu";
        let none = Argon2Passwords::new();
        let pepper = Argon2Passwords::new().with_pepper(Some(Secret::new("riverton-pepper")));
        let (right, a) = ("decidim-Riverton-2026", "a".repeat(72));
        for (passwords, password, hash, is_right) in [
            (&none, right, PLAIN, true),
            (&none, right, PEPPERED, false),
            (&pepper, right, PEPPERED, true),
            (&pepper, right, PLAIN, false),
            (&none, "decidim-Riverton-2026riverton-pepper", PEPPERED, true),
            (&pepper, "decidim-Riverton-2027", PEPPERED, false),
            (&none, &a, LONG, true),
            (&none, &format!("{a} and more"), LONG, true),
            (&pepper, &a, LONG, true),
            (&none, &a[1..], LONG, false),
            (&none, &format!("{a}\0"), LONG, false),
            (&none, "decidim-Riverton-2026\0", PLAIN, false),
        ] {
            let found = passwords.verify(Secret::new(password), Some(hash.to_owned())).await.unwrap();
            assert_eq!(found, is_right, "{password:?} {hash}");
        }
        let new = pepper.hash(Secret::new(right)).await.unwrap();
        assert!(none.verify(Secret::new(right), Some(new)).await.unwrap(), "Argon2id of the password alone");
        assert!(!format!("{pepper:?}").contains("riverton"));
    }

    #[tokio::test]
    async fn the_cost_of_bcrypt_is_from_four_to_fifteen() {
        let passwords = Argon2Passwords::new();
        for (cost, is_accepted) in [("04", true), ("15", true), ("16", false), ("31", false), ("03", false)] {
            let hash = BCRYPT.replace("$04$", &format!("${cost}$"));
            assert_eq!(passwords.check_hash(&hash).is_ok(), is_accepted, "{cost}");
        }
        let costly = Some(BCRYPT.replace("$04$", "$31$"));
        assert!(!passwords.verify(Secret::new("correct horse"), costly).await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn commands_wait_for_as_long_as_it_takes() {
        let passwords = Arc::new(Argon2Passwords::without_wait_limit());
        let permits = u32::try_from(passwords.permits.available_permits()).unwrap();
        let busy = passwords.permits.clone().acquire_many_owned(permits).await.unwrap();
        let calls: Vec<_> = (0..3 * MAX_WAITING)
            .map(|_| {
                let passwords = passwords.clone();
                tokio::spawn(async move { passwords.with_permit(|| Ok(())).await })
            })
            .collect();
        tokio::time::sleep(1000 * MAX_WAIT).await;
        assert!(calls.iter().all(|call| !call.is_finished()));
        drop(busy);
        for call in calls {
            call.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn a_password_is_the_same_however_its_letters_are_composed() {
        let passwords = Argon2Passwords::new();
        let (composed, decomposed) = ("mot de passe caché", "mot de passe cache\u{301}");
        for (set, typed) in [(composed, decomposed), (decomposed, composed)] {
            let hash = passwords.hash(Secret::new(set)).await.unwrap();
            assert!(passwords.verify(Secret::new(typed), Some(hash.clone())).await.unwrap(), "{typed:?}");
            assert!(!passwords.verify(Secret::new("mot de passe cache"), Some(hash)).await.unwrap());
        }
        let from_elsewhere = hash(&Secret::new(decomposed)).unwrap();
        assert!(passwords.verify(Secret::new(decomposed), Some(from_elsewhere)).await.unwrap());
    }

    #[tokio::test]
    async fn without_a_hash_it_takes_as_long_and_says_no() {
        let passwords = Argon2Passwords::new();
        let hash = passwords.hash(Secret::new("a password")).await.unwrap();
        assert!(
            !passwords.verify(Secret::new(""), None).await.unwrap(),
            "the first one makes the hash of nobody"
        );
        // In turn, and the fastest of many: other work on the machine comes and goes.
        let mut fastest = [Duration::MAX; 2];
        for _ in 0..20 {
            for (hash, fastest) in [Some(hash.clone()), None].into_iter().zip(&mut fastest) {
                let begin = Instant::now();
                assert!(!passwords.verify(Secret::new("another"), hash).await.unwrap());
                *fastest = (*fastest).min(begin.elapsed());
            }
        }
        let [known, unknown] = fastest;
        assert!(unknown > known / 3 && known > unknown / 3, "known {known:?}, unknown {unknown:?}");
    }

    /// A hash of `secret` with this cost.
    fn with_cost(memory_kib: u32, passes: u32, lanes: u32) -> String {
        let cost = Params::new(memory_kib, passes, lanes, None).unwrap();
        Argon2::from(cost).hash_password_with_salt(b"secret", &[7; SALT_BYTES]).unwrap().to_string()
    }

    #[tokio::test]
    async fn a_hash_up_to_the_bounds_of_the_cost_is_checked() {
        let passwords = Argon2Passwords::new();
        for hash in [with_cost(64, 1, 1), with_cost(64, MAX_PASSES, 1), with_cost(1024, 1, MAX_LANES)] {
            passwords.check_hash(&hash).unwrap();
            assert!(passwords.verify(Secret::new("secret"), Some(hash.clone())).await.unwrap(), "{hash}");
            assert!(!passwords.verify(Secret::new("another"), Some(hash.clone())).await.unwrap(), "{hash}");
        }
        for cost in ["m=262144,t=1,p=16", "m=16384,t=16,p=16"] {
            let most = format!("$argon2id$v=19${cost}$BwcHBwcHBwcHBwcHBwcHBw$BwcHBwcHBwcHBwcHBwcHBw");
            passwords.check_hash(&most).unwrap();
        }
    }

    #[tokio::test]
    async fn a_hash_beyond_the_bounds_is_refused_like_a_wrong_password_in_the_same_time() {
        let passwords = Argon2Passwords::new();
        assert!(!passwords.verify(Secret::new(""), None).await.unwrap());
        let unknown = {
            let begin = Instant::now();
            passwords.verify(Secret::new("secret"), None).await.unwrap();
            begin.elapsed()
        };
        for cost in [
            "m=262145,t=1,p=1",
            "m=131073,t=2,p=1",
            "m=4294967295,t=4294967295,p=1",
            "m=64,t=17,p=1",
            "m=19456,t=2,p=17",
        ] {
            let hash = format!("$argon2id$v=19${cost}$BwcHBwcHBwcHBwcHBwcHBw$BwcHBwcHBwcHBwcHBwcHBw");
            let refused = passwords.check_hash(&hash).unwrap_err();
            assert!(refused.description().contains("costs too much"), "{refused}");
            let begin = Instant::now();
            assert!(!passwords.verify(Secret::new("secret"), Some(hash)).await.unwrap(), "{cost}");
            let took = begin.elapsed();
            assert!(took < unknown * 20 && took > unknown / 20, "{cost}: {took:?}, unknown {unknown:?}");
        }
        let many_passes = with_cost(64, MAX_PASSES + 1, 1);
        assert!(
            !passwords.verify(Secret::new("secret"), Some(many_passes)).await.unwrap(),
            "right, but refused"
        );
    }

    #[tokio::test]
    async fn beyond_the_queue_a_call_is_refused_at_once_and_a_long_wait_ends() {
        let passwords = Arc::new(Argon2Passwords::with_limits(1, 1, Duration::from_secs(60)));
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let running = {
            let passwords = passwords.clone();
            tokio::spawn(async move { passwords.with_permit(move || Ok(wait.recv().is_ok())).await })
        };
        let waiting = {
            let passwords = passwords.clone();
            tokio::spawn(async move { passwords.with_permit(|| Ok(())).await })
        };
        while passwords.permits.available_permits() > 0 || passwords.queue.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(passwords.with_permit(|| Ok(())).await, Err(Error::Unavailable(_))));
        go.send(()).unwrap();
        assert!(running.await.unwrap().unwrap());
        waiting.await.unwrap().unwrap();
        passwords.with_permit(|| Ok(())).await.expect("the queue is empty again");

        let passwords = Argon2Passwords::with_limits(1, 1, Duration::from_millis(1));
        let _all = passwords.permits.clone().acquire_owned().await.unwrap();
        assert!(matches!(passwords.with_permit(|| Ok(())).await, Err(Error::Unavailable(_))));
        assert_eq!(passwords.queue.available_permits(), 1, "it left the queue");
    }

    #[tokio::test]
    async fn no_password_matches_a_broken_hash() {
        let passwords = Argon2Passwords::new();
        let argon2i = with_cost(64, 1, 1).replace("argon2id", "argon2i");
        let old = BCRYPT.replace("$2y$", "$2x$");
        for broken in [
            "",
            "secret",
            "$argon2id$",
            "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ",
            "$2b$10$x",
            &argon2i,
            &old,
        ] {
            let refused = passwords.check_hash(broken).unwrap_err();
            assert_eq!(refused.description(), "is not a hash of Argon2id or bcrypt", "{broken}");
            assert!(
                !passwords.verify(Secret::new("secret"), Some(broken.to_owned())).await.unwrap(),
                "{broken}"
            );
        }
    }
}
