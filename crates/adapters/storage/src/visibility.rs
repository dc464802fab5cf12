//! Visibility and participation: the rules of contract 05 §1.3 and §1.4 as SQL. A [`VisibilityRule`] is a condition on the rows
//! of `spaces` and `components` in the statement that has it. Records of a component are read in two steps
//! (docs/decisions/0021): the components by [`VisibilityRule::ComponentIsVisible`], then the table of the records. Conditions of
//! that table (hidden, deleted, unpublished records) are not part of the rules here.

use crate::columns::expressions;
use crate::engine::Db;
use civitas_kernel::{LocationFilter, UserId, Viewer};
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Bool, Nullable};

/// A condition on the tables of a statement; each variant names the tables it requires.
#[derive(Debug, Clone, Copy)]
pub(crate) enum VisibilityRule {
    /// The viewer may read the space. Requires `spaces`.
    SpaceIsVisible(Viewer),
    /// The viewer may read the component, and so its space. Requires `components` and `spaces`.
    ComponentIsVisible(Viewer),
    /// The viewer may read the meeting, if it is published and its component is visible. Requires `meetings` only.
    MeetingIsOpen(Viewer),
    /// The survey of the questionnaire is not deleted, or the viewer may read its meeting, if its component is visible.
    /// Requires `questionnaires` only.
    QuestionnaireIsOpen(Viewer),
    /// This account has a role in the component's space. Requires `components`.
    HasRole(UserId),
    /// The component's space is one a read is restricted to; the statement itself compares the component, with the
    /// column of its index. Requires `components`.
    IsWithin(LocationFilter),
    /// This account, if there is one, may write and vote in the space. Requires `spaces`.
    Participates(Option<UserId>),
}

expressions! { VisibilityRule: Nullable<Bool>; }

impl QueryFragment<Db> for VisibilityRule {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("(");
        match self {
            Self::SpaceIsVisible(viewer) => space_is_visible(viewer, &mut pass)?,
            Self::ComponentIsVisible(viewer) => component_is_visible(viewer, &mut pass)?,
            Self::MeetingIsOpen(viewer) => meeting_is_open(viewer, &mut pass)?,
            Self::QuestionnaireIsOpen(viewer) => questionnaire_is_open(viewer, &mut pass)?,
            Self::HasRole(user) => {
                pass.push_sql("components.id IN (");
                pass.push_sql(COMPONENTS_WITH_ROLE);
                pass.push_bind_param::<BigInt, _>(&user.0)?;
                pass.push_sql(")");
            }
            Self::IsWithin(within) => is_within(within, &mut pass)?,
            Self::Participates(None) => pass.push_sql("FALSE"),
            Self::Participates(Some(user)) => {
                pass.push_sql("spaces.published_at IS NOT NULL AND (spaces.visibility = 'public' OR ");
                pass.push_sql(IS_MEMBER);
                pass.push_bind_param::<BigInt, _>(&user.0)?;
                pass.push_sql(
                    ") OR EXISTS (SELECT 1 FROM users AS account WHERE account.admin AND account.id = ",
                );
                pass.push_bind_param::<BigInt, _>(&user.0)?;
                pass.push_sql("))");
            }
        }
        pass.push_sql(")");
        Ok(())
    }
}

/// Administrators also see unpublished processes and assemblies, and private ones without membership.
fn space_is_visible<'b>(viewer: &'b Viewer, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
    match viewer {
        Viewer::Public => {
            pass.push_sql("spaces.published_at IS NOT NULL AND spaces.visibility <> 'private'");
        }
        Viewer::Participant(user) => {
            pass.push_sql("spaces.published_at IS NOT NULL AND (spaces.visibility <> 'private' OR ");
            pass.push_sql(IS_MEMBER);
            pass.push_bind_param::<BigInt, _>(&user.0)?;
            pass.push_sql("))");
        }
        Viewer::Admin(_) => pass.push_sql(
            "(spaces.published_at IS NOT NULL OR spaces.manifest IN ('participatory_processes', 'assemblies'))",
        ),
    }
    Ok(())
}

