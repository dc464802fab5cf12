//! Processor time of processes, in user and in system mode, from `/proc/PID/stat`.

use std::fs;
use std::time::Duration;
use tokio_postgres::NoTls;

/// Linux counts these times in hundredths of a second, on all architectures.
const TICK: Duration = Duration::from_millis(10);

/// What the kernel tells of a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    command: String,
    parent: u32,
    /// Its own time, in ticks.
    own: u64,
    /// The time of its children that have ended, in ticks.
    children: u64,
}

impl Stat {
    fn of(process: u32) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// The name of the command is in parentheses, and may have some itself.
    fn read(text: &str) -> Option<Self> {
        let (start, rest) = text.rsplit_once(')')?;
        let (_, command) = start.split_once('(')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            command: command.to_owned(),
            parent: fields.get(1)?.parse().ok()?,
            own: number(11)? + number(12)?,
            children: number(13)? + number(14)?,
        })
    }
}

fn time(ticks: u64) -> Duration {
    TICK * u32::try_from(ticks).unwrap_or(u32::MAX)
}

/// The time of a process so far; `None` if there is no such process.
pub fn of_process(process: u32) -> Option<Duration> {
    Some(time(Stat::of(process)?.own))
}

/// All processes of a PostgreSQL server on this machine.
#[derive(Debug, Clone, Copy)]
pub struct Cluster {
    postmaster: u32,
}

impl Cluster {
    /// Finds it by the process of a connection. `None` if the server is not on this machine, or in a container.
    pub async fn find(url: &str) -> Option<Self> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.ok()?;
        // The task ends with the client, whose calls return its errors.
        tokio::spawn(connection);
        let row = client.query_one("SELECT pg_backend_pid(), inet_client_addr() = inet_server_addr()", &[]);
        let row = row.await.ok()?;
        // No addresses: a socket of this machine.
        let is_local: Option<bool> = row.get(1);
        let backend = u32::try_from(row.get::<_, i32>(0)).ok()?;
        let backend =
            Stat::of(backend).filter(|stat| stat.command == "postgres" && is_local != Some(false))?;
        Some(Self { postmaster: backend.parent })
    }

    /// The time of the postmaster, its processes, and those that have ended.
    pub fn time(self) -> Option<Duration> {
        let postmaster = Stat::of(self.postmaster)?;
        let processes = fs::read_dir("/proc").ok()?;
        let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let running = ids.filter_map(Stat::of).filter(|stat| stat.parent == self.postmaster);
        Some(time(postmaster.own + postmaster.children + running.map(|stat| stat.own).sum::<u64>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name_of_a_command() {
        let text = "4242 (a (b) c) S 17 4242 4242 0 -1 4194304 99 0 0 0 250 50 7 3 20 0 1 0 1234 5 6";
        let stat = Stat::read(text).unwrap();
        assert_eq!(stat, Stat { command: "a (b) c".to_owned(), parent: 17, own: 300, children: 10 });
        assert_eq!(time(stat.own), Duration::from_secs(3));
        assert_eq!(Stat::read("4242 (short) S 17"), None);
    }

    #[test]
    fn the_time_of_this_process_is_known_and_that_of_none_is_not() {
        assert!(of_process(std::process::id()).is_some());
        assert!(of_process(u32::MAX).is_none());
    }
}
