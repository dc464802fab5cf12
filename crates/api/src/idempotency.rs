//! Writes with an `Idempotency-Key` (contract 01 §11c): the first request is carried out, and its answer is kept in the
//! transaction of the write. Equal requests get the kept answer.

use crate::error::ApiError;
use crate::keyed_write::KeyedWrite;
use crate::reply::Reply;
use crate::request::Request;
use civitas_accounts::Secret;
use civitas_application::{CommandOutput, KeptAnswer, Ports, Share, Transaction};
use civitas_kernel::{AnswerLanguages, Command, Error, Result};
use serde_json::Value;
use time::OffsetDateTime;

/// The header of an answer that was kept.
const REPLAYED: &str = "Idempotent-Replayed";

impl KeyedWrite {
    /// Whether the answer to an error is kept: it is one of the use-case, and the next try would be refused as well.
    fn keeps(error: &ApiError) -> bool {
        let decided = |status: u16| (400..500).contains(&status) && !matches!(status, 401 | 403 | 429);
        matches!(error, ApiError::Error(_)) && decided(error.status().as_u16())
    }

    /// Keeps the answer to a refused write. If another process has answered a write with this key meanwhile, returns that
    /// answer.
    pub(crate) async fn refused(&self, error: ApiError, now: OffsetDateTime) -> Result<Reply, ApiError> {
        // The body could not be read.
        if self.request.get().is_none() {
            return Err(error);
        }
        match self.kept().await {
            Ok(Some(kept)) => return Ok(kept),
            Ok(None) => {}
            // The write was refused anyway.
            Err(ApiError::KeyReused) => return Err(ApiError::KeyReused),
            Err(_) => return Err(error),
        }
        if Self::keeps(&error) {
            let reply = Reply::json_text(error.status(), error.body());
            if let Err(cause) = self.keep(&**self.backend.store(), &reply, now).await {
                tracing::warn!(%cause, "the answer to a refused write could not be kept");
            }
        }
        Err(error)
    }

    /// The kept answer of this key.
    ///
    /// # Errors
    /// `KeyReused` when it is the answer to another request.
    async fn kept(&self) -> Result<Option<Reply>, ApiError> {
        let store = self.backend.store().idempotency_keys();
        let Some(kept) = store.find_answer(&self.key).await? else { return Ok(None) };
        if Some(&kept.request) != self.request.get() {
            return Err(ApiError::KeyReused);
        }
        let answer = self.backend.answer_cipher.open(&kept.sealed)?;
        let (headers, body) = serde_json::from_str(&answer).map_err(Error::internal)?;
        let reply = Reply::kept(kept.status, headers, body)?;
        Ok(Some(reply.with(REPLAYED, "true")))
    }

    async fn keep(&self, ports: &dyn Ports, reply: &Reply, now: OffsetDateTime) -> Result<()> {
        let request = self.request.get().ok_or_else(|| Error::internal("the request has no digest"))?;
        let answer = serde_json::to_string(&(reply.headers(), reply.text()?)).map_err(Error::internal)?;
        let answer = KeptAnswer {
            request: request.clone(),
            status: reply.status().as_u16(),
            sealed: self.backend.answer_cipher.seal(&answer)?,
        };
        ports.idempotency_keys().keep_answer(&self.key, &answer, now).await?;
        let (holder, bytes) = ((self.key.organization, Some(self.key.client)), answer.sealed.len() as u64);
        self.backend.shares.add_stored(Share::KeptAnswers, holder, bytes);
        Ok(())
    }
}

impl Request {
    /// Executes a command synchronously: in one transaction its changes, and its answer, if the request has an idempotency key.
    pub(crate) async fn execute<C: Command<Output: CommandOutput>>(
        &self,
        languages: &AnswerLanguages,
        command: C,
        reply: impl Fn(&Value) -> Result<Reply>,
    ) -> Result<Reply, ApiError> {
        let finish = async |tx: &dyn Transaction, document: Value| {
            let reply = reply(&document)?;
            self.keep(tx, &reply).await?;
            Ok(reply)
        };
        let commands = &self.backend.commands;
        Ok(commands.execute(self.ctx()?, &self.tenant, languages, command, finish).await?)
    }

    /// The kept answer to this request; `None` without a key, and for the first request with it. `body` is the content of
    /// the body in any fixed form.
    ///
    /// # Errors
    /// `KeyReused` when the key was used for another request; `TooManyRequests` for the first request with a key when the
    /// share of kept answers is used up.
    pub(crate) async fn kept_answer(&self, body: &str) -> Result<Option<Reply>, ApiError> {
        let Some(keyed) = &self.keyed else { return Ok(None) };
        let Self { method, path, query, .. } = self;
        let text = format!("{method} {path} {} {body}", query.canonical());
        keyed.request.get_or_init(|| Secret::new(text).digest());
        let kept = keyed.kept().await?;
        if kept.is_none() {
            self.check_stored(Share::KeptAnswers, 1).await?;
        }
        Ok(kept)
    }

    /// Checks that the client and its organization may store so many more bytes.
    ///
    /// # Errors
    /// `TooManyRequests`.
    pub(crate) async fn check_stored(&self, share: Share, more: u64) -> Result<()> {
        let ctx = self.ctx()?;
        let holder = (ctx.organization, Some(ctx.caller.client));
        self.backend.shares.check_stored(self.store.shares(), share, holder, more).await
    }

    /// Keeps the answer, if the request has a key. Call it in the transaction of the write.
    ///
    /// # Errors
    /// `Conflict` when another process has answered a request with this key.
    pub(crate) async fn keep(&self, ports: &dyn Ports, reply: &Reply) -> Result<()> {
        match &self.keyed {
            Some(keyed) => keyed.keep(ports, reply, self.now).await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::route::Gate;
    use std::collections::BTreeSet;

    #[test]
    fn only_these_writes_keep_their_answers_without_a_command() {
        let routes = crate::api::routes();
        let own = routes.iter().filter(|route| {
            route.writes() && route.command.is_none() && matches!(route.gate, Gate::Needs(_))
        });
        let own: BTreeSet<_> = own.map(|route| (route.method.as_str(), route.path.as_str())).collect();
        // Each calls `Request::keep` in its transaction.
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
