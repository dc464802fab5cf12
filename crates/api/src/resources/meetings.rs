//! `/meetings` (contract 06 §5).

use crate::document::{Doc, Holds};
use crate::links::{LinkMeta, ResourceLink, base, origin};
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::resources::newest;
use crate::route::{Answer, Routes};
use crate::shapes::{
    ComponentIdentifier, CreationDate, EditionDate, Identifier, ToComponent, ToOne, TranslatedProp, iso,
};
use civitas_application::RenderContext;
use civitas_kernel::{Ability, MeetingId, Order};
use civitas_meetings::{MEETING_FIELDS, MeetingDetail, Meetings, READ_MEETINGS};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The lists whose losses age a list of meetings: a role that is lost hides private ones.
const LISTS: &[&str] = &["meetings", "components", "spaces", "roles"];

/// A meeting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = meeting)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeetingView {
    id: String,
    #[serde(rename = "type")]
    kind: MeetingType,
    attributes: MeetingAttributes,
    relationships: MeetingRelationships,
    links: MeetingLinks,
}

/// The type of a meeting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = meeting_object_type)]
#[serde(rename_all = "snake_case")]
enum MeetingType {
    /// `meeting`
    Meeting,
}

/// What a meeting says. Others may come later: the set is open.
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
    /// When it ends; null where that is not known.
    #[schema(format = "date-time", required)]
    end_time: Option<String>,
    /// Only for clients that may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    extended_data: Option<Map<String, Value>>,
}

/// What a meeting belongs to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = meeting_relationships)]
#[serde(deny_unknown_fields)]
struct MeetingRelationships {
    space: ToOne,
    component: ToComponent,
}

/// Where to go on from a meeting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = meeting_links)]
#[serde(deny_unknown_fields)]
struct MeetingLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    collection: ResourceLink,
    related: ResourceLink,
}

pub(crate) fn routes(routes: &mut Routes) {
    let context = |doc: Doc| {
        let doc = doc.locales().within_space().with("component_id", Holds::Integer);
        doc.order(&["start_time", "rand"]).fails(400)
    };
    let list = context(Doc::new("Lists the meetings", "meeting_index_response").pages());
    let list = list.filters(MEETING_FIELDS);
    routes.read("listMeetings", "/meetings", READ_MEETINGS, list, index);
    let show = context(Doc::new("Shows a meeting", "meeting_item_response")).fails(404);
    routes.read("getMeeting", "/meetings/{id}", READ_MEETINGS, show, show_one);
}

async fn index(request: Request) -> Answer {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("start_time")?);
    let meetings = Meetings { store: request.ports().meetings() };
    let page = meetings.list(context.ctx, within, &query.filter()?, order, query.page()).await?;
    let changed_at = newest(&request, LISTS, page.items.iter().map(|m| m.changed_at)).await?;
    let page = page.map(|meeting| view(&context, meeting));
    Ok(Reply::list(&request, page, order == Order::Random, changed_at)?)
}

/// One meeting has no neighbours, so an order changes nothing; a wrong one is refused all the same.
async fn show_one(request: Request) -> Answer {
    let context = request.render_context()?;
    let within = request.query.within()?;
    request.query.order("start_time")?;
    let meetings = Meetings { store: request.ports().meetings() };
    let found = meetings.find(context.ctx, MeetingId(request.id()?), within).await?;
    let changed_at = newest(&request, LISTS, [found.changed_at].into_iter()).await?;
    Ok(Reply::read(&request, &Document { data: view(&context, found) }, changed_at)?)
}

/// A meeting as its caller reads it.
fn view(context: &RenderContext<'_>, meeting: MeetingDetail) -> MeetingView {
    let locales = context.locales();
    let place = &meeting.place;
    let may_read_data = context.ctx.may(Ability::MeetingsExtendedDataRead);
    MeetingView {
        id: meeting.id.to_string(),
        kind: MeetingType::Meeting,
        relationships: MeetingRelationships {
            space: ToOne { data: Identifier::new(place.space.id, place.space.manifest.as_str()) },
            component: ToComponent { data: ComponentIdentifier::new(place.component, "meeting_component") },
        },
        links: links(context, &meeting),
        attributes: MeetingAttributes {
            created_at: CreationDate(meeting.created_at),
            updated_at: EditionDate(meeting.updated_at),
            title: TranslatedProp(meeting.title.only(locales)),
            description: TranslatedProp(meeting.description.only(locales)),
            start_time: iso(meeting.start_time),
            end_time: meeting.end_time.map(iso),
            extended_data: may_read_data.then_some(meeting.extended_data),
        },
    }
}

fn links(context: &RenderContext<'_>, meeting: &MeetingDetail) -> MeetingLinks {
    let (id, place) = (meeting.id, &meeting.place);
    let meta = LinkMeta::of_component(place.space, place.component, "meetings");
    let api = |href, title| ResourceLink::new(href, title, meta.about(id));
    let component = origin(context, format_args!("/public/components/{}", place.component));
    let name = place.name.title(context.tenant.default_locale).unwrap_or("Related component");
    MeetingLinks {
        this: api(base(context, format_args!("/meetings/{id}")), "Meetings Details"),
        collection: api(base(context, format_args!("/meetings")), "Meetings List"),
        related: ResourceLink::new(component, name, meta.clone()),
    }
}
