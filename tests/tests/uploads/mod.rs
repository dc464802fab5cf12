//! Uploads that try to do harm, through the server, on both engines and with both stores of files. After each of them
//! every object has a row, and no file is outside of the store; at the end every row has its object too.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod contents;
mod forms;
mod names;
mod parents;
mod place;
mod reaper;
mod samples;
mod serving;
mod staging;
mod wire;
