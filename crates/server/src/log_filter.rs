//! What of the events of the HTTP library is logged.

use std::fmt::{self, Debug, Write};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Where the HTTP library logs that it closes a connection, and how the text begins. It does so at the level of errors,
/// although clients cause it: with a malformed request head, or by closing the connection.
const CLOSED_BY: (&str, &str) = ("actix_http::h1::dispatcher", "stream error: ");

/// A format of events. Errors that clients cause are written only where the configured filter lets `debug` pass. It is no
/// filter: a filter of single events of one layer loses the state of other events (`tracing-subscriber` 0.3).
pub(crate) struct ClientErrorFilter<F> {
    format: F,
    shows_client_errors: bool,
}

impl<F> ClientErrorFilter<F> {
    /// `directives`: the configured filter, as `info` or `info,civitas_api=debug`.
    pub(crate) fn new(format: F, directives: &str) -> Self {
        Self { format, shows_client_errors: level_of(directives, CLOSED_BY.0) >= LevelFilter::DEBUG }
    }
}

impl<S, N, F> FormatEvent<S, N> for ClientErrorFilter<F>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let is_of_library = event.metadata().target() == CLOSED_BY.0;
        if !self.shows_client_errors && is_of_library && is_client_error(event) {
            return Ok(());
        }
        self.format.format_event(context, writer, event)
    }
}

/// The level of a target: that of the directive with the longest prefix of it.
fn level_of(directives: &str, target: &str) -> LevelFilter {
    let read = |directive: &str| {
        let (of, level) = match directive.trim().split_once('=') {
            Some((of, level)) => (of.trim().to_owned(), level.trim().parse().ok()?),
            // A level for all targets, or a target with all levels.
            None => match directive.trim().parse() {
                Ok(level) => (String::new(), level),
                Err(_) => (directive.trim().to_owned(), LevelFilter::TRACE),
            },
        };
        target.starts_with(&of).then_some((of.len(), level))
    };
    let found = directives.split(',').filter(|d| !d.trim().is_empty()).filter_map(read);
    found.max_by_key(|(length, _)| *length).map_or(LevelFilter::ERROR, |(_, level)| level)
}

fn is_client_error(event: &Event<'_>) -> bool {
    let mut message = Message(String::new());
    event.record(&mut message);
    message.0.starts_with(CLOSED_BY.1)
}

/// The message of an event.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // A text takes everything.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(directives: &str) -> String {
        let written = Written::default();
        let writer = written.clone();
        let layer = fmt::layer().with_ansi(false).with_writer(move || writer.clone());
        let layer = layer.map_event_format(|format| ClientErrorFilter::new(format, directives));
        let subscriber = registry().with(layer.with_filter(EnvFilter::new(directives)));
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(target: "actix_http::h1::dispatcher", "stream error: {}", "bad head");
            tracing::error!(target: "actix_http::h1::dispatcher", "Response payload stream error: {}", "lost");
            tracing::error!(target: "civitas_api", "stream error: own");
            tracing::info!("begun");
        });
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn errors_of_clients_are_logged_at_debug_only() {
        for (directives, expected) in [
            ("info", false),
            ("error", false),
            ("debug", true),
            ("info,actix_http=debug", true),
            ("actix_http::h1::dispatcher=trace,info", true),
            ("debug,actix_http=info", false),
            ("info,actix_http", true),
        ] {
            let text = log(directives);
            assert_eq!(text.contains("stream error: bad head"), expected, "{directives}: {text}");
            assert!(text.contains("Response payload stream error: lost"), "{directives}: {text}");
        }
    }

    #[test]
    fn everything_else_is_filtered_as_configured() {
        assert!(log("info").contains("begun") && log("info").contains("stream error: own"));
        assert!(!log("error").contains("begun"));
        assert!(!log("actix_http=debug").contains("begun"));
    }
}
