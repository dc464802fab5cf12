//! Backups that the server makes by itself.

use civitas_tests::service::CITIES;
use civitas_tests::{Database, Engine, Service};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The manifests of the backups of a directory.
fn manifests(target: &Path) -> Vec<PathBuf> {
    let Ok(backups) = std::fs::read_dir(target.join("backups")) else { return Vec::new() };
    let manifests = backups.map(|backup| backup.unwrap().path().join("manifest.json"));
    manifests.filter(|manifest| manifest.exists()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_makes_a_backup_when_one_is_due() {
    for engine in Engine::BOTH {
        let Some(database) = Database::fresh(engine).await else { continue };
        let target = tempfile::tempdir().unwrap();
        let to = format!("file://{}", target.path().display());
        // There is none yet, so it is due whatever the time is.
        let settings = [("backup_to", to.as_str()), ("backup_times", "00:00")];
        let service = Service::over(database, CITIES, &settings).await;
        for _ in 0..600 {
            if !manifests(target.path()).is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let manifests = manifests(target.path());
        assert_eq!(manifests.len(), 1, "{engine:?}");
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&manifests[0]).unwrap()).unwrap();
        assert_eq!(manifest["missing_files"], 0);
        drop(service);
    }
}
