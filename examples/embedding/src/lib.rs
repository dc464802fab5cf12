#![doc = include_str!("../../../docs/EMBEDDING.md")]

mod association;
mod suggestions;

pub use association::Association;
pub use suggestions::{Suggestion, SuggestionBox, explain, publish};
