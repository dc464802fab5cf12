//! `/meetings` (contract 06 §5).

use crate::answers;
use crate::document::OperationDoc;
use crate::links::{ComponentRecord, MeetingLinks, MeetingRelationships, RecordNames};
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use crate::shapes::{CreationDate, EditionDate, MeetingType, TranslatedProp, iso_seconds};
use civitas_application::RenderContext;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{Ability, MeetingId, Order, SortColumn};
use civitas_meetings::{MEETING_FIELDS, MeetingDetail, Meetings, READ_MEETINGS};
use serde::Serialize;
use utoipa::ToSchema;

/// The lists whose removals change `Last-Modified` of a list of meetings: a removed role hides private ones.
const LISTS: &[&str] = &["meetings", "components", "spaces", "roles"];
const NAMES: RecordNames = RecordNames {
    path: "meetings",
    component_kind: "meetings",
    component_type: "meeting_component",
    label: "Meetings",
    neighbour: "Meeting",
};

/// A meeting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = meeting)]
pub(crate) struct MeetingView {
    id: String,
    r#type: MeetingType,
    attributes: MeetingAttributes,
    relationships: MeetingRelationships,
    links: MeetingLinks,
}

/// The content of a meeting. Members may be added later.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = meeting_attributes)]
struct MeetingAttributes {
    created_at: CreationDate,
    updated_at: EditionDate,
    title: TranslatedProp,
    description: TranslatedProp,
    /// When it begins.
    #[schema(format = "date-time")]
    start_time: String,
    /// When it ends; null if not set.
    #[schema(format = "date-time", required)]
    end_time: Option<String>,
    /// Only for clients that may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    extended_data: Option<ExtendedDataValue>,
}

pub(crate) fn routes(routes: &mut Routes) {
    let read = |doc: OperationDoc| {
        doc.with_component_read_parameters(&["start_time", "id", "created_at", "updated_at", "rand"])
    };
    let list = read(OperationDoc::page::<MeetingView>("Lists the meetings").with_page_parameters())
        .with_filters(MEETING_FIELDS);
    routes.read("listMeetings", "/meetings", READ_MEETINGS, list.at_replicas(), index);
    let show = read(OperationDoc::item::<MeetingView>("Shows a meeting"));
    routes.read("getMeeting", "/meetings/{id}", READ_MEETINGS, show.at_replicas(), show_one);
}

async fn index(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("start_time", &SortColumn::COMMON)?);
    let store = request.list_store(Ability::MeetingsExtendedDataRead)?;
    let meetings = Meetings { store: store.meetings() };
    let page =
        meetings.list(context.ctx, within, &request.filter()?, order, request.page_in_own_order()).await?;
    let (shuffled, view) = (order == Order::Random, |meeting| view(&context, meeting));
    answers::page_reply(&request, LISTS, page, shuffled, |meeting| meeting.changed_at, view).await
}

/// A single meeting has no neighbours, so the order has no effect; an invalid order is an error nevertheless.
async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let within = request.query.within()?;
    request.query.order("start_time", &SortColumn::COMMON)?;
    let meetings = Meetings { store: request.ports().meetings() };
    let found = meetings.find(context.ctx, MeetingId(request.id()?), within).await?;
    answers::record_reply(&request, LISTS, found.changed_at, view(&context, found)).await
}

/// A meeting as visible to the caller.
pub(crate) fn view(context: &RenderContext<'_>, meeting: MeetingDetail) -> MeetingView {
    let locales = context.locales();
    let component_context = &meeting.context;
    let (space, component, component_name) =
        (component_context.space, component_context.component, &component_context.name);
    let record =
        ComponentRecord { context, names: NAMES, id: meeting.id.0, space, component, component_name };
    let may_read_data = context.ctx.may(Ability::MeetingsExtendedDataRead);
    MeetingView {
        id: meeting.id.to_string(),
        r#type: MeetingType,
        relationships: MeetingRelationships(record.relationships()),
        links: MeetingLinks(record.links()),
        attributes: MeetingAttributes {
            created_at: CreationDate(meeting.created_at),
            updated_at: EditionDate(meeting.updated_at),
            title: TranslatedProp(meeting.title.in_locales(locales)),
            description: TranslatedProp(meeting.description.in_locales(locales)),
            start_time: iso_seconds(meeting.start_time),
            end_time: meeting.end_time.map(iso_seconds),
            extended_data: may_read_data.then_some(meeting.extended_data),
        },
    }
}
