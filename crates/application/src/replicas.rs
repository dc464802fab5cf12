//! Reads at replicas of the database: positions of its log, and whose writes they belong to.

use civitas_jobs::{JobAnswer, JobOwner};
use civitas_kernel::{ClientId, Ctx, OrganizationId, UserId};
use std::fmt;
use std::str::FromStr;

/// A position of the log of the database. A server that has it has all that was committed before. Its text has two hexadecimal
/// numbers, as that of PostgreSQL: `16/B374D848`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition(pub u64);

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 & u64::from(u32::MAX))
    }
}

/// The text is no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidPosition;

impl FromStr for LogPosition {
    type Err = InvalidPosition;

    fn from_str(text: &str) -> Result<Self, InvalidPosition> {
        let half = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
            u32::from_str_radix(text, 16).ok().filter(|_| digits).map(u64::from)
        };
        let halves = text.split_once('/').and_then(|(high, low)| Some((half(high)?, half(low)?)));
        halves.map(|(high, low)| Self(high << 32 | low)).ok_or(InvalidPosition)
    }
}

/// The client and user of a write: they read what they wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PositionHolder {
    organization: OrganizationId,
    client: ClientId,
    user: Option<UserId>,
}

impl PositionHolder {
    /// The caller of a request.
    pub fn of_caller(ctx: &Ctx) -> Self {
        Self { organization: ctx.organization, client: ctx.caller.client, user: ctx.participant() }
    }

    /// The owner of a job of an organization; `None` before it has ended.
    pub fn of_ended_job(organization: OrganizationId, job: &JobAnswer) -> Option<Self> {
        let JobOwner { client, user } = job.owner;
        job.summary.status.has_ended().then_some(Self { organization, client, user })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        for text in ["0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"] {
            assert_eq!(text.parse::<LogPosition>().map(|position| position.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "/", "1", "1/", "1/2/3", "+1/2", "1/-2", " 1/2", "1/G", "100000000/0", "1/é"] {
            assert_eq!(text.parse::<LogPosition>(), Err(InvalidPosition), "{text}");
        }
    }
}
