//! The handler of tasks that check whether the hosts of an organization that are not confirmed resolve to this deployment
//! (contract 03 §1.5).

use crate::{TaskContext, TaskHandler};
use async_trait::async_trait;
use civitas_kernel::{Result, TaskPayload};
use civitas_organizations::{
    CheckHost, HOST_CHECK_INTERVAL, HostCheck, HostResolver, MAX_HOST_CHECK_ATTEMPTS, confirm,
};
use civitas_tasks::{Task, TaskOutcome};
use futures_util::{StreamExt, future, stream};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::sleep;

/// The most hosts of a task that are checked at once: a hundred of a silent name server take 20 s.
const AT_ONCE: usize = 20;
/// The longest lookups of a task. What was found until then is confirmed.
const LOOKUPS_TAKE: std::time::Duration = std::time::Duration::from_secs(60);

/// Checks the hosts that are not confirmed, and confirms those that resolve to this deployment.
pub struct HostCheckHandler {
    /// Resolves host names.
    pub resolver: Arc<dyn HostResolver>,
    /// The public addresses of the deployment.
    pub loadbalancer_ips: Vec<IpAddr>,
}

impl HostCheckHandler {
    /// Those of these hosts that resolve to this deployment.
    async fn found(&self, hosts: &[String]) -> Vec<String> {
        let check = &HostCheck { resolver: &*self.resolver, loadbalancer_ips: &self.loadbalancer_ips };
        let found = stream::iter(hosts.to_vec())
            .map(|host| async move { check.resolves_to_deployment(&host).await.then_some(host) })
            .buffer_unordered(AT_ONCE);
        found.take_until(sleep(LOOKUPS_TAKE)).filter_map(future::ready).collect().await
    }
}

#[async_trait]
impl TaskHandler for HostCheckHandler {
    fn kind(&self) -> &'static str {
        CheckHost::KIND
    }

    async fn run(&self, turn: TaskContext<'_>, task: &Task) -> Result<TaskOutcome> {
        let (id, organizations) = (task.organization, turn.store.organizations());
        let hosts = organizations.find(id).await?.map_or_else(Vec::new, |found| found.hosts_to_check());
        let found = self.found(&hosts).await;
        let lost: Vec<String> = hosts.into_iter().filter(|host| !found.contains(host)).collect();
        let is_last = !lost.is_empty() && task.attempt >= MAX_HOST_CHECK_ATTEMPTS;
        if is_last || !found.is_empty() {
            let tx = turn.store.begin().await?;
            // Locks the organization.
            let mut outcome = confirm(tx.organizations(), id, &found, turn.now).await;
            if is_last && outcome.is_ok() {
                outcome = tx.organizations().release_hosts(id, &lost).await;
            }
            turn.committer.commit_with_events(tx, turn.now, outcome).await?;
        }
        if lost.is_empty() {
            return Ok(TaskOutcome::Done);
        }
        if is_last {
            return Ok(TaskOutcome::GiveUp("the host does not lead here".into()));
        }
        Ok(TaskOutcome::Again(turn.now + HOST_CHECK_INTERVAL))
    }
}
