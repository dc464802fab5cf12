//! The binary's parts.
