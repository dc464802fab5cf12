//! Figures of this process for monitoring, in the text format of Prometheus. Labels have few values: patterns of routes,
//! statuses, outcomes, lanes. No label names an organization, a user or a record.

use crate::operations::OldestWaiting;
use prometheus::core::Collector;
use prometheus::{
    Encoder, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use time::OffsetDateTime;

/// The upper bounds of durations of requests, in seconds.
const REQUEST_SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
/// The upper bounds of waits for a connection to the database, in seconds.
const WAIT_SECONDS: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0];

civitas_kernel::named_enum! {
    /// A kind of work with leases.
    pub enum LeasedWork {
        /// Jobs.
        Job = "job",
        /// Tasks of the platform.
        Task = "task",
        /// Registrations with deliveries.
        Delivery = "delivery",
    }
}

/// All metrics of the process.
struct Metrics {
    registry: Registry,
    requests: HistogramVec,
    lookup_cache: IntCounterVec,
    replica_reads: IntCounterVec,
    logins: IntCounterVec,
    jobs: IntCounterVec,
    tasks: IntCounterVec,
    lost_leases: IntCounterVec,
    connection_waits: Histogram,
    connection_timeouts: IntCounter,
    oldest_waiting: GaugeVec,
    database_bytes: IntGauge,
    open_connections: IntGauge,
    refused_connections: IntCounter,
    tls_handshakes: IntCounterVec,
    shares: ShareMetrics,
    backups: IntCounterVec,
    newest_backup: IntGauge,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics::new().expect("names and labels are valid"));

/// The same metric, registered.
fn registered<M: Collector + Clone + 'static>(registry: &Registry, metric: M) -> prometheus::Result<M> {
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}

impl Metrics {
    fn new() -> prometheus::Result<Self> {
        let registry = Registry::new_custom(Some("civitas".to_owned()), None)?;
        let counters = |name: &str, help: &str, labels: &[&str]| {
            registered(&registry, IntCounterVec::new(Opts::new(name, help), labels)?)
        };
        let counter = |name: &str, help: &str| registered(&registry, IntCounter::new(name, help)?);
        let gauge = |name: &str, help: &str| registered(&registry, IntGauge::new(name, help)?);
        let durations =
            HistogramOpts::new("http_request_seconds", "Durations of requests, to the head of the answer.");
        let requests =
            HistogramVec::new(durations.buckets(REQUEST_SECONDS.to_vec()), &["route", "method", "status"])?;
        let waits = HistogramOpts::new(
            "database_connection_wait_seconds",
            "Waits for a connection to the database; connections that were free at once are not counted.",
        );
        let oldest = Opts::new(
            "oldest_waiting_seconds",
            "How long the oldest item of a lane has waited: a job since it was accepted, an event since it happened, others \
             since they were due; 0 if none waits.",
        );
        Ok(Self {
            requests: registered(&registry, requests)?,
            lookup_cache: counters("lookup_cache_total", "Lookups of cached rows.", &["table", "result"])?,
            replica_reads: counters(
                "replica_reads_total",
                "Reads that replicas may answer, by where they were answered.",
                &["outcome"],
            )?,
            logins: counters(
                "logins_total",
                "Logins with a password, by outcome.",
                &["endpoint", "outcome"],
            )?,
            jobs: counters("jobs_total", "Runs of jobs, by outcome.", &["outcome"])?,
            tasks: counters("tasks_total", "Runs of tasks, by outcome.", &["kind", "outcome"])?,
            lost_leases: counters("lost_leases_total", "Leases that were lost or taken over.", &["work"])?,
            connection_waits: registered(
                &registry,
                Histogram::with_opts(waits.buckets(WAIT_SECONDS.to_vec()))?,
            )?,
            connection_timeouts: counter(
                "database_connection_timeouts_total",
                "Waits for a connection to the database that ended without one.",
            )?,
            oldest_waiting: registered(&registry, GaugeVec::new(oldest, &["lane"])?)?,
            database_bytes: gauge("database_bytes", "Size of the database.")?,
            open_connections: gauge("http_open_connections", "Open connections of clients.")?,
            refused_connections: counter(
                "http_refused_connections_total",
                "Connections of clients that were closed because there were too many.",
            )?,
            shares: ShareMetrics::new(&registry)?,
            tls_handshakes: counters("tls_handshakes_total", "TLS handshakes, by outcome.", &["outcome"])?,
            backups: counters("backups_total", "Backups by this process, by outcome.", &["outcome"])?,
            newest_backup: gauge(
                "newest_backup_timestamp_seconds",
                "When the newest complete backup that this process knows of was made, as Unix time; 0 if it knows of none.",
            )?,
            registry,
        })
    }

