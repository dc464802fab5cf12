//! Signs access tokens and hashes passwords.
