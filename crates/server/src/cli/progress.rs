//! Progress of a command, for a person at a terminal.

use std::io::Write;
use std::time::{Duration, Instant};

/// The shortest time between two texts.
const STEP: Duration = Duration::from_millis(200);
/// Removes the current line of a terminal.
const CLEAR: &str = "\r\x1b[K";

/// A line whose text is replaced, and removed at the end.
pub(super) struct ProgressLine<'a> {
    out: &'a mut (dyn Write + Send),
    is_shown: bool,
    begun: Instant,
    /// When the current text was written.
    written: Option<Instant>,
}

impl<'a> ProgressLine<'a> {
    /// A line at the end of this output. One that is not shown writes nothing.
    pub(super) fn new(out: &'a mut (dyn Write + Send), is_shown: bool) -> Self {
        Self { out, is_shown, begun: Instant::now(), written: None }
    }

    /// Shows a text, which is made of the time since the begin, unless the last one is younger than [`STEP`].
    pub(super) fn show(&mut self, text: impl FnOnce(Duration) -> String) {
        if self.is_shown && self.written.is_none_or(|at| at.elapsed() >= STEP) {
            // An error of standard error cannot be reported.
            let _ = write!(self.out, "{CLEAR}{}", text(self.begun.elapsed())).and_then(|()| self.out.flush());
            self.written = Some(Instant::now());
        }
    }

    /// Prints a line that stays, shown or not.
    pub(super) fn print(&mut self, line: &str) {
        self.clear();
        // As above.
        let _ = writeln!(self.out, "{line}");
    }

    pub(super) fn clear(&mut self) {
        if self.written.take().is_some() {
            // As above.
            let _ = write!(self.out, "{CLEAR}").and_then(|()| self.out.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two texts, a line that stays and the end write.
    fn written(is_shown: bool) -> String {
        let mut out = Vec::new();
        let mut line = ProgressLine::new(&mut out, is_shown);
        line.show(|_| "one".to_owned());
        line.show(|_| "too soon".to_owned());
        line.print("stays");
        line.show(|_| "two".to_owned());
        line.clear();
        line.clear();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_text_is_replaced_at_most_five_times_a_second_and_leaves_nothing() {
        assert_eq!(written(true), "\r\x1b[Kone\r\x1b[Kstays\n\r\x1b[Ktwo\r\x1b[K");
        assert_eq!(written(false), "stays\n");
    }
}
