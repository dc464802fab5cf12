//! `civitas doctor`: checks each thing that a server needs, and prints what to do if it is missing.

use super::{CommandError, CommandResult, Console, configure};
use crate::config::SettingSources;
use crate::doctor::Doctor;
use civitas_application::{Dependency, HealthChecks, HealthFinding};

pub(super) async fn run(sources: &SettingSources, console: &mut Console<'_>) -> CommandResult {
    let findings = match configure(sources) {
        Ok(config) => Doctor { config, reads_settings: true }.run().await,
        Err(error) => {
            let state = Err(error.reason().to_owned());
            vec![HealthFinding { dependency: Dependency::Configuration, state }]
        }
    };
    for finding in &findings {
        let (mark, text) = match &finding.state {
            Ok(text) => ("ok   ", text),
            Err(text) => ("FAULT", text),
        };
        console.print(format_args!("{mark} {:<13} {text}", finding.dependency.as_str()))?;
    }
    if findings.iter().all(|finding| finding.state.is_ok()) { Ok(()) } else { Err(CommandError::Reported) }
}
