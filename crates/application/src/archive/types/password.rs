//! Passwords of users and system administrators.

use super::{Field, ImportContext, Imported};
use civitas_accounts::Secret;

/// The prefix of the supported hashes.
const ARGON2ID: &str = "$argon2id$";
/// The most memory of a hash, in KiB: 256 MiB.
const MOST_MEMORY: u32 = 256 * 1024;
/// The most passes of a hash.
const MOST_PASSES: u32 = 16;
/// The most lanes of a hash.
const MOST_LANES: u32 = 16;

/// Checks a hash that is stored as it is: comparing a password with it must not take more memory and time than a server
/// can give.
fn check_password_hash(hash: &str) -> Imported {
    let Some(rest) = hash.strip_prefix(ARGON2ID) else {
        return Err(format!("password_hash must begin with {ARGON2ID}").into());
    };
    let parts: Vec<&str> = rest.split('$').collect();
    let ["v=19", cost, salt, digest] = parts.as_slice() else {
        return Err("password_hash is not a hash of Argon2id, version 19".into());
    };
    let number = |text: Option<&str>, name: &str| text?.strip_prefix(name)?.parse::<u32>().ok();
    let mut costs = cost.split(',');
    let (memory, passes, lanes) =
        (number(costs.next(), "m="), number(costs.next(), "t="), number(costs.next(), "p="));
    let is_text = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
    };
    let is_affordable = memory.is_some_and(|memory| (8..=MOST_MEMORY).contains(&memory))
        && passes.is_some_and(|passes| (1..=MOST_PASSES).contains(&passes))
        && lanes.is_some_and(|lanes| (1..=MOST_LANES).contains(&lanes) && memory >= Some(8 * lanes));
    if costs.next().is_some() || !is_text(salt, 11..=64) || !is_text(digest, 16..=86) {
        return Err("password_hash is not a hash of Argon2id, version 19".into());
    }
    if is_affordable {
        return Ok(());
    }
    Err(format!(
        "password_hash must have m=8 to {MOST_MEMORY}, at least 8 for each lane, t=1 to {MOST_PASSES} and p=1 to {MOST_LANES}"
    )
    .into())
}

/// Sets a password hash. `password` is hashed, unless it matches the current hash: a new salt would be a change.
/// `password_hash` is stored as it is. Null clears the hash.
pub(super) async fn set_hash(
    context: &ImportContext<'_>,
    password: &Field<String>,
    hash: &Field<String>,
    target: &mut Option<String>,
) -> Imported {
    match (password, hash) {
        (Field::Value(_), Field::Value(_)) => Err("give either password or password_hash".into()),
        (Field::Value(text), _) if text.trim().is_empty() => Err("password must not be blank".into()),
        (Field::Value(text), _) => {
            let prepared = context.password.as_ref().and_then(|one| one.hash_for(target.as_deref()));
            *target = Some(match prepared {
                Some(hash) => hash.to_owned(),
                None => hash_of(context, text, target.take()).await?,
            });
            Ok(())
        }
        (_, Field::Value(hash)) => {
            check_password_hash(hash)?;
            *target = Some(hash.clone());
            Ok(())
        }
        (Field::Null, _) | (_, Field::Null) => {
            *target = None;
            Ok(())
        }
        (Field::Absent, Field::Absent) => Ok(()),
    }
}

/// The hash to store for a password whose account has changed since the first pass, or is in the archive twice.
async fn hash_of(context: &ImportContext<'_>, text: &str, current: Option<String>) -> Imported<String> {
    let secret = Secret::new(text);
    if let Some(current) = current
        && context.passwords.verify(secret.clone(), Some(current.clone())).await?
    {
        return Ok(current);
    }
    Ok(context.passwords.hash(secret).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_that_is_stored_has_bounded_costs() {
        const REST: &str = "c2FsdHNhbHQ$J2eydkXhVVwZ3hCGZ0Sbci0ZpZJmV4DZnT5v1hYPcGk";
        let check = |cost: &str| check_password_hash(&format!("$argon2id$v=19${cost}${REST}"));
        for cost in ["m=19456,t=2,p=1", "m=262144,t=16,p=16", "m=8,t=1,p=1"] {
            assert!(check(cost).is_ok(), "{cost}");
        }
        let costly = [
            "m=262145,t=2,p=1",
            "m=4294967295,t=2,p=1",
            "m=19456,t=17,p=1",
            "m=19456,t=4294967295,p=1",
            "m=19456,t=2,p=17",
            "m=19456,t=0,p=1",
            "m=7,t=1,p=1",
            "m=15,t=1,p=2",
            "m=99999999999,t=1,p=1",
            "t=2,m=19456,p=1",
            "m=19456,t=2",
            "m=19456,t=2,p=1,keyid=x",
            "",
        ];
        for cost in costly {
            assert!(check(cost).is_err(), "{cost}");
        }
        for hash in [
            "$argon2id$",
            "$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aaaaaaaaaaaaaaaaaaaaaa",
            "$argon2id$v=19$m=19456,t=2,p=1$$",
            "md5",
        ] {
            assert!(check_password_hash(hash).is_err(), "{hash}");
        }
    }
}
