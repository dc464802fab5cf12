//! The audit trail: concurrent writers, and what the verification finds in the database.

use civitas_application::audit::{AuditTrail, ChainFault, ChainVerification};
use civitas_audit::{Action, Actor, AuditFilter, AuditScope, ChainError, NewAuditEntry};
use civitas_kernel::{OrganizationId, PageRequest, clock};
use civitas_tests::World;

fn new_entry(organization: OrganizationId, label: &str) -> NewAuditEntry {
    let actor = Actor::Administrator { id: 1, email: "ines@riverton.example".to_owned() };
    NewAuditEntry::new(actor, Action::UserBlocked)
        .in_organization(organization)
        .with_object("user", "7", label)
        .with_address("192.0.2.7")
        .with_change("state", Some("active"), Some("blocked"))
}

/// Appends this many entries in one transaction.
async fn fill(world: &World, organization: OrganizationId, count: usize) {
    let tx = world.store().begin().await.unwrap();
    for n in 0..count {
        tx.audit().append(&new_entry(organization, &format!("label {n}")), clock::now()).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn verify(world: &World, organization: OrganizationId) -> ChainVerification {
    AuditTrail { log: world.store().audit() }.verify(Some(organization)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn entries_of_several_writers_are_one_chain_without_gaps() {
    for world in World::on_both_engines().await {
        let (mine, other) = (world.mine, world.other);
        let writers = (0..4).map(|writer| {
            let store = world.database.store();
            tokio::spawn(async move {
                for n in 0..20 {
                    let tx = store.begin().await.unwrap();
                    let organization = if n % 4 == 3 { other } else { mine };
                    tx.audit()
                        .append(&new_entry(organization, &format!("{writer}")), clock::now())
                        .await
                        .unwrap();
                    // An entry that is rolled back leaves no gap.
                    if n % 5 == 4 { tx.rollback().await } else { tx.commit().await.unwrap() }
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        // Of 0..20: 15 are of `mine` and 5 of `other`; 4, 9, 14 are rolled back of `mine`, 19 of `other`.
        for (organization, count) in [(mine, 48), (other, 16)] {
            let verification = verify(&world, organization).await;
            assert_eq!(
                (verification.verified, verification.fault),
                (count, None),
                "{:?}",
                world.database.engine
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_same_refusals_at_once_one_is_appended() {
    for world in World::on_both_engines().await {
        let (mine, now) = (world.mine, clock::now());
        let writers = (0..4).map(|_| {
            let store = world.database.store();
            tokio::spawn(async move {
                let tx = store.begin().await.unwrap();
                let since = now - time::Duration::MINUTE;
                let appended =
                    tx.audit().append_unless_since(&new_entry(mine, "x"), since, now).await.unwrap();
                tx.commit().await.unwrap();
                u64::from(appended)
            })
        });
        let mut appended = 0;
        for writer in writers.collect::<Vec<_>>() {
            appended += writer.await.unwrap();
        }
        assert_eq!((appended, verify(&world, mine).await.verified), (1, 1));
    }
}

#[tokio::test]
async fn an_entry_needs_a_transaction() {
    for world in World::on_both_engines().await {
        let log = world.store().audit();
        assert!(log.append(&new_entry(world.mine, "x"), clock::now()).await.is_err());
        assert_eq!(log.head(Some(world.mine)).await.unwrap(), None);
    }
}

#[tokio::test]
async fn every_change_of_a_row_is_found() {
    let changes = [
        ("number = 300", ChainError::Missing),
        ("organization_id = 999", ChainError::Missing),
        ("at = (SELECT max(o.at) FROM audit_entries o)", ChainError::HashDiffers),
        ("actor_kind = 'archive'", ChainError::Unreadable),
        ("actor_kind = 'x'", ChainError::Unreadable),
        ("actor_id = '2'", ChainError::HashDiffers),
        ("actor_id = '01'", ChainError::Unreadable),
        ("actor_name = 'eve@riverton.example'", ChainError::HashDiffers),
        ("user_id = 3", ChainError::Unreadable),
        ("user_name = 'ada'", ChainError::Unreadable),
        ("address = NULL", ChainError::HashDiffers),
        ("action = 'user.unblocked'", ChainError::HashDiffers),
        ("action = 'user.blockee'", ChainError::Unreadable),
        ("object_kind = 'users'", ChainError::HashDiffers),
        ("object_kind = NULL", ChainError::Unreadable),
        ("object_id = '8'", ChainError::HashDiffers),
        ("object_label = 'label 7'", ChainError::HashDiffers),
        ("changes = replace(changes, 'active', 'actine')", ChainError::HashDiffers),
        ("changes = replace(changes, ',', ', ')", ChainError::Unreadable),
        ("changes = '[]'", ChainError::HashDiffers),
        ("details_salt = NULL", ChainError::HashDiffers),
        ("details_salt = 'x'", ChainError::HashDiffers),
        ("details_digest = 'x'", ChainError::HashDiffers),
        ("details_digest = NULL", ChainError::Unreadable),
        ("details_salt = NULL, details_digest = NULL", ChainError::HashDiffers),
        ("hash = replace(hash, substr(hash, 1, 1), 'g')", ChainError::HashDiffers),
    ];
    for world in World::on_both_engines().await {
        let mine = world.mine;
        fill(&world, mine, 5).await;
        world.database.execute("CREATE TABLE copy AS SELECT * FROM audit_entries").await;
        for (change, error) in changes {
            let number = "(SELECT number FROM copy ORDER BY number LIMIT 1 OFFSET 1)";
            world
                .database
                .execute(&format!("UPDATE audit_entries SET {change} WHERE number = {number}"))
                .await;
            let fault = verify(&world, mine).await.fault;
            assert_eq!(fault, Some(ChainFault { number: 2, error }), "{change}");
            world.database.execute("DELETE FROM audit_entries").await;
            world.database.execute("INSERT INTO audit_entries SELECT * FROM copy").await;
            assert_eq!(verify(&world, mine).await.fault, None);
        }
    }
}

#[tokio::test]
async fn rows_that_are_removed_or_swapped_are_found_and_so_is_a_changed_head() {
    let edits = [
        (&["DELETE FROM audit_entries WHERE number = 3"][..], 3, ChainError::Missing),
        (&["DELETE FROM audit_entries WHERE number = 1"], 1, ChainError::Missing),
        (&["DELETE FROM audit_entries WHERE number = 5"], 5, ChainError::Missing),
        (
            &[
                "UPDATE audit_entries SET number = 100 WHERE number = 2",
                "UPDATE audit_entries SET number = 2 WHERE number = 4",
                "UPDATE audit_entries SET number = 4 WHERE number = 100",
            ],
            2,
            ChainError::HashDiffers,
        ),
        (&["UPDATE audit_heads SET number = 4"], 4, ChainError::HeadDiffers),
        (&["UPDATE audit_heads SET hash = removed_hash"], 5, ChainError::HeadDiffers),
        (&["DELETE FROM audit_heads"], 1, ChainError::HeadDiffers),
    ];
    for world in World::on_both_engines().await {
        let mine = world.mine;
        fill(&world, mine, 5).await;
        world.database.execute("CREATE TABLE copy AS SELECT * FROM audit_entries").await;
        world.database.execute("CREATE TABLE heads AS SELECT * FROM audit_heads").await;
        for (statements, number, error) in edits {
            for statement in statements {
                world.database.execute(statement).await;
            }
            let mut found = Vec::new();
            let trail = AuditTrail { log: world.store().audit() };
            trail.verify_all(|verification| found.extend(verification.fault)).await.unwrap();
            assert_eq!(found, [ChainFault { number, error }], "{statements:?}");
            for restore in [
                "DELETE FROM audit_entries",
                "INSERT INTO audit_entries SELECT * FROM copy",
                "DELETE FROM audit_heads",
                "INSERT INTO audit_heads SELECT * FROM heads",
            ] {
                world.database.execute(restore).await;
            }
        }
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_left_out_of_the_list() {
    for world in World::on_both_engines().await {
        fill(&world, world.mine, 3).await;
        world.database.execute("UPDATE audit_entries SET action = 'x' WHERE number = 2").await;
        let filter = AuditFilter { scope: AuditScope::Organization(world.mine), ..AuditFilter::default() };
        let page = world.store().audit().list(&filter, PageRequest::default()).await.unwrap();
        assert_eq!(page.items.iter().map(|entry| entry.number).collect::<Vec<_>>(), [3, 1]);
    }
}
