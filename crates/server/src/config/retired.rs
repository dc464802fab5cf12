//! Settings of the release before. They are refused at the start, and leave this list after one release.

/// Names of these settings, and what is true instead of each.
pub const RETIRED: &[(&str, &str)] = &[
    ("backup_recipients", "encrypt backups outside, as docs/OPERATING.md shows"),
    ("body_time_seconds", "a body has 60 seconds to arrive"),
    ("caches", "lookups are always cached"),
    ("host_check_interval_seconds", "a host that waits for confirmation is checked every minute, ten times"),
    ("login_lock_minutes", "20 failed logins in a row close a login for an hour"),
    ("max_connections", "10,000 connections are open at once; a proxy in front can have a lower limit"),
    (
        "max_connections_per_address",
        "1,000 connections of one address are open at once, and trusted_proxies have no such limit",
    ),
    (
        "max_extended_data_stored_bytes",
        "the extended data of a record has at most 1 MiB, and less with max_extended_data_payload_bytes",
    ),
    (
        "otlp_endpoint",
        "set OTEL_EXPORTER_OTLP_ENDPOINT, the variable of OpenTelemetry, to the address without /v1/traces",
    ),
    ("stalled_connection_seconds", "a client has 30 seconds to receive what was sent to it"),
    ("token_retention_days", "expired access tokens, links and sessions are kept for 7 days"),
    (
        "workers",
        "SQLite has 32 background jobs at once; on PostgreSQL their number follows database_pool_size",
    ),
];
