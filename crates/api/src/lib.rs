//! The JSON interface v0.3 over HTTP.
