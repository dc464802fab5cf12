//! Verifies the chains of the audit trail.

use civitas_audit::{AuditEntry, AuditLog, ChainError, ChainHead};
use civitas_kernel::{OrganizationId, Result};

/// The entries of a chain that are read at once.
const CHUNK: i64 = 1_000;
/// The chains that are listed at once.
const CHAINS: i64 = 100;
/// The most attempts at a chain whose beginning is removed meanwhile.
const TRIES: usize = 3;

/// The first entry that breaks a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainFault {
    /// Its number. That of a missing entry is the number it should have.
    pub number: i64,
    /// Why.
    pub error: ChainError,
}

/// The result of the verification of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerification {
    /// The organization; `None`: the deployment.
    pub organization: Option<OrganizationId>,
    /// The head of the chain; `None` when it has never had an entry, or the head is missing.
    pub head: Option<ChainHead>,
    /// The number of entries that were verified.
    pub verified: u64,
    /// How many of them have no details any more: they were erased with the account of a person.
    pub erased: u64,
    /// The first entry that breaks the chain.
    pub fault: Option<ChainFault>,
}

/// Verifies the audit trail.
#[derive(Clone, Copy)]
pub struct AuditTrail<'a> {
    /// The entries.
    pub log: &'a dyn AuditLog,
}