    fn add_series(&self) {
        let series: [(&IntCounterVec, &[&str]); 4] = [
            (&self.jobs, &["completed", "failed", "retried", "waited", "lost"]),
            (&self.lost_leases, &["job", "task", "delivery"]),
            (&self.tls_handshakes, &["succeeded", "failed", "late"]),
            (&self.backups, &["made", "failed"]),
        ];
        for (counters, values) in series {
            for value in values {
                counters.with_label_values(&[*value]).inc_by(0);
            }
        }
        for endpoint in ["token", "panel"] {
            for outcome in ["succeeded", "refused", "locked"] {
                self.logins.with_label_values(&[endpoint, outcome]).inc_by(0);
            }
        }
    }
}

/// The metrics of shares.
struct ShareMetrics {
    used: IntGaugeVec,
    refused: IntCounterVec,
}

impl ShareMetrics {
    fn new(registry: &Registry) -> prometheus::Result<Self> {
        let used = Opts::new("shares_used", "Places of shares in use.");
        let refused = Opts::new("shares_refused_total", "Refusals of callers that are over their share.");
        Ok(Self {
            used: registered(registry, IntGaugeVec::new(used, &["share"])?)?,
            refused: registered(registry, IntCounterVec::new(refused, &["share"])?)?,
        })
    }
}

/// Whether requests are counted: only if somebody can read the metrics.
static COUNTS_REQUESTS: AtomicBool = AtomicBool::new(false);

/// Counts requests and lookups in caches from now on. Counters of known outcomes are in the text from now on: where the first
/// value of a series is 1, Prometheus sees no increase.
pub fn count_requests() {
    COUNTS_REQUESTS.store(true, Ordering::Relaxed);
    METRICS.add_series();
}

/// Adds the metrics of this share to the text.
pub fn add_share(share: &str) {
    METRICS.shares.used.with_label_values(&[share]).add(0);
    METRICS.shares.refused.with_label_values(&[share]).inc_by(0);
}

/// Counts a request. `route`: its pattern, not its path.
pub fn record_request(route: &str, method: &str, status: u16, duration: Duration) {
    if !COUNTS_REQUESTS.load(Ordering::Relaxed) {
        return;
    }
    let labels = [route, method, &status.to_string()];
    METRICS.requests.with_label_values(&labels).observe(duration.as_secs_f64());
}

/// Counts lookups in one table of the cache of lookups. It has the counters: to find them by their labels takes longer
/// than the lookup.
pub struct LookupCounter {
    hits: IntCounter,
    misses: IntCounter,
}

impl LookupCounter {
    /// The counter of this table. Its series are in the text from now on.
    pub fn new(table: &str) -> Self {
        let counter = |result| METRICS.lookup_cache.with_label_values(&[table, result]);
        Self { hits: counter("hit"), misses: counter("miss") }
    }

    /// Counts a lookup.
    pub fn count(&self, is_hit: bool) {
        if COUNTS_REQUESTS.load(Ordering::Relaxed) {
            if is_hit { &self.hits } else { &self.misses }.inc();
        }
    }
}

civitas_kernel::named_enum! {
    /// An endpoint for logins with a password.
    pub enum LoginEndpoint {
        /// The token endpoint.
        Token = "token",
        /// The sign-in of the panel.
        Panel = "panel",
    }
}

/// Counts a login with a password: `succeeded`, `refused`, `locked` (the login is closed, or the account is locked).
pub fn login_ended(endpoint: LoginEndpoint, outcome: &'static str) {
    METRICS.logins.with_label_values(&[endpoint.as_str(), outcome]).inc();
}

/// Counts a read that a replica may answer: `replica`, `primary` (no replica was current), `repeated` (on the primary, after a
/// replica).
pub fn replica_read(outcome: &'static str) {
    METRICS.replica_reads.with_label_values(&[outcome]).inc();
}

/// Counts a run of a job: `completed`, `failed`, `retried`, `waited` (for the end of a fault of the machine), `lost`.
pub fn job_ended(outcome: &'static str) {
    METRICS.jobs.with_label_values(&[outcome]).inc();
}

/// Counts a run of a task: `done`, `retried`, `waited` (for the end of a fault of the database), `given_up`.
pub fn task_ended(kind: &str, outcome: &'static str) {
    METRICS.tasks.with_label_values(&[kind, outcome]).inc();
}

/// Counts a backup: `made` or `failed`.
pub fn backup_ended(outcome: &'static str) {
    METRICS.backups.with_label_values(&[outcome]).inc();
}

/// When the newest complete backup was made.
pub fn newest_backup(at: OffsetDateTime) {
    METRICS.newest_backup.set(at.unix_timestamp());
}

