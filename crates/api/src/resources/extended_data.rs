//! The `extended_data` routes of every kind of record (contract 01 §11).

use crate::document::{OperationDoc, ParameterType};
use crate::reply::{Document, Reply};
use crate::request::Request;
use crate::route::{HandlerResult, Routes, WriteRoute, put};
use crate::typed_body::{Body, RawBody};
use civitas_extended_data::{
    ComponentExtendedData, ExtendedDataKind, ExtendedDataService, MeetingExtendedData, ObjectPath,
    OrganizationExtendedData, ProposalExtendedData, SetExtendedData, SpaceExtendedData, UserExtendedData,
};
use civitas_kernel::limits::MAX_EXTENDED_DATA_BYTES;
use civitas_kernel::{
    ComponentId, Error, MeetingId, OrganizationId, ProposalId, Result, SpaceKind, SpaceRef, UserId,
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};

/// The pattern of a path: 1 to 50 keys joined with dots, or a dot. The first key has a character that is not a space: a
/// path of spaces alone is missing.
const OBJECT_PATH: &str = r"^(\.|[^.]*[^.\s][^.]*(\.[^.]+){0,49})$";
/// The pattern of a path that may be missing.
const OBJECT_PATH_OR_BLANK: &str = r"^(\.?|[^.]+(\.[^.]+){0,49})$";

/// The routes of a kind of record with extended data.
trait ExtendedDataRoutes: ExtendedDataKind {
    /// The ids of the read, the asynchronous and the synchronous write.
    const IDS: [&'static str; 3];
    /// The path of the read and of the asynchronous write.
    const PATH: &'static str;
    /// The schema of the answer.
    const ANSWER: &'static str = "resource_extended_data";
    /// The body of a write.
    type Body: Body + Into<DataToSet>;
    /// Whether a write without a path writes at the root.
    const ROOT_BY_DEFAULT: bool = false;
    /// Returns the record of a request.
    fn id(request: &Request) -> Result<Self::Id>;
}

impl ExtendedDataRoutes for OrganizationExtendedData {
    const IDS: [&'static str; 3] =
        ["getOrganizationExtendedData", "setOrganizationExtendedDataAsync", "setOrganizationExtendedData"];
    const PATH: &'static str = "/organizations/{id}/extended_data";
    const ANSWER: &'static str = "organization_extended_data";
    type Body = DataToSetAtRoot;
    const ROOT_BY_DEFAULT: bool = true;

    fn id(request: &Request) -> Result<OrganizationId> {
        // A text that is not a number is not the id of an organization either.
        request.id().map(OrganizationId).map_err(|_| Error::Forbidden)
    }
}

impl ExtendedDataRoutes for UserExtendedData {
    const IDS: [&'static str; 3] = ["getUserExtendedData", "setUserExtendedData", "setUserExtendedDataSync"];
    const PATH: &'static str = "/me/extended_data";
    const ANSWER: &'static str = "user_extended_data";
    type Body = DataToSetAtRoot;
    const ROOT_BY_DEFAULT: bool = true;

    fn id(request: &Request) -> Result<UserId> {
        Ok(request.ctx()?.user()?.id)
    }
}

impl ExtendedDataRoutes for SpaceExtendedData {
    const IDS: [&'static str; 3] =
        ["getSpaceExtendedData", "setSpaceExtendedDataAsync", "setSpaceExtendedData"];
    const PATH: &'static str = "/spaces/{manifest}/{id}/extended_data";
    type Body = DataToSet;

    fn id(request: &Request) -> Result<SpaceRef> {
        let kind = SpaceKind::parse(request.segment("manifest")).ok_or(Error::NotFound)?;
        Ok(SpaceRef { kind, id: request.id()? })
    }
}

macro_rules! extended_data_by_id {
    ($kind:ident, $id:ident, $name:literal, $collection:literal) => {
        impl ExtendedDataRoutes for $kind {
            const IDS: [&'static str; 3] = [
                concat!("get", $name, "ExtendedData"),
                concat!("set", $name, "ExtendedDataAsync"),
                concat!("set", $name, "ExtendedData"),
            ];
            const PATH: &'static str = concat!("/", $collection, "/{id}/extended_data");
            type Body = DataToSet;

            fn id(request: &Request) -> Result<$id> {
                request.id().map($id)
            }
        }
    };
}

extended_data_by_id!(ComponentExtendedData, ComponentId, "Component", "components");
extended_data_by_id!(ProposalExtendedData, ProposalId, "Proposal", "proposals");
extended_data_by_id!(MeetingExtendedData, MeetingId, "Meeting", "meetings");

pub(crate) fn routes(routes: &mut Routes) {
    add_routes::<OrganizationExtendedData>(routes);
    add_routes::<UserExtendedData>(routes);
    add_routes::<SpaceExtendedData>(routes);
    add_routes::<ComponentExtendedData>(routes);
    add_routes::<ProposalExtendedData>(routes);
    add_routes::<MeetingExtendedData>(routes);
}

/// A value, and where to write it.
#[derive(Deserialize, ToSchema)]
#[schema(as = extended_data_body, examples(json!({"object_path": "contact", "data": {"phone": "+33"}})))]
struct DataToSet {
    /// Any JSON. Blank values remove: null, empty text, `[]`, `{}`.
    #[schema(value_type = Value, required)]
    data: Option<Value>,
    /// Keys joined with dots; `.` is the root. May be a query parameter instead.
    #[schema(schema_with = path, required = false)]
    object_path: Option<Value>,
}

/// A value, and where to write it: by default at the root.
#[derive(Deserialize, ToSchema)]
#[schema(as = extended_data_root_body, examples(json!({"object_path": "contact", "data": {"phone": "+33"}})))]
struct DataToSetAtRoot {
    /// Any JSON. Blank values remove: null, empty text, `[]`, `{}`.
    #[schema(value_type = Value, required)]
    data: Option<Value>,
    /// Keys joined with dots; `.` is the root. May be a query parameter instead.
    #[schema(schema_with = path_or_nothing, required = false)]
    object_path: Option<Value>,
}

impl From<DataToSetAtRoot> for DataToSet {
    fn from(DataToSetAtRoot { data, object_path }: DataToSetAtRoot) -> Self {
        Self { data, object_path }
    }
}

fn path() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(OBJECT_PATH))
}

fn path_or_nothing() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(OBJECT_PATH_OR_BLANK))
}

