//! A server in a separate process: started, measured, stopped.

use crate::Outcome;
use crate::machine::{field, kibibytes};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take to answer, or to stop.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How often it is asked whether it answers.
const POLL: Duration = Duration::from_millis(1);

/// A free address of this machine.
pub fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// A server. Dropped, it is killed.
pub struct Process {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    started: Instant,
}

impl Process {
    /// Starts it.
    pub fn start(command: &mut Command, address: SocketAddr) -> Outcome<Self> {
        let started = Instant::now();
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        Ok(Self { address, child, started })
    }

    /// Waits for the first 200 of this path. How long after the start it came.
    pub fn until_answers(&mut self, path: &str) -> Outcome<Duration> {
        while self.started.elapsed() < TIMEOUT {
            if self.answers(path) {
                return Ok(self.started.elapsed());
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the server ended: {status}").into());
            }
            sleep(POLL);
        }
        Err(format!("no 200 of {path} within {} s", TIMEOUT.as_secs()).into())
    }

    fn answers(&self, path: &str) -> bool {
        let mut answer = [0; 12];
        let Ok(mut stream) = TcpStream::connect_timeout(&self.address, TIMEOUT) else { return false };
        stream.set_read_timeout(Some(TIMEOUT)).is_ok()
            && write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").is_ok()
            && stream.read_exact(&mut answer).is_ok()
            && answer.ends_with(b" 200")
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it holds in memory now, in KiB.
    pub fn resident(&self) -> Outcome<u64> {
        self.status("VmRSS")
    }

    /// What it holds in memory now apart from mapped files, in KiB.
    pub fn anonymous(&self) -> Outcome<u64> {
        self.status("RssAnon")
    }

    /// The number of its threads.
    pub fn threads(&self) -> Outcome<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        Ok(field(&text, "Threads").ok_or("the kernel tells no Threads")?.parse()?)
    }

    /// The number of its open file descriptors.
    pub fn open_files(&self) -> Outcome<u64> {
        Ok(u64::try_from(fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())?)
    }

    /// The most it held since [`Self::forget_peak`], in KiB.
    pub fn peak(&self) -> Outcome<u64> {
        self.status("VmHWM")
    }

    /// Begins to look for the peak again.
    pub fn forget_peak(&self) -> Outcome {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")?)
    }

    fn status(&self, name: &str) -> Outcome<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let value = field(&text, name).and_then(|value| kibibytes(&value));
        value.ok_or_else(|| format!("the kernel tells no {name}").into())
    }

    /// Stops it in order.
    pub fn stop(mut self) -> Outcome {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            if asked.elapsed() > TIMEOUT {
                return Err("the server did not stop".into());
            }
            sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
