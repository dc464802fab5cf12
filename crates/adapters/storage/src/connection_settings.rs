//! Checks that each use of a connection has the settings that it needs.

use crate::engine::PoolKind;
use crate::pools::DatabaseSettings;
use crate::session::{LoadRowsExt, Session};
use civitas_kernel::{Result, clock};
use diesel::prelude::*;

diesel::table! {
    /// The settings of the session: a view of PostgreSQL.
    pg_settings (name) {
        name -> Text,
        setting -> Text,
    }
}

/// The settings that a use of a connection lacks, one text for each. Opens pools of its own.
///
/// # Errors
/// `Unavailable` when the database does not answer; `Internal` for invalid settings.
pub async fn missing_settings(settings: &DatabaseSettings) -> Result<Vec<String>> {
    let settings = &DatabaseSettings { read_url: None, ..settings.clone() };
    let requests = Session::open(settings, clock::now).await?;
    let background = requests.for_background()?;
    let mut missing = Vec::new();
    // The second time all connections are open: if they share a session of the server, it has the settings of the last one.
    for _ in 0..2 {
        missing.clear();
        for kind in PoolKind::ALL {
            for found in found_settings(&requests, &background, kind).await? {
                missing.extend(differences(settings, kind, &found));
            }
        }
    }
    missing.sort_unstable();
    missing.dedup();
    Ok(missing)
}

type Found = Vec<(String, String)>;

/// Those of each way to use the connections of a kind.
async fn found_settings(requests: &Session, background: &Session, kind: PoolKind) -> Result<Vec<Found>> {
    let query = || pg_settings::table.select((pg_settings::name, pg_settings::setting));
    let session = match kind {
        PoolKind::Read | PoolKind::Search | PoolKind::Write => requests,
        PoolKind::BackgroundRead | PoolKind::BackgroundWrite => background,
    };
    Ok(match kind {
        PoolKind::Read | PoolKind::BackgroundRead => vec![query().rows_from(session.read()).await?],
        PoolKind::Search => vec![query().rows_from(session.read_long()).await?],
        PoolKind::Write | PoolKind::BackgroundWrite => {
            let of_one = query().rows_from(session.write()).await?;
            let atomic = session.transaction().await?;
            let of_several = query().rows_from(atomic.connection()).await?;
            atomic.commit().await?;
            vec![of_one, of_several]
        }
    })
}

fn differences(settings: &DatabaseSettings, kind: PoolKind, found: &Found) -> Vec<String> {
    let mut expected = kind.settings(&settings.limits, settings.pooler_url.is_some()).to_vec();
    expected.push(("transaction_isolation", "read committed".to_owned()));
    let found = |name: &str| found.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value);
    let differs = expected.iter().filter(|(name, value)| found(name) != value);
    differs.map(|(name, value)| format!("{}: {name} is {}, not {value}", kind.name(), found(name))).collect()
}