/// Counts leases that a worker lost, or that others took over.
pub fn leases_lost(work: LeasedWork, number: u64) {
    METRICS.lost_leases.with_label_values(&[work.as_str()]).inc_by(number);
}

/// Counts a wait for a connection to the database, and whether it ended with one.
pub fn connection_waited(duration: Duration, is_connected: bool) {
    METRICS.connection_waits.observe(duration.as_secs_f64());
    if !is_connected {
        METRICS.connection_timeouts.inc();
    }
}

/// Counts a connection of a client that was opened (1) or closed (-1).
pub fn adjust_open_connections(change: i64) {
    METRICS.open_connections.add(change);
}

/// Counts a connection of a client that was closed at once.
pub fn connection_refused() {
    METRICS.refused_connections.inc();
}

/// Counts a TLS handshake: `succeeded`, `failed`, or `late` if it did not end in time. Returns its result.
pub fn tls_handshake<T>(outcome: &str, result: T) -> T {
    METRICS.tls_handshakes.with_label_values(&[outcome]).inc();
    result
}

/// Counts a permit of a share that was taken (1) or given back (-1).
pub fn share_used(share: &str, change: i64) {
    METRICS.shares.used.with_label_values(&[share]).add(change);
}

/// Counts a refusal of a caller that is over its share.
pub fn share_refused(share: &str) {
    METRICS.shares.refused.with_label_values(&[share]).inc();
}

/// Sets the figures that are read from the database.
pub fn set_waiting(waiting: &OldestWaiting, now: OffsetDateTime) {
    let lanes = [
        ("job", waiting.job),
        ("mail", waiting.mail),
        ("host_check", waiting.host_check),
        ("event", waiting.event),
        ("delivery", waiting.delivery),
    ];
    for (lane, since) in lanes {
        let seconds = since.map_or(0.0, |since| (now - since).as_seconds_f64().max(0.0));
        METRICS.oldest_waiting.with_label_values(&[lane]).set(seconds);
    }
    METRICS.database_bytes.set(waiting.database_bytes);
}

/// All metrics, in the text format of Prometheus.
///
/// # Errors
/// `Internal` when a metric has no valid text, which is a bug.
pub fn render() -> civitas_kernel::Result<String> {
    let mut text = Vec::new();
    TextEncoder::new()
        .encode(&METRICS.registry.gather(), &mut text)
        .map_err(civitas_kernel::Error::internal)?;
    String::from_utf8(text).map_err(civitas_kernel::Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn all_metrics_have_a_text() {
        let now = datetime!(2026-03-01 09:30 UTC);
        count_requests();
        record_request("/proposals/{id}", "GET", 200, Duration::from_millis(3));
        let lookups = LookupCounter::new("hosts");
        lookups.count(true);
        lookups.count(true);
        login_ended(LoginEndpoint::Panel, "locked");
        job_ended("completed");
        task_ended("mail", "done");
        leases_lost(LeasedWork::Job, 2);
        connection_waited(Duration::from_millis(20), false);
        adjust_open_connections(1);
        connection_refused();
        tls_handshake("late", ());
        share_used("writes", 1);
        share_refused("jobs");
        add_share("unused");
        let job = Some(now - time::Duration::seconds(90));
        let mail = Some(now + time::Duration::seconds(90));
        set_waiting(&OldestWaiting { job, mail, database_bytes: 4096, ..OldestWaiting::default() }, now);
        let text = render().unwrap();
        for line in [
            "civitas_http_request_seconds_count{method=\"GET\",route=\"/proposals/{id}\",status=\"200\"} 1",
            "civitas_lookup_cache_total{result=\"hit\",table=\"hosts\"} 2",
            "civitas_lookup_cache_total{result=\"miss\",table=\"hosts\"} 0",
            "civitas_logins_total{endpoint=\"panel\",outcome=\"locked\"} 1",
            "civitas_jobs_total{outcome=\"completed\"} 1",
            "civitas_tasks_total{kind=\"mail\",outcome=\"done\"} 1",
            "civitas_lost_leases_total{work=\"job\"} 2",
            "civitas_database_connection_wait_seconds_count 1",
            "civitas_database_connection_timeouts_total 1",
            "civitas_oldest_waiting_seconds{lane=\"job\"} 90",
            "civitas_oldest_waiting_seconds{lane=\"mail\"} 0",
            "civitas_database_bytes 4096",
            "civitas_http_open_connections 1",
            "civitas_http_refused_connections_total 1",
            "civitas_shares_refused_total{share=\"jobs\"} 1",
            "civitas_shares_refused_total{share=\"unused\"} 0",
            "civitas_backups_total{outcome=\"failed\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}
