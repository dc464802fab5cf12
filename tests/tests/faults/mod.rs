//! Faults of the machine, the network and other processes. None of them is a client's final answer, stops the service,
//! or costs other requests their time.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod clocks;
mod cluster;
mod failover;
mod heads;
mod kills;
mod load;
mod locks;
mod machine;
mod neighbors;
mod network;
mod overload;
mod replicas;
mod signals;
mod standby;

use civitas_tests::Engine;

/// Two statements: from the first one until the second one the disk is full for these writes.
fn full_disk(engine: Engine, write: &str, table: &str) -> [String; 2] {
    match engine {
        Engine::Sqlite => [
            format!(
                "CREATE TRIGGER disk_is_full BEFORE {write} ON {table}
                 BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
            ),
            "DROP TRIGGER disk_is_full".to_owned(),
        ],
        Engine::Postgres => [
            format!(
                "CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'plus de place' USING ERRCODE = '53100'; END $$;
                 CREATE TRIGGER disk_is_full BEFORE {write} ON {table} FOR EACH ROW
                 EXECUTE FUNCTION disk_is_full()"
            ),
            format!("DROP TRIGGER disk_is_full ON {table}"),
        ],
    }
}
