//! What the server needs, as `civitas doctor` sees it, and what waits in its database.

use crate::format;
use crate::parts::{Badge, Card, Cell, Html, KeyValues, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::{HealthFinding, MOST_FIGURE, Queue};
use civitas_kernel::Result;

pub(crate) async fn show(visit: &Visit) -> Result<Reply> {
    let findings = visit.panel.services.health.run().await;
    let load = visit.panel.store().operations().load().await?;
    let columns = visit.columns(&["storage-check", "column-state", "storage-found"]);
    let rows = findings.iter().map(|finding| row(visit, finding));
    let checks = Table::new(visit.say("storage-caption"), columns).rows(rows);
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
    let queues = queues.into_iter().fold(KeyValues::default(), |rows, (key, of, first, href)| {
        rows.row(visit.say(key), queue(visit, of, first, href))
    });
    let size = format::bytes(visit.words.locale, load.database_bytes);
    let queues = queues.text(visit.say("storage-database-size"), &size);
    let faults = findings.iter().filter(|finding| finding.state.is_err()).count();
    let faults = i64::try_from(faults).unwrap_or(i64::MAX);
    let lede =
        if faults == 0 { visit.say("storage-all-good") } else { visit.words.count("storage-faults", faults) };
    let waiting = Card::new("queues", visit.say("storage-queues"), queues.html());
    visit.page(visit.head("nav-storage").lede(lede), Html::join([waiting.html(), checks.html()])).await
}

fn row(visit: &Visit, finding: &HealthFinding) -> Vec<Cell> {
    let name = finding.dependency.as_str();
    let (badge, text) = match &finding.state {
        Ok(text) => (Badge::good(visit.say("storage-good")), text),
        Err(text) => (Badge::bad(visit.say("storage-fault")), text),
    };
    vec![
        Cell::with_sub(&visit.say(&format!("storage-check-{}", name.replace(' ', "-"))), name),
        Cell::badge(&badge),
        Cell::html(Html::in_english(text)).whole(),
    ]
}

/// The number of rows with a link to them, and the time of the first.
fn queue(visit: &Visit, queue: Queue, first: &str, href: &str) -> Html {
    let number = visit.number_up_to(queue.number, MOST_FIGURE);
    let first = queue.first.map(|at| visit.tell(first, &[("time", visit.log_time(at).into())]));
    let first = first.map(|text| Html::paragraph("small", &text)).unwrap_or_default();
    Html::join([Html::link(href, &number), first])
}
