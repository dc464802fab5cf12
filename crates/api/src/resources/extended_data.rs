//! The `extended_data` routes of every kind of record (contract 01 §11).

use crate::document::{Doc, Holds};
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::route::{Answer, Routes, Write};
use actix_web::http::{Method, StatusCode};
use civitas_application::Registry;
use civitas_extended_data::{
    ExtendedData, Kind, ObjectPath, OfComponent, OfMeeting, OfOrganization, OfProposal, OfSpace, OfUser,
    SetExtendedData,
};
use civitas_kernel::{
    ComponentId, Error, MeetingId, OrganizationId, ProposalId, Result, SpaceManifest, SpaceRef, UserId,
};
use serde_json::{Value, json};

/// A kind of record, as the interface knows it.
trait Exposed: Kind {
    /// The ids of the read, the asynchronous write and its `/sync` twin.
    const IDS: [&'static str; 3];
    /// The paths of both writes; the read is at the first.
    const PATHS: [&'static str; 2];
    /// The schema of the answer.
    const ANSWER: &'static str;
    /// Whether a write without a path writes at the root.
    const ROOT_BY_DEFAULT: bool;
    /// Which record a request is about.
    fn id(request: &Request) -> Result<Self::Id>;
}

impl Exposed for OfOrganization {
    const IDS: [&'static str; 3] =
        ["getOrganizationExtendedData", "setOrganizationExtendedDataAsync", "setOrganizationExtendedData"];
    const PATHS: [&'static str; 2] =
        ["/organizations/{id}/extended_data", "/organizations/{id}/extended_data/sync"];
    const ANSWER: &'static str = "organization_extended_data";
    const ROOT_BY_DEFAULT: bool = true;

    fn id(request: &Request) -> Result<OrganizationId> {
        // What is no number is no organization of this host either.
        request.id().map(OrganizationId).map_err(|_| Error::Forbidden)
    }
}

impl Exposed for OfUser {
    const IDS: [&'static str; 3] = ["getUserExtendedData", "setUserExtendedData", "setUserExtendedDataSync"];
    const PATHS: [&'static str; 2] = ["/me/extended_data", "/me/extended_data/sync"];
    const ANSWER: &'static str = "user_extended_data";
    const ROOT_BY_DEFAULT: bool = true;

    fn id(request: &Request) -> Result<UserId> {
        Ok(request.ctx()?.user()?.id)
    }
}

impl Exposed for OfSpace {
    const IDS: [&'static str; 3] =
        ["getSpaceExtendedData", "setSpaceExtendedDataAsync", "setSpaceExtendedData"];
    const PATHS: [&'static str; 2] =
        ["/spaces/{manifest}/{id}/extended_data", "/spaces/{manifest}/{id}/extended_data/sync"];
    const ANSWER: &'static str = "resource_extended_data";
    const ROOT_BY_DEFAULT: bool = false;

    fn id(request: &Request) -> Result<SpaceRef> {
        let manifest = SpaceManifest::parse(request.segment("manifest")).ok_or(Error::NotFound)?;
        Ok(SpaceRef { manifest, id: request.id()? })
    }
}

impl Exposed for OfComponent {
    const IDS: [&'static str; 3] =
        ["getComponentExtendedData", "setComponentExtendedDataAsync", "setComponentExtendedData"];
    const PATHS: [&'static str; 2] =
        ["/components/{id}/extended_data", "/components/{id}/extended_data/sync"];
    const ANSWER: &'static str = "resource_extended_data";
    const ROOT_BY_DEFAULT: bool = false;

    fn id(request: &Request) -> Result<ComponentId> {
        request.id().map(ComponentId)
    }
}

impl Exposed for OfProposal {
    const IDS: [&'static str; 3] =
        ["getProposalExtendedData", "setProposalExtendedDataAsync", "setProposalExtendedData"];
    const PATHS: [&'static str; 2] = ["/proposals/{id}/extended_data", "/proposals/{id}/extended_data/sync"];
    const ANSWER: &'static str = "resource_extended_data";
    const ROOT_BY_DEFAULT: bool = false;

    fn id(request: &Request) -> Result<ProposalId> {
        request.id().map(ProposalId)
    }
}

impl Exposed for OfMeeting {
    const IDS: [&'static str; 3] =
        ["getMeetingExtendedData", "setMeetingExtendedDataAsync", "setMeetingExtendedData"];
    const PATHS: [&'static str; 2] = ["/meetings/{id}/extended_data", "/meetings/{id}/extended_data/sync"];
    const ANSWER: &'static str = "resource_extended_data";
    const ROOT_BY_DEFAULT: bool = false;

    fn id(request: &Request) -> Result<MeetingId> {
        request.id().map(MeetingId)
    }
}

pub(crate) fn routes(routes: &mut Routes) {
    expose::<OfOrganization>(routes);
    expose::<OfUser>(routes);
    expose::<OfSpace>(routes);
    expose::<OfComponent>(routes);
    expose::<OfProposal>(routes);
    expose::<OfMeeting>(routes);
}

/// `limit` is the most one record may have, in bytes of compact JSON.
pub(crate) fn commands(to: Registry, limit: Option<usize>) -> Registry {
    let to = register::<OfOrganization>(to, limit);
    let to = register::<OfUser>(to, limit);
    let to = register::<OfSpace>(to, limit);
    let to = register::<OfComponent>(to, limit);
    let to = register::<OfProposal>(to, limit);
    register::<OfMeeting>(to, limit)
}

fn expose<K: Exposed>(routes: &mut Routes) {
    let [read_id, later_id, now_id] = K::IDS;
    let doc = Doc::new("Reads extended data at a path", K::ANSWER)
        .with("object_path", Holds::Text)
        .noting("`object_path` is required. Where nothing stands, `data` is `{}`.");
    routes.read(read_id, K::PATHS[0], K::READ, doc.fails(400).fails(404), read::<K>);
    routes.write(Write {
        ids: [later_id, now_id],
        method: Method::PUT,
        paths: K::PATHS,
        status: StatusCode::OK,
        read: read_write::<K>,
        doc: || {
            let doc = Doc::new("Writes extended data at a path", K::ANSWER);
            doc.with("object_path", Holds::Text).takes("extended_data_body").fails(400).fails(404)
        },
    });
}

fn register<K: Exposed>(to: Registry, limit: Option<usize>) -> Registry {
    to.on::<SetExtendedData<K>>(
        move |p| Box::new(ExtendedData { store: p.extended_data(), limit }),
        |_, data| json!(Document { data }),
    )
}

async fn read<K: Exposed>(request: Request) -> Answer {
    let path = required(request.query.get("object_path"))?;
    let service = ExtendedData { store: request.ports().extended_data(), limit: None };
    let (data, kept) = service.read::<K>(request.ctx()?, K::id(&request)?, &path).await?;
    Ok(Reply::read(&request, &Document { data }, kept.updated_at)?)
}

/// The path stands in the body, or else behind the `?`.
fn read_write<K: Exposed>(request: &Request) -> Result<SetExtendedData<K>> {
    let id = K::id(request)?;
    let sent = match request.body.get("object_path") {
        None | Some(Value::Null) => request.query.get("object_path"),
        Some(Value::String(path)) => Some(path.as_str()),
        Some(_) => return Err(Error::rejected("Invalid object_path")),
    };
    let path = match sent {
        None if K::ROOT_BY_DEFAULT => ObjectPath::root(),
        Some(path) if K::ROOT_BY_DEFAULT && path.trim().is_empty() => ObjectPath::root(),
        sent => required(sent)?,
    };
    let data = request.body.get("data").cloned().ok_or_else(|| Error::missing("data"))?;
    Ok(SetExtendedData { id, path, data })
}

fn required(path: Option<&str>) -> Result<ObjectPath> {
    let path = path.filter(|path| !path.trim().is_empty()).ok_or_else(|| Error::missing("object_path"))?;
    ObjectPath::parse(path)
}
