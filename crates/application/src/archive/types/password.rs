//! Passwords of users and system administrators.

use super::{Field, ImportContext, Imported};
use civitas_accounts::Secret;

/// The prefix of the supported hashes.
const ARGON2ID: &str = "$argon2id$";

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
            let secret = Secret::new(text.clone());
            let same = target.is_some() && context.passwords.verify(secret.clone(), target.clone()).await?;
            if !same {
                *target = Some(context.passwords.hash(secret).await?);
            }
            Ok(())
        }
        (_, Field::Value(hash)) if !hash.starts_with(ARGON2ID) => {
            Err(format!("password_hash must begin with {ARGON2ID}").into())
        }
        (_, Field::Value(hash)) => {
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
