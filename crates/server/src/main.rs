//! The binary: passes arguments, environment and console to the command line.

use civitas_server::cli::{Console, run};
use civitas_server::open_files;
use std::io::{BufReader, IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

/// Less processor time than with the allocator of the system (docs/PERFORMANCE.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// This runtime executes background jobs; HTTP has its own (see `wiring`).
#[tokio::main]
async fn main() -> ExitCode {
    open_files::raise_limit();
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    };
    let console = Console {
        environment: std::env::vars_os().filter_map(text).collect(),
        stdin: &mut BufReader::new(stdin()),
        stdout: &mut stdout(),
        stderr: &mut stderr(),
        watched: stderr().is_terminal(),
    };
    ExitCode::from(run(std::env::args_os(), console).await)
}
