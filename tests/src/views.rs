//! Views of events for tests whose commands have none.

use async_trait::async_trait;
use civitas_application::{EventViews, Ports, SavedRecord, SiteSettings};
use civitas_kernel::{Event, Result};
use civitas_organizations::Tenant;
use serde_json::Value;

/// Shows every event as `null`.
pub struct NoViews;

#[async_trait]
impl EventViews for NoViews {
    async fn render_data(
        &self,
        _: &dyn Ports,
        _: &Tenant,
        _: &SiteSettings,
        _: &Event,
        _: Option<SavedRecord<'_>>,
    ) -> Result<Value> {
        Ok(Value::Null)
    }
}
