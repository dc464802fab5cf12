//! The handler of tasks that check whether a pending host resolves to this deployment (contract 03 §1.5).

use crate::{TaskHandler, Turn};
use async_trait::async_trait;
use civitas_kernel::{Result, TaskPayload};
use civitas_organizations::{CheckHost, HOST_CHECKS, HostCheck, HostResolver, Verdict, confirm};
use civitas_tasks::{Outcome, Task};
use std::net::IpAddr;
use std::sync::Arc;
use time::Duration;

/// Checks pending hosts, and makes those that resolve to this deployment the primary ones.
pub struct HostCheckHandler {
    /// Resolves host names.
    pub resolver: Arc<dyn HostResolver>,
    /// The public addresses of the deployment.
    pub loadbalancer_ips: Vec<IpAddr>,
    /// The delay between two checks of a host.
    pub interval: Duration,
}

#[async_trait]
impl TaskHandler for HostCheckHandler {
    fn kind(&self) -> &'static str {
        CheckHost::KIND
    }

    async fn run(&self, turn: Turn<'_>, task: &Task) -> Result<Outcome> {
        let id = task.organization;
        let found = turn.store.organizations().find(id).await?;
        let Some(organization) = found.filter(|found| found.unconfirmed_host.is_some()) else {
            return Ok(Outcome::Done);
        };
        let check = HostCheck { resolver: &*self.resolver, loadbalancer_ips: &self.loadbalancer_ips };
        match check.verdict(&organization).await {
            Verdict::Hopeless => Ok(Outcome::GiveUp("no check can prove the host".into())),
            Verdict::Unproven if task.attempt >= HOST_CHECKS => {
                Ok(Outcome::GiveUp("the host does not lead here".into()))
            }
            Verdict::Unproven => Ok(Outcome::Again(turn.now + self.interval)),
            Verdict::Proven => {
                let proven = organization.unconfirmed_host.unwrap_or_default();
                let tx = turn.store.begin().await?;
                let outcome = confirm(tx.organizations(), id, &proven, turn.now).await;
                turn.announcer.commit_with_events(tx, turn.now, outcome).await?;
                Ok(Outcome::Done)
            }
        }
    }
}
