//! Sets `BUILD_VERSION`: the version, and the commit with its date, or `unknown` outside of the repository.

use std::path::Path;
use std::process::Command;

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    // An outer repository of another project does not have this file.
    let is_ours = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let commit =
        git(&["log", "-1", "--abbrev=10", "--date=short-local", "--format=%h %cd"]).filter(|_| is_ours);
    // `cargo run` and `cargo test` pass it on: with the prefix of settings the program would refuse it.
    println!("cargo::rustc-env=BUILD_VERSION={version} ({})", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rerun-if-changed=build.rs");
    // Each commit and checkout writes a line there. A file that does not exist would run this at each build.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The output of a git command; `None` if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").args(arguments).env("TZ", "UTC").output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| text.trim().to_owned())
}
