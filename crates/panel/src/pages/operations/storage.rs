//! The checks of `civitas doctor`, and the queues in the database.

use crate::admin_request::AdminRequest;
use crate::format;
use crate::parts::{Badge, Card, Cell, Html, KeyValues, Table};
use crate::reply::Reply;
use civitas_application::{HealthFinding, MAX_FIGURE, QueueFigures};
use civitas_kernel::Result;

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let findings = req.panel.services.health.run().await;
    let load = req.store().operations().load().await?;
    let columns = req.columns("storage-check column-state storage-found");
    let rows = findings.iter().map(|finding| row(req, finding));
    let checks = Table::new(req.tr("storage-caption"), columns).rows(rows);
    let queues = [
        ("storage-jobs", load.jobs, "storage-first-accepted", "/system/jobs?status=pending"),
        (
            "storage-deliveries",
            load.deliveries,
            "storage-first-queued",
            "/system/webhook_deliveries?status=pending",
        ),
        ("storage-tasks", load.tasks, "storage-first-due", super::mails::LIST),
    ];
    let queues = queues.into_iter().fold(KeyValues::default(), |rows, (key, queue, first, href)| {
        rows.row(req.tr(key), queue_html(req, queue, first, href))
    });
    let size = format::bytes(req.translator.locale, load.database_bytes);
    let queues = queues.text(req.tr("storage-database-size"), &size);
    let faults = findings.iter().filter(|finding| finding.state.is_err()).count();
    let lede = if faults == 0 { req.tr("storage-all-good") } else { req.tr_count("storage-faults", faults) };
    let waiting = Card::new("queues", req.tr("storage-queues"), queues.html());
    req.page(req.head("nav-storage").lede(lede), Html::join([waiting.html(), checks.html()])).await
}

fn row(req: &AdminRequest, finding: &HealthFinding) -> Vec<Cell> {
    let name = finding.dependency.as_str();
    let (badge, text) = match &finding.state {
        Ok(text) => (Badge::good(req.tr("storage-good")), text),
        Err(text) => (Badge::bad(req.tr("storage-fault")), text),
    };
    vec![
        Cell::with_subtext(&req.tr(&format!("storage-check-{}", name.replace(' ', "-"))), name),
        Cell::badge(&badge),
        Cell::html(Html::in_english(text)).full_width(),
    ]
}

/// The number of rows with a link to them, and the time of the first.
fn queue_html(req: &AdminRequest, queue: QueueFigures, first: &str, href: &str) -> Html {
    let number = req.count_text(queue.number, MAX_FIGURE);
    let first = queue.first.map(|at| req.tr_with(first, "time", req.log_time(at)));
    let first = first.map(|text| Html::paragraph("small", &text)).unwrap_or_default();
    Html::join([Html::link(href, &number), first])
}
