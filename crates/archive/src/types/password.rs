//! Passwords of users and system administrators.

use super::{ImportContext, ImportResult, PatchField};
use civitas_accounts::Secret;

/// Sets a password hash. `password` is hashed, unless it matches the current hash: a new salt would be a change.
/// `password_hash` is stored as it is. Null clears the hash.
pub(super) async fn set_hash(
    context: &ImportContext<'_>,
    password: &PatchField<String>,
    hash: &PatchField<String>,
    target: &mut Option<String>,
) -> ImportResult {
    match (password, hash) {
        (PatchField::Value(_), PatchField::Value(_)) => Err("give either password or password_hash".into()),
        (PatchField::Value(text), _) if text.trim().is_empty() => Err("password must not be blank".into()),
        (PatchField::Value(text), _) => {
            let prepared = context.password.as_ref().and_then(|one| one.hash_for(target.as_deref()));
            *target = Some(match prepared {
                Some(hash) => hash.to_owned(),
                None => hash_of(context, text, target.take()).await?,
            });
            Ok(())
        }
        (_, PatchField::Value(hash)) => {
            let checked = context.passwords.check_hash(hash);
            checked.map_err(|error| format!("password_hash {}", error.description()))?;
            *target = Some(hash.clone());
            Ok(())
        }
        (PatchField::Null, _) | (_, PatchField::Null) => {
            *target = None;
            Ok(())
        }
        (PatchField::Absent, PatchField::Absent) => Ok(()),
    }
}

/// The hash to store for a password whose account has changed since the first pass, or is in the archive twice.
async fn hash_of(context: &ImportContext<'_>, text: &str, current: Option<String>) -> ImportResult<String> {
    let secret = Secret::new(text);
    if let Some(current) = current
        && context.passwords.verify(secret.clone(), Some(current.clone())).await?
    {
        return Ok(current);
    }
    Ok(context.passwords.hash(secret).await?)
}