fn add_routes<K: ExtendedDataRoutes>(routes: &mut Routes) {
    let [read_id, later_id, now_id] = K::IDS;
    let doc = |summary| OperationDoc::new(summary, K::ANSWER).with_failure(404);
    let doc_of_read = doc("Reads extended data at a path")
        .with_required_parameter("object_path", ParameterType::Pattern(OBJECT_PATH));
    let note = "`object_path` is required. Where nothing stands, `data` is `{}`.";
    routes.read(read_id, K::PATH, K::READ, doc_of_read.with_note(note), read::<K>);
    let pattern = if K::ROOT_BY_DEFAULT { OBJECT_PATH_OR_BLANK } else { OBJECT_PATH };
    let write =
        doc("Writes extended data at a path").with_parameter("object_path", ParameterType::Pattern(pattern));
    routes.write(&WriteRoute {
        operations: put([later_id, now_id], K::PATH),
        read: set::<K>,
        use_case: |ports, limits| {
            Box::new(ExtendedDataService { store: ports.extended_data(), limit: limits.extended_data })
        },
        view: |_, data| json!(Document { data }),
        doc: if K::ROOT_BY_DEFAULT {
            write
        } else {
            write.with_note("`object_path` is required, in the body or in the query.")
        },
    });
}

async fn read<K: ExtendedDataRoutes>(request: Request) -> HandlerResult {
    let path = required(request.query.get("object_path"))?;
    let service =
        ExtendedDataService { store: request.ports().extended_data(), limit: MAX_EXTENDED_DATA_BYTES };
    let (data, kept) = service.read::<K>(request.ctx()?, K::id(&request)?, &path).await?;
    Ok(Reply::for_read(&request, &Document { data }, kept.updated_at)?)
}

/// The path is a member of the body, else a query parameter.
fn set<K: ExtendedDataRoutes>(request: &Request, sent: RawBody<'_, K::Body>) -> Result<SetExtendedData<K>> {
    let id = K::id(request)?;
    let DataToSet { data, object_path } = sent.read()?.into();
    let path = match &object_path {
        None | Some(Value::Null) => request.query.get("object_path"),
        Some(Value::String(path)) => Some(path.as_str()),
        Some(_) => return Err(Error::rejected("Invalid object_path")),
    };
    let path = match path {
        None if K::ROOT_BY_DEFAULT => ObjectPath::root(),
        Some(path) if K::ROOT_BY_DEFAULT && path.trim().is_empty() => ObjectPath::root(),
        path => required(path)?,
    };
    let data = data.ok_or_else(|| Error::missing("data"))?;
    Ok(SetExtendedData { id, path, data })
}

fn required(path: Option<&str>) -> Result<ObjectPath> {
    let path = path.filter(|path| !path.trim().is_empty()).ok_or_else(|| Error::missing("object_path"))?;
    ObjectPath::parse(path)
}
