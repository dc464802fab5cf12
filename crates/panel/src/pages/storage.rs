//! What the server needs, as `civitas doctor` sees it, and what waits in its database.

use crate::format::{self, Zone};
use crate::parts::{Badge, Card, Cell, Column, Head, Html, KeyValues, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::{HealthFinding, MOST_FIGURE, Queue};
use civitas_kernel::Result;

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let findings = visit.panel.services.health.run().await;
    let load = visit.panel.store().operations().load().await?;
    let columns = ["storage-check", "column-state", "storage-found"];
    let columns = columns.map(|key| Column::new(visit.say(key))).to_vec();
    let rows = findings.iter().map(|finding| row(visit, finding));
    let checks = Table::new(visit.say("storage-caption"), columns).rows(rows);
    let queues = KeyValues::default()
        .row(
            visit.say("storage-jobs"),
            queue(visit, load.jobs, "storage-first-accepted", "/system/jobs?status=pending"),
        )
        .row(
            visit.say("storage-deliveries"),
            queue(
                visit,
                load.deliveries,
                "storage-first-queued",
                "/system/webhook_deliveries?status=pending",
            ),
        )
        .row(visit.say("storage-tasks"), queue(visit, load.tasks, "storage-first-due", super::mails::LIST))
        .text(visit.say("storage-database-size"), &format::bytes(visit.words.locale, load.database_bytes));
    let faults = findings.iter().filter(|finding| finding.state.is_err()).count();
    let faults = i64::try_from(faults).unwrap_or(i64::MAX);
    let lede =
        if faults == 0 { visit.say("storage-all-good") } else { visit.words.count("storage-faults", faults) };
    let waiting = Card::new("queues", visit.say("storage-queues"), queues.html());
    let head = Head::new(visit.say("nav-storage")).crumb(visit.say("nav-start"), "/system").lede(lede);
    visit.page(head, Html::join([waiting.html(), checks.html()])).await
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
    let number = visit.number(queue.number);
    let number = if queue.number >= MOST_FIGURE {
        visit.tell("more-than", &[("number", number.into())])
    } else {
        number
    };
    let time = |at| format::date_time_seconds(visit.words.locale, Zone::utc(), at);
    let first =
        queue.first.map(|at| Html::paragraph("small", &visit.tell(first, &[("time", time(at).into())])));
    Html::join([Html::link(href, &number), first.unwrap_or_default()])
}
