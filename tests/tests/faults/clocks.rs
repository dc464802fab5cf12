//! Servers whose clocks differ by minutes, on one database, under load.

use crate::faults::load::Load;
use civitas_kernel::clock;
use civitas_server::config::{Config, SettingSources};
use civitas_server::wiring::{ServerParts, start_with_store};
use civitas_tests::service::{CITIES, Service};
use civitas_tests::{Database, Engine};
use time::{Duration, OffsetDateTime};
use tokio::time::sleep;

/// Several searches for expired leases, one each 5 s.
const LOAD: std::time::Duration = std::time::Duration::from_secs(12);

fn ahead() -> OffsetDateTime {
    clock::now() + Duration::minutes(10)
}

fn behind() -> OffsetDateTime {
    clock::now() - Duration::minutes(10)
}

/// SQLite has one server.
#[tokio::test(flavor = "multi_thread")]
async fn three_servers_with_different_clocks_lose_and_repeat_nothing() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[]).await;
    let mut others = Vec::new();
    for clock in [ahead as fn() -> OffsetDateTime, behind] {
        let sources = SettingSources { flags: service.flags().to_vec(), ..SettingSources::default() };
        let store = service.database.open_with_clock(clock).await;
        let parts = ServerParts { http: true, workers: true };
        others.push(start_with_store(Config::load(&sources).unwrap(), parts, store, None).await.unwrap());
    }
    let nora = service.user("norablum").await;
    let mut clients = vec![nora.clone()];
    clients.extend(others.iter().map(|other| nora.moved_to(other.address.unwrap())));
    let component = service.id("component", "news");
    let load = Load::begin(&clients, component);
    sleep(LOAD).await;
    let ledger = load.ends_with_everything_kept(&nora, component).await;
    assert_eq!(ledger.refused, 0, "a difference of clocks is no fault of the machine");
    for other in others {
        other.stop().await;
    }
    service.stop().await;
}
