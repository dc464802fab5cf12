//! Which attachments a reader sees: those whose record the reader sees (contract 07 B.4). Each record is found by its
//! id, so that the cost of a row does not depend on the number of records.

use super::{meetings, posts, proposals};
use crate::columns::{Condition, EnumColumn, Expr};
use crate::engine::Db;
use crate::schema::{
    answers, attachments, components, meetings as meeting, posts as post, proposals as proposal,
    questionnaires, spaces, surveys,
};
use crate::tables::planner::CheckedRows;
use crate::tables::select::{RecordSelect, correlated};
use crate::tables::visible_components::VisibleComponents;
use crate::visibility::VisibilityRule;
use civitas_attachments::{AttachmentReader, ParentKind};
use diesel::prelude::*;
use diesel::query_builder::QueryFragment;
use diesel::sql_types::BigInt;

/// The id of this record, or null.
fn found<QS: 'static>(record: RecordSelect) -> Expr<QS, BigInt> {
    Box::new(correlated(record.ids()))
}

/// The records of a table that belong to visible components.
fn visible_in(components: &VisibleComponents, table: &'static str) -> RecordSelect {
    RecordSelect::from_table(table).filter(components.contain_by_id::<()>(table, CheckedRows::Many))
}

/// The meeting with this id, if the reader sees it.
fn seen_meeting(
    reader: &AttachmentReader,
    components: &VisibleComponents,
    is_this: impl QueryFragment<Db> + Send + 'static,
) -> RecordSelect {
    let shown = meetings::is_visible(reader.read_context.viewer).into_iter();
    shown.fold(visible_in(components, "meetings").filter(is_this), RecordSelect::filter)
}

/// Whether the reader sees the record of an attachment.
pub(super) fn is_visible(
    reader: &AttachmentReader,
    components: &VisibleComponents,
) -> Condition<attachments::table> {
    let (viewer, participant) = (reader.read_context.viewer, reader.read_context.participant);
    let is_meeting = meeting::id.nullable().eq(attachments::meeting_id);
    let seen_proposal = visible_in(components, "proposals")
        .filter(proposal::id.nullable().eq(attachments::proposal_id))
        .filter(proposals::is_shown())
        .filter(proposals::published_or_own(participant));
    let seen_post = visible_in(components, "posts")
        .filter(post::id.nullable().eq(attachments::post_id))
        .filter(posts::is_visible(participant, reader.now));
    let seen_space = RecordSelect::from_table("spaces")
        .filter(spaces::manifest.nullable().eq(attachments::space_manifest))
        .filter(spaces::id.nullable().eq(attachments::space_id))
        .filter(VisibilityRule::SpaceIsVisible(viewer));
    let seen = [seen_proposal, seen_meeting(reader, components, is_meeting), seen_post, seen_space];
    let mut seen: Vec<Expr<attachments::table, BigInt>> = seen.into_iter().map(found).collect();
    if reader.reads_answers {
        seen.push(found(seen_answer(reader, components)));
        return any(seen);
    }
    // The condition of an index: files of answers are not read and discarded one by one.
    Box::new(attachments::answer_id.is_null().and(any(seen)))
}

/// The answer of an attachment, if the reader sees its questionnaire. Users who are not administrators see their own
/// answers only.
fn seen_answer(reader: &AttachmentReader, components: &VisibleComponents) -> RecordSelect {
    let (viewer, participant) = (reader.read_context.viewer, reader.read_context.participant);
    let is_meeting = meeting::id.nullable().eq(questionnaires::meeting_id);
    let meeting = found::<questionnaires::table>(seen_meeting(reader, components, is_meeting));
    let survey = RecordSelect::from_table("surveys")
        .filter(surveys::id.nullable().eq(questionnaires::survey_id))
        .filter(surveys::deleted_at.is_null());
    let survey = found::<questionnaires::table>(survey);
    let questionnaire = visible_in(components, "questionnaires")
        .filter(questionnaires::id.eq(answers::questionnaire_id))
        .filter(survey.is_not_null().or(meeting.is_not_null()));
    let answer = RecordSelect::from_table("answers")
        .filter(answers::id.nullable().eq(attachments::answer_id))
        .filter(found::<answers::table>(questionnaire).is_not_null());
    match participant.filter(|_| !viewer.is_admin()) {
        None => answer,
        Some(user) => answer.filter(answers::user_id.eq(user.0)),
    }
}

/// Whether the record of an attachment is neither deleted nor hidden, in a component that is not deleted.
pub(super) fn shown_to_all() -> Condition<attachments::table> {
    let in_use = || components::table.filter(components::deleted_at.is_null()).select(components::id);
    let shown_meeting = RecordSelect::from_table("meetings")
        .filter(meeting::id.nullable().eq(attachments::meeting_id))
        .filter(meeting::component_id.eq_any(in_use()))
        .filter(meeting::hidden_at.is_null())
        .filter(meeting::deleted_at.is_null());
    let shown_proposal = RecordSelect::from_table("proposals")
        .filter(proposal::id.nullable().eq(attachments::proposal_id))
        .filter(proposal::component_id.eq_any(in_use()))
        .filter(proposals::is_shown());
    let shown_post = RecordSelect::from_table("posts")
        .filter(post::id.nullable().eq(attachments::post_id))
        .filter(post::component_id.eq_any(in_use()))
        .filter(posts::is_shown());
    let mut shown: Vec<Expr<attachments::table, BigInt>> =
        [shown_proposal, shown_meeting, shown_post].into_iter().map(found).collect();
    shown.push(Box::new(attachments::space_id));
    shown.push(Box::new(attachments::answer_id));
    any(shown)
}

/// Whether the record is the organization, or one of these is found.
fn any(found: Vec<Expr<attachments::table, BigInt>>) -> Condition<attachments::table> {
    let of_organization: Condition<attachments::table> =
        Box::new(attachments::attached_to_type.eq(EnumColumn(ParentKind::Organization)).nullable());
    found.into_iter().fold(of_organization, |some, next| Box::new(some.or(next.is_not_null())))
}
