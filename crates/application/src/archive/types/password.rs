//! Passwords of people and system administrators.

use super::super::failure::Fault;
use super::super::import::Import;
use civitas_accounts::Secret;
use civitas_kernel::Field;

/// How a hash begins that signing in can verify.
const ARGON2ID: &str = "$argon2id$";

impl Import<'_> {
    /// Puts what a record says of a password in its place: `password` is hashed, unless it is the one that is kept
    /// already (then a new salt would be a change), `password_hash` is kept as it is, null means none.
    pub(super) async fn password(
        &self,
        password: Field<String>,
        hash: Field<String>,
        place: &mut Option<String>,
    ) -> Result<(), Fault> {
        match (password, hash) {
            (Field::Value(_), Field::Value(_)) => Err("give either password or password_hash".into()),
            (Field::Value(text), _) if text.trim().is_empty() => Err("password must not be blank".into()),
            (Field::Value(text), _) => {
                let secret = Secret::new(text);
                let same = place.is_some() && self.passwords.verify(secret.clone(), place.clone()).await?;
                if !same {
                    *place = Some(self.passwords.hash(secret).await?);
                }
                Ok(())
            }
            (_, Field::Value(hash)) if !hash.starts_with(ARGON2ID) => {
                Err(format!("password_hash must begin with {ARGON2ID}").into())
            }
            (_, Field::Value(hash)) => {
                *place = Some(hash);
                Ok(())
            }
            (Field::Null, _) | (_, Field::Null) => {
                *place = None;
                Ok(())
            }
            (Field::Absent, Field::Absent) => Ok(()),
        }
    }
}