impl AuditTrail<'_> {
    /// Verifies the chain of an organization, or that of the deployment (`None`), up to its last entry at the start.
    /// Reads all entries, in chunks.
    ///
    /// It detects changed, removed and moved entries. It cannot detect that somebody erased the details of an entry, and
    /// counts such entries: they are about persons whose accounts were deleted. Anyone who can write the database can compute all hashes again;
    /// to detect this, compare number and hash of the head with those of an earlier verification.
    pub async fn verify(&self, organization: Option<OrganizationId>) -> Result<ChainVerification> {
        let mut tries = 1;
        loop {
            let verification = self.walk(organization).await?;
            if verification.fault.is_none() || tries == TRIES {
                return Ok(verification);
            }
            // Old entries may have been removed between the reads of the head and of the entries.
            if self.log.head(organization).await? == verification.head {
                return Ok(verification);
            }
            tries += 1;
        }
    }

    /// Verifies all chains, and passes each result to `report`. The deployment is first.
    pub async fn verify_all(&self, mut report: impl FnMut(ChainVerification)) -> Result<()> {
        report(self.verify(None).await?);
        let mut after = OrganizationId(0);
        loop {
            let organizations = self.log.organizations_after(after, CHAINS).await?;
            let Some(last) = organizations.last() else { return Ok(()) };
            after = *last;
            for organization in organizations {
                report(self.verify(Some(organization)).await?);
            }
        }
    }

    async fn walk(&self, organization: Option<OrganizationId>) -> Result<ChainVerification> {
        let head = self.log.head(organization).await?;
        let mut verification =
            ChainVerification { organization, head: head.clone(), verified: 0, erased: 0, fault: None };
        // Without a head there are no entries.
        let head = head.unwrap_or_default();
        let (mut number, mut hash) = (head.removed_number, head.removed_hash.clone());
        while number < head.number {
            let limit = CHUNK.min(head.number - number);
            let page = self.log.page_after(organization, number, limit).await?;
            if page.is_empty() {
                verification.fault = Some(ChainFault { number: number + 1, error: ChainError::Missing });
                return Ok(verification);
            }
            for read in page {
                verification.erased += u64::from(read.entry.as_ref().is_some_and(AuditEntry::is_erased));
                let followed = match &read.entry {
                    _ if read.number != number + 1 => Err(ChainError::Missing),
                    None => Err(ChainError::Unreadable),
                    Some(entry) => entry.check_chain_link(number, &hash).map(|()| entry.hash.clone()),
                };
                match followed {
                    Ok(next) => (number, hash) = (read.number, next),
                    Err(error) => {
                        verification.fault = Some(ChainFault { number: number + 1, error });
                        return Ok(verification);
                    }
                }
                verification.verified += 1;
            }
        }
        if number != head.number || hash != head.hash {
            verification.fault = Some(ChainFault { number, error: ChainError::HeadDiffers });
        } else if let Some(next) = self.log.page_after(organization, number, 1).await?.first()
            && self.log.head(organization).await? == verification.head
        {
            verification.fault = Some(ChainFault { number: next.number, error: ChainError::HeadDiffers });
        }
        Ok(verification)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_audit::{Action, Actor, MockAuditLog, NewAuditEntry, StoredAuditEntry};
    use time::macros::datetime;

    /// A chain of this many entries, and its head.
    fn chain(length: i64) -> (Vec<StoredAuditEntry>, ChainHead) {
        let mut head = ChainHead::default();
        let mut entries = Vec::new();
        for _ in 0..length {
            let new_entry = NewAuditEntry::new(Actor::Archive, Action::ArchiveImported);
            let entry = new_entry.append_to(&head, datetime!(2026-03-01 09:30 UTC));
            head = ChainHead { number: entry.number, hash: entry.hash.clone(), ..head };
            entries.push(StoredAuditEntry { number: entry.number, entry: Some(entry) });
        }
        (entries, head)
    }

    /// A log with these entries, whose heads are these in turn; the last one remains.
    fn log(entries: Vec<StoredAuditEntry>, mut heads: Vec<ChainHead>) -> MockAuditLog {
        let mut log = MockAuditLog::new();
        log.expect_head().returning(move |_| {
            let next = if heads.len() > 1 { Some(heads.remove(0)) } else { heads.first().cloned() };
            Ok(next)
        });
        log.expect_page_after().returning(move |_, number, limit| {
            let later = entries.iter().filter(|read| read.number > number);
            Ok(later.take(usize::try_from(limit).unwrap()).cloned().collect())
        });
        log
    }

    async fn fault(entries: Vec<StoredAuditEntry>, head: ChainHead) -> Option<(i64, ChainError)> {
        let log = log(entries, vec![head]);
        let verification = AuditTrail { log: &log }.verify(None).await.unwrap();
        verification.fault.map(|fault| (fault.number, fault.error))
    }

    fn entry(read: &mut StoredAuditEntry) -> &mut AuditEntry {
        read.entry.as_mut().unwrap()
    }

    #[tokio::test]
    async fn a_whole_chain_is_verified_in_chunks() {
        let length = CHUNK * 2 + 5;
        let (entries, head) = chain(length);
        let log = log(entries, vec![head.clone()]);
        let verification = AuditTrail { log: &log }.verify(None).await.unwrap();
        let verified = u64::try_from(length).unwrap();
        assert_eq!(
            verification,
            ChainVerification { organization: None, head: Some(head), verified, erased: 0, fault: None }
        );
    }

    #[tokio::test]
    async fn the_first_broken_entry_is_reported_with_its_reason() {
        let (entries, head) = chain(5);
        let mut changed = entries.clone();
        entry(&mut changed[2]).action = Action::ArchiveExported;
        assert_eq!(fault(changed, head.clone()).await, Some((3, ChainError::HashDiffers)));
        let mut removed = entries.clone();
        removed.remove(1);
        assert_eq!(fault(removed, head.clone()).await, Some((2, ChainError::Missing)));
        assert_eq!(fault(entries[..3].to_vec(), head.clone()).await, Some((4, ChainError::Missing)));
        let mut unreadable = entries.clone();
        unreadable[3].entry = None;
        assert_eq!(fault(unreadable, head.clone()).await, Some((4, ChainError::Unreadable)));
        let wrong = ChainHead { hash: head.removed_hash.clone(), ..head.clone() };
        assert_eq!(fault(entries.clone(), wrong).await, Some((5, ChainError::HeadDiffers)));
        let early = ChainHead { number: 4, hash: entry(&mut entries.clone()[3]).hash.clone(), ..head };
        assert_eq!(fault(entries, early).await, Some((5, ChainError::HeadDiffers)));
    }

    #[tokio::test]
    async fn entries_without_a_head_are_a_fault_and_nothing_is_none() {
        let (entries, _) = chain(1);
        let verified = AuditTrail { log: &log(entries, vec![]) }.verify(None).await.unwrap();
        assert_eq!(verified.fault, Some(ChainFault { number: 1, error: ChainError::HeadDiffers }));
        let verified = AuditTrail { log: &log(vec![], vec![]) }.verify(None).await.unwrap();
        assert_eq!((verified.fault, verified.head), (None, None));
    }

    #[tokio::test]
    async fn entries_that_come_and_go_meanwhile_are_no_fault() {
        let (entries, head) = chain(5);
        let hash = |n: usize| entries[n - 1].entry.as_ref().unwrap().hash.clone();
        let early = ChainHead { number: 4, hash: hash(4), ..head.clone() };
        let log_appended = log(entries.clone(), vec![early, head.clone()]);
        assert_eq!(AuditTrail { log: &log_appended }.verify(None).await.unwrap().fault, None);
        let shorter = ChainHead { removed_number: 2, removed_hash: hash(2), ..head.clone() };
        let log_removed = log(entries[2..].to_vec(), vec![head, shorter]);
        let verification = AuditTrail { log: &log_removed }.verify(None).await.unwrap();
        assert_eq!((verification.fault, verification.verified), (None, 3));
    }
}
