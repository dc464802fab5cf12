//! Writes with an `Idempotency-Key` (contract 01 §11c): the first request is executed, and its reply is stored in the
//! transaction of the write. Equal requests get the stored reply.

use crate::error::ApiError;
use crate::keyed_write::KeyedWrite;
use crate::reply::Reply;
use crate::request::Request;
use civitas_accounts::Secret;
use civitas_application::{CommandOutput, IdempotentAnswer, Ports, SharedResource, Transaction};
use civitas_kernel::{AnswerLanguages, Command, Error, Result};
use serde_json::Value;
use time::OffsetDateTime;

/// The header of a stored reply.
const REPLAYED: &str = "Idempotent-Replayed";

impl KeyedWrite {
    /// Whether the reply to an error is stored: the use case returned the error, and would return it again.
    fn is_stored(error: &ApiError) -> bool {
        let decided = |status: u16| (400..500).contains(&status) && !matches!(status, 401 | 403 | 429);
        matches!(error, ApiError::Error(_)) && decided(error.status().as_u16())
    }

    /// Stores the reply to a refused write. Returns the reply of another process that has stored one for this key
    /// meanwhile.
    pub(crate) async fn store_refusal(
        &self,
        error: ApiError,
        now: OffsetDateTime,
    ) -> Result<Reply, ApiError> {
        // The body could not be read.
        if self.request.get().is_none() {
            return Err(error);
        }
        match self.stored_reply().await {
            Ok(Some(stored)) => return Ok(stored),
            Ok(None) => {}
            // The write was refused anyway.
            Err(ApiError::KeyReused) => return Err(ApiError::KeyReused),
            Err(_) => return Err(error),
        }
        if Self::is_stored(&error) {
            let reply = Reply::json_text(error.status(), error.body());
            if let Err(cause) = self.store_reply(&**self.backend.store(), &reply, now).await {
                tracing::warn!(%cause, "the answer to a refused write could not be kept");
            }
        }
        Err(error)
    }

    /// The stored reply of this key.
    ///
    /// # Errors
    /// `KeyReused` when the reply is that to another request.
    async fn stored_reply(&self) -> Result<Option<Reply>, ApiError> {
        let store = self.backend.store().idempotency_keys();
        let Some(stored) = store.find_answer(&self.key).await? else { return Ok(None) };
        if Some(&stored.request) != self.request.get() {
            return Err(ApiError::KeyReused);
        }
        let answer = self.backend.services.answer_cipher.open(&stored.sealed)?;
        let (headers, body) = serde_json::from_str(&answer).map_err(Error::internal)?;
        Ok(Some(Reply::from_stored(stored.status, headers, body)?.with_header(REPLAYED, "true")))
    }

    async fn store_reply(&self, ports: &dyn Ports, reply: &Reply, now: OffsetDateTime) -> Result<()> {
        let request = self.request.get().ok_or_else(|| Error::internal("the request has no digest"))?;
        let answer = serde_json::to_string(&(reply.headers(), reply.text()?)).map_err(Error::internal)?;
        let answer = IdempotentAnswer {
            request: request.clone(),
            status: reply.status().as_u16(),
            sealed: self.backend.services.answer_cipher.seal(&answer)?,
        };
        ports.idempotency_keys().save_answer(&self.key, &answer, now).await?;
        let (holder, bytes) = ((self.key.organization, Some(self.key.client)), answer.sealed.len() as u64);
        self.backend.services.shares.add_stored(SharedResource::IdempotentAnswers, holder, bytes);
        Ok(())
    }
}

impl Request {
    /// Executes a command synchronously, and stores the reply in its transaction if the request has an idempotency key.
    pub(crate) async fn execute<C: Command<Output: CommandOutput>>(
        &self,
        languages: &AnswerLanguages,
        command: C,
        reply: impl Fn(&Value) -> Result<Reply>,
    ) -> Result<Reply, ApiError> {
        let finish = async |tx: &dyn Transaction, document: Value| {
            let reply = reply(&document)?;
            self.store_reply(tx, &reply).await?;
            Ok(reply)
        };
        let commands = &self.backend.commands;
        Ok(commands.execute(self.ctx()?, &self.tenant, languages, command, finish).await?)
    }

    /// The stored reply to this request; `None` without a key, and for the first request with the key. `body` is the
    /// content of the body in any fixed form.
    ///
    /// # Errors
    /// `KeyReused` when the key was used for another request; `TooManyRequests` for the first request with a key when the
    /// share of stored replies is used up.
    pub(crate) async fn stored_reply(&self, body: &str) -> Result<Option<Reply>, ApiError> {
        let Some(keyed) = &self.keyed else { return Ok(None) };
        let Self { method, path, query, .. } = self;
        let text = format!("{method} {path} {} {body}", query.canonical());
        keyed.request.get_or_init(|| Secret::new(text).digest());
        let stored = keyed.stored_reply().await?;
        if stored.is_none() {
            self.check_stored(SharedResource::IdempotentAnswers, 1).await?;
        }
        Ok(stored)
    }

    /// Checks that the client and its organization may store so many more bytes.
    ///
    /// # Errors
    /// `TooManyRequests`.
    pub(crate) async fn check_stored(&self, share: SharedResource, more: u64) -> Result<()> {
        let ctx = self.ctx()?;
        let holder = (ctx.organization, Some(ctx.caller.client));
        self.backend.services.shares.check_stored(self.store.shares(), share, holder, more).await
    }

    /// Stores the reply, if the request has a key. Call it in the transaction of the write.
    ///
    /// # Errors
    /// `Conflict` when another process has answered a request with this key.
    pub(crate) async fn store_reply(&self, ports: &dyn Ports, reply: &Reply) -> Result<()> {
        match &self.keyed {
            Some(keyed) => keyed.store_reply(ports, reply, self.now).await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::route::RequiredAccess;
    use std::collections::BTreeSet;

    #[test]
    fn only_these_writes_keep_their_answers_without_a_command() {
        let routes = crate::api::routes();
        let own = routes.iter().filter(|route| {
            route.writes()
                && route.command.is_none()
                && matches!(route.required_access, RequiredAccess::Needs(_))
        });
        let own: BTreeSet<_> = own.map(|route| (route.method.as_str(), route.path.as_str())).collect();
        // Each calls `Request::store_reply` in its transaction.
        let expected = [
            ("DELETE", "/jobs/{id}"),
            ("DELETE", "/webhook_registrations/{id}"),
            ("PATCH", "/webhook_registrations/{id}"),
            ("POST", "/webhook_registrations"),
            ("PUT", "/webhook_registrations/{id}"),
        ];
        assert_eq!(own, BTreeSet::from(expected));
    }
}
