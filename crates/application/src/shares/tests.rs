use super::*;
use std::iter::from_fn;

const BAD: OrganizationId = OrganizationId(1);
const GOOD: OrganizationId = OrganizationId(2);

fn shares() -> Arc<Shares> {
    Shares::new(ShareCapacity {
        read_connections: 16,
        searches: 4,
        write_connections: Some(16),
        stored_bytes: 1_000,
        webhook_requests: 400,
    })
}

fn client(organization: OrganizationId, client: u32) -> ShareHolder<'static> {
    ShareHolder { organization, client: Some(ClientId(client.into())), record: None }
}

fn take_all(shares: &Arc<Shares>, share: SharedResource, holder: ShareHolder<'_>) -> Vec<SharePermit> {
    from_fn(|| shares.try_take(share, holder)).collect()
}

#[test]
fn what_one_client_and_one_tenant_use_is_bounded_and_others_have_their_share() {
    let shares = shares();
    let first = take_all(&shares, SharedResource::WebhookRequests, client(BAD, 1));
    assert_eq!(first.len(), 20);
    let others: Vec<_> =
        (2..50).flat_map(|id| take_all(&shares, SharedResource::WebhookRequests, client(BAD, id))).collect();
    assert_eq!(others.len(), 80, "the tenant has 100");
    assert_eq!(take_all(&shares, SharedResource::WebhookRequests, client(GOOD, 60)).len(), 20);
    drop(others);
    assert_eq!(take_all(&shares, SharedResource::WebhookRequests, client(BAD, 2)).len(), 20);
}

#[test]
fn the_second_half_of_the_permits_is_for_first_permits() {
    let shares = shares();
    let spare = || shares.try_take_spare(SharedResource::WebhookRequests, client(BAD, 1));
    let spare: Vec<_> = from_fn(spare).collect();
    assert_eq!((spare.len(), shares.used(SharedResource::WebhookRequests, BAD)), (10, 10));
    assert_eq!(take_all(&shares, SharedResource::WebhookRequests, client(BAD, 1)).len(), 10);
    assert_eq!(shares.used(SharedResource::WebhookRequests, GOOD), 0);
}

#[tokio::test]
async fn who_waits_for_a_record_holds_nothing_of_others() {
    let shares = shares();
    let of_record = |record| ShareHolder { record: Some(record), ..client(BAD, 1) };
    let held = take_all(&shares, SharedResource::Writes, of_record("/proposals/1"));
    assert_eq!(held.len(), 4);
    let waiting = tokio::spawn({
        let shares = shares.clone();
        async move {
            let holder = ShareHolder { record: Some("/proposals/1"), ..client(BAD, 1) };
            shares.acquire(SharedResource::Writes, holder).await.map(drop)
        }
    });
    tokio::task::yield_now().await;
    assert!(shares.try_take(SharedResource::Writes, of_record("/proposals/2")).is_some());
    drop(held);
    waiting.await.unwrap().unwrap();
    assert!(locked(&shares.permits).is_empty(), "unused semaphores are removed");
}

#[tokio::test]
async fn who_is_over_its_share_is_refused_alone() {
    let shares = shares();
    let _held = take_all(&shares, SharedResource::Writes, client(BAD, 1));
    let (bad, good) = tokio::join!(
        shares.acquire(SharedResource::Writes, client(BAD, 1)),
        shares.acquire(SharedResource::Writes, client(GOOD, 2)),
    );
    assert!(matches!(bad, Err(Error::TooManyRequests(1))));
    good.map(drop).unwrap();
    let refused: Vec<_> = shares.by_tenant().into_iter().filter(|of| of.refused > 0).collect();
    assert_eq!(
        refused,
        [TenantUse { share: SharedResource::Writes, organization: BAD, used: 12, refused: 1 }]
    );
}

#[tokio::test]
async fn stored_bytes_are_counted_once_a_minute_and_refused_by_client() {
    let mut store = MockShareStore::new();
    store.expect_count_stored().times(2).returning(|_, _, client| {
        let client = if client == Some(ClientId(1)) { 500 } else { 0 };
        Ok(StoredUse { client, tenant: 500 })
    });
    let shares = shares();
    let add = async |id, more| {
        shares.check_stored(&store, SharedResource::Jobs, (BAD, Some(ClientId(id))), more).await
    };
    for _ in 0..5 {
        add(1, 100).await.unwrap();
    }
    assert!(matches!(add(1, 1).await, Err(Error::TooManyRequests(60))));
    add(2, 1_000).await.unwrap();
}

#[test]
fn small_pools_leave_a_permit_at_each_level() {
    for all in 1..40 {
        let capacity = ShareCapacity {
            read_connections: 16,
            searches: 4,
            write_connections: Some(all),
            stored_bytes: 1,
            webhook_requests: 1,
        };
        let limits = Shares::new(capacity).limits(SharedResource::Writes);
        assert!(1 <= limits.record && limits.record <= limits.client && limits.client <= limits.tenant);
        assert!(limits.tenant <= limits.process && limits.process <= all);
    }
}