/// Administrators also see unpublished ones.
fn component_is_visible<'b>(viewer: &'b Viewer, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
    space_is_visible(viewer, pass)?;
    pass.push_sql(" AND components.deleted_at IS NULL");
    if !viewer.is_admin() {
        pass.push_sql(" AND components.published_at IS NOT NULL");
    }
    Ok(())
}

/// Append a rule on meetings.
const MEETING_IS_SHOWN: &str = " AND meetings.published_at IS NOT NULL AND meetings.hidden_at IS NULL AND meetings.deleted_at IS NULL AND ";

/// Scalar subqueries: PostgreSQL reads all surveys and meetings for `EXISTS`, to hash them.
fn questionnaire_is_open<'b>(viewer: &'b Viewer, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
    pass.push_sql(
        "(SELECT surveys.id FROM surveys WHERE surveys.id = questionnaires.survey_id AND surveys.deleted_at IS NULL) \
         IS NOT NULL OR (SELECT meetings.id FROM meetings WHERE meetings.id = questionnaires.meeting_id",
    );
    pass.push_sql(MEETING_IS_SHOWN);
    meeting_is_open(viewer, pass)?;
    pass.push_sql(") IS NOT NULL");
    Ok(())
}

/// Private ones that are not transparent: only the registered, holders of any role in the space, and administrators.
fn meeting_is_open<'b>(viewer: &'b Viewer, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
    match viewer {
        Viewer::Public => pass.push_sql("(NOT meetings.private OR meetings.transparent)"),
        Viewer::Participant(user) => {
            pass.push_sql(
                "(NOT meetings.private OR meetings.transparent OR EXISTS (\
                 SELECT 1 FROM meeting_registrations AS registration \
                 WHERE registration.meeting_id = meetings.id AND registration.user_id = ",
            );
            pass.push_bind_param::<BigInt, _>(&user.0)?;
            pass.push_sql(") OR meetings.component_id IN (");
            pass.push_sql(COMPONENTS_WITH_ROLE);
            pass.push_bind_param::<BigInt, _>(&user.0)?;
            pass.push_sql("))");
        }
        Viewer::Admin(_) => pass.push_sql("TRUE"),
    }
    Ok(())
}

fn is_within<'b>(within: &'b LocationFilter, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
    pass.push_sql("TRUE");
    if let Some(kind) = within.space_kind {
        // A value of a closed list, without quotes in it.
        pass.push_sql(" AND components.space_manifest = '");
        pass.push_sql(kind.as_str());
        pass.push_sql("'");
    }
    if let Some(space) = &within.space_id {
        pass.push_sql(" AND components.space_id = ");
        pass.push_bind_param::<BigInt, _>(space)?;
    }
    Ok(())
}

/// The components of the spaces in which an account has any role whose invitation, if there was one, is accepted. It
/// uses no table of the outer statement, so that it is read once for a statement. Append the account and a closing
/// bracket.
const COMPONENTS_WITH_ROLE: &str = "SELECT held.id FROM roles AS appointment INNER JOIN components AS held \
    ON held.space_manifest = appointment.space_manifest AND held.space_id = appointment.space_id \
    WHERE (appointment.invited_at IS NULL OR appointment.accepted_at IS NOT NULL) AND appointment.user_id = ";

/// A private member whose invitation, if there was one, is accepted; other roles are ignored. Append the account and a
/// closing bracket.
const IS_MEMBER: &str = "EXISTS (SELECT 1 FROM roles AS membership \
    WHERE membership.space_manifest = spaces.manifest AND membership.space_id = spaces.id \
    AND membership.kind = 'space_private_member' \
    AND (membership.invited_at IS NULL OR membership.accepted_at IS NOT NULL) AND membership.user_id = ";
