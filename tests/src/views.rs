//! Views of events for tests whose commands have none.

use async_trait::async_trait;
use civitas_application::{EventViews, LoadedRecord, Ports, Site};
use civitas_kernel::{Event, Result};
use civitas_organizations::Tenant;
use serde_json::Value;

/// Shows every event as `null`.
pub struct NoViews;

#[async_trait]
impl EventViews for NoViews {
    async fn show(
        &self,
        _: &dyn Ports,
        _: &Tenant,
        _: &Site,
        _: &Event,
        _: Option<LoadedRecord<'_>>,
    ) -> Result<Value> {
        Ok(Value::Null)
    }
}
