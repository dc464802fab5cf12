//! The generator: `wrk`, with a script of requests.

use crate::Outcome;
use crate::measure::Figures;
use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const DONE: &str = include_str!("scripts/done.lua");
/// Threads of the generator.
pub const THREADS: u64 = 2;
/// Connections, and so requests under way.
pub const CONNECTIONS: u64 = 32;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub enum Script {
    /// Addresses at random.
    Read,
    /// Votes of distinct pairs.
    Vote,
    /// Tokens.
    Token,
}

impl Script {
    fn text(self) -> &'static str {
        match self {
            Self::Read => include_str!("scripts/read.lua"),
            Self::Vote => include_str!("scripts/vote.lua"),
            Self::Token => include_str!("scripts/token.lua"),
        }
    }
}

/// The generator, with a directory for its scripts.
pub struct Wrk(PathBuf);

impl Wrk {
    /// Looks whether there is one.
    pub fn find(directory: &Path) -> Outcome<Self> {
        match Command::new("wrk").arg("--version").stdout(Stdio::null()).status() {
            Ok(_) => Ok(Self(directory.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err("wrk is missing: install it (Debian: apt install wrk)".into())
            }
            Err(error) => Err(format!("wrk: {error}").into()),
        }
    }

    /// Sends requests for this number of seconds. A status above 399, or no answer, makes the figures invalid.
    pub fn drive(&self, script: Script, to: SocketAddr, args: &[String], seconds: u64) -> Outcome<Figures> {
        let file = self.0.join(format!("{script:?}.lua"));
        fs::write(&file, format!("{}{DONE}", script.text()))?;
        let output = Command::new("wrk")
            .args(["-t", &THREADS.to_string(), "-c", &CONNECTIONS.to_string(), "-d", &seconds.to_string()])
            .args(["--timeout", "10"])
            .arg("-s")
            .arg(file)
            .arg(format!("http://{to}/"))
            .arg("--")
            .args(args)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        read(&text).map_err(|fault| format!("{script:?}: {fault}").into())
    }
}

/// Reads the line the script printed.
fn read(text: &str) -> Result<Figures, String> {
    let line = text.lines().find_map(|line| line.strip_prefix("RESULT "));
    let line = line.ok_or_else(|| format!("wrk said nothing of use: {text}"))?;
    let numbers: Vec<u64> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [requests, microseconds, p50, p99, failed, bytes] = numbers[..] else {
        return Err(format!("wrk said {line:?}"));
    };
    if failed > 0 || requests == 0 {
        return Err(format!("{failed} of {requests} requests failed"));
    }
    let elapsed = Duration::from_micros(microseconds);
    Ok(Figures {
        per_second: precise(requests) / elapsed.as_secs_f64(),
        p50: Duration::from_micros(p50),
        p99: Duration::from_micros(p99),
        bytes: bytes / requests,
        peak: 0,
    })
}

/// Exact below 2^32, and no run is longer.
pub fn precise(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_script_is_read() {
        let figures = read("Running 1s test\nRESULT 3000 2000000 150 900 0 300000\n").unwrap();
        assert!((figures.per_second - 1500.0).abs() < 1e-9);
        assert_eq!((figures.p50.as_micros(), figures.p99.as_micros(), figures.bytes), (150, 900, 100));
    }

    #[test]
    fn failed_requests_make_the_figures_void() {
        let fault = read("RESULT 3000 2000000 150 900 7 300000").map(|_| ()).unwrap_err();
        assert_eq!(fault, "7 of 3000 requests failed");
        assert!(read("RESULT 0 2000000 0 0 0 0").is_err());
        assert!(read("unable to connect").is_err());
    }
}
