//! Sending many deliveries of a registration again: those that were given up, or those of a time.

use super::deliveries::{LIST, admin, chosen};
use crate::notice::Notice;
use crate::parts::Head;
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_kernel::{Error, Result};

/// The most deliveries of one act.
const MOST: i64 = 10_000;

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let which = chosen(visit).ok_or(Error::NotFound)?;
    let found = admin(visit).count_replayable(&which, visit.now, MOST + 1).await?;
    let mut effects = vec![visit.words.count("deliveries-replay-effect", found.min(MOST))];
    if found > MOST {
        effects.push(visit.say("deliveries-replay-most"));
    }
    effects.push(visit.say("deliveries-replay-same"));
    let confirm = visit
        .confirm(
            visit.query.with(&format!("{LIST}/replay"), "page", None),
            visit.say("deliveries-replay-button"),
            visit.query.with(LIST, "page", None),
        )
        .effects(effects)
        .stays(visit.say("deliveries-replay-stays"));
    let head = Head::new(visit.say("deliveries-replay-title"))
        .crumb(visit.say("nav-start"), "/system")
        .crumb(visit.say("nav-deliveries"), LIST);
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn replay(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let which = chosen(visit).ok_or(Error::NotFound)?;
    let mut replayed: i64 = 0;
    while replayed < MOST {
        let some = visit.change(async |tx| visit.webhooks(tx).replay(&which).await).await?;
        if some == 0 {
            break;
        }
        replayed = replayed.saturating_add_unsigned(some);
    }
    let notice = Notice::good(visit.words.count("deliveries-replayed", replayed));
    visit.redirect(visit.query.with(LIST, "status", None), notice).await
}
