//! Random bytes.

use civitas_kernel::{Error, Result};
use ring::rand::{SecureRandom, SystemRandom};

/// # Errors
/// `Internal` when the system gives no random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Error::internal("the system gives no random bytes"))?;
    Ok(bytes)
}
