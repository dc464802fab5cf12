//! The generator of the load: `wrk`, with a script that makes the requests of a plan.

use crate::Outcome;
use crate::measure::{Cpu, Figures};
use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const REQUESTS: &str = include_str!("scripts/requests.lua");
const DONE: &str = include_str!("scripts/done.lua");
/// No request may take longer.
const TIMEOUT_SECONDS: u64 = 30;
/// Threads of the generator.
pub const THREADS: u64 = 2;
/// Connections, and so requests under way.
pub const CONNECTIONS: u64 = 32;

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

    /// Sends the requests of a plan ([`crate::plan::Plan::script`]) for this number of seconds, each thread to one of the
    /// servers. A status above 399, or no answer, makes the figures invalid.
    pub fn drive(&self, plan: &str, to: &[SocketAddr], seconds: u64) -> Outcome<Figures> {
        let file = self.0.join("requests.lua");
        let ports: Vec<_> = to.iter().map(|server| format!("\"{}\"", server.port())).collect();
        fs::write(&file, format!("ports = {{ {} }}\n{plan}{REQUESTS}{DONE}", ports.join(", ")))?;
        let to = to.first().ok_or("no server")?;
        let output = Command::new("wrk")
            .args(["-t", &THREADS.to_string(), "-c", &CONNECTIONS.to_string(), "-d", &seconds.to_string()])
            .args(["--timeout", &TIMEOUT_SECONDS.to_string()])
            .arg("-s")
            .arg(file)
            .arg(format!("http://{to}/"))
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        read(&text).map_err(|fault| format!("{fault} {}", String::from_utf8_lossy(&output.stderr)).into())
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
    if failed == 0 && requests == 0 {
        return Err("no request was answered in time".to_owned());
    }
    if failed > 0 {
        return Err(format!("{failed} of {requests} requests failed"));
    }
    let elapsed = Duration::from_micros(microseconds);
    Ok(Figures {
        requests,
        per_second: precise(requests) / elapsed.as_secs_f64(),
        p50: Duration::from_micros(p50),
        p99: Duration::from_micros(p99),
        bytes: bytes / requests,
        memory: 0,
        cpu: Cpu::default(),
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
