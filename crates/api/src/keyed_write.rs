//! A write with an `Idempotency-Key` (contract 01 §11c).

use crate::backend::Backend;
use crate::error::ApiError;
use actix_web::HttpRequest;
use civitas_accounts::Digest;
use civitas_application::IdempotencyKey;
use civitas_kernel::Ctx;
use std::sync::{Arc, OnceLock};

/// The header with the key.
const KEY: &str = "idempotency-key";

/// A write with a key. While it exists, this process executes no other one with the same key.
pub(crate) struct KeyedWrite {
    pub(crate) key: IdempotencyKey,
    /// The digest of the request; empty until its body was read.
    pub(crate) request: OnceLock<Digest>,
    pub(crate) backend: Arc<Backend>,
}

impl KeyedWrite {
    /// The write of a request with a key; `None` without the header.
    ///
    /// # Errors
    /// `Rejected` for a malformed key or more than one; `KeyInUse` when a write with it is being executed.
    pub(crate) fn read(
        backend: &Arc<Backend>,
        ctx: &Ctx,
        http: &HttpRequest,
    ) -> Result<Option<Arc<Self>>, ApiError> {
        let mut sent = http.headers().get_all(KEY);
        let Some(first) = sent.next() else { return Ok(None) };
        // Two headers are no key, nor is one that is not ASCII.
        let text = if sent.next().is_some() { "" } else { first.to_str().unwrap_or_default() };
        let key = IdempotencyKey::read(ctx, text)?;
        if !backend.running_keys().insert(key.digest.as_str().to_owned()) {
            return Err(ApiError::KeyInUse);
        }
        Ok(Some(Arc::new(Self { key, request: OnceLock::new(), backend: backend.clone() })))
    }
}

impl Drop for KeyedWrite {
    fn drop(&mut self) {
        self.backend.running_keys().remove(self.key.digest.as_str());
    }
}
