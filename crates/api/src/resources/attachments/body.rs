//! The bodies of writes of attachments: flat, or in `data.attributes` (contract 07 B.5, B.7).

use crate::request::Request;
use crate::shapes::read_translated;
use crate::typed_body::check_keys;
use civitas_attachments::{
    AttachFile, AttachmentEdit, AttachmentParent, AttachmentSource, CollectionChoice, ParentKind, SentText,
};
use civitas_kernel::{AttachmentId, CollectionId, Error, FieldError, Locales, Result, integer};
use serde_json::{Map, Value};

/// The members of a body, by name.
type Members = Map<String, Value>;

const EDITABLE: [&str; 4] = ["title", "description", "weight", "attachment_collection_id"];
const OF_NEW: [&str; 3] = ["signed_id", "attached_to_type", "attached_to_id"];

/// The members of a new attachment.
///
/// # Errors
/// `Unknown key: ..`.
pub(super) fn attachment_members(body: &Value) -> Result<&Members> {
    let (members, at) = members_of(body, None)?;
    check_keys(members, at, |name| EDITABLE.contains(&name) || OF_NEW.contains(&name))?;
    Ok(members)
}

/// The members to change.
///
/// # Errors
/// `The file cannot be replaced`, `Unknown key: ..`.
pub(super) fn update_members(body: &Value, id: AttachmentId) -> Result<&Members> {
    let (members, at) = members_of(body, Some(id))?;
    if members.contains_key("file") || members.contains_key("signed_id") {
        return Err(Error::rejected("The file cannot be replaced"));
    }
    check_keys(members, at, |name| EDITABLE.contains(&name))?;
    Ok(members)
}

/// The object with the members, and its position.
fn members_of(body: &Value, id: Option<AttachmentId>) -> Result<(&Members, &'static str)> {
    let Some(body) = body.as_object() else { return Err(Error::missing("data")) };
    let Some(data) = body.get("data") else { return Ok((body, "")) };
    check_keys(body, "", |name| name == "data")?;
    let data = data.as_object().ok_or_else(|| Error::missing("data"))?;
    check_keys(data, "data.", |name| matches!(name, "type" | "attributes") || name == "id" && id.is_some())?;
    if data.get("type").is_some_and(|sent| sent != "attachment") {
        return Err(Error::rejected("data.type must be attachment"));
    }
    let is_other = |sent: &Value| {
        id.is_some_and(|id| sent != &Value::from(id.0) && sent != &Value::from(id.to_string()))
    };
    if data.get("id").is_some_and(is_other) {
        return Err(Error::rejected("data.id does not match"));
    }
    let attributes = data.get("attributes").and_then(Value::as_object);
    Ok((attributes.ok_or_else(|| Error::missing("attributes"))?, "data.attributes."))
}

/// A new attachment of these members.
///
/// # Errors
/// `MissingParameter`, `Unknown attached_to_type: ..`, `Unknown key: ..`.
pub(super) fn new_attachment(
    request: &Request,
    members: &Members,
    source: AttachmentSource,
) -> Result<AttachFile> {
    check_keys(members, "", |name| EDITABLE.contains(&name) || OF_NEW.contains(&name))?;
    let kind = filled(members, "attached_to_type").ok_or_else(|| Error::missing("attached_to_type"))?;
    let kind = kind
        .as_str()
        .and_then(|name| ParentKind::from_name(&request.class_names().from_wire(name)))
        .ok_or_else(|| {
        let name = kind.as_str().map_or_else(|| kind.to_string(), str::to_owned);
        Error::rejected(format!("Unknown attached_to_type: {name}"))
    })?;
    if kind == ParentKind::Answer {
        return Err(Error::rejected(format!(
            "Unknown attached_to_type: {}",
            request.class_names().to_wire(kind.as_str())
        )));
    }
    let id = filled(members, "attached_to_id").ok_or_else(|| Error::missing("attached_to_id"))?;
    let id = integer(id).ok_or_else(|| Error::rejected("attached_to_id must be an integer"))?;
    Ok(AttachFile { parent: AttachmentParent { kind, id }, source, edit: edit(request, members) })
}

/// The members that can be changed.
pub(super) fn edit(request: &Request, members: &Members) -> AttachmentEdit {
    let locales = request.backend.locales();
    let mut errors = Vec::new();
    let title = text(members, ("title", "Title is invalid"), locales, &mut errors);
    let description = text(members, ("description", "Description is invalid"), locales, &mut errors);
    let weight = members.get("weight").and_then(|sent| {
        let weight = integer(sent);
        if weight.is_none() {
            errors.push(FieldError::new("weight", "not_a_number", "Weight is not a number"));
        }
        weight
    });
    let collection = members.get("attachment_collection_id").map(|sent| CollectionChoice {
        // What is no number is no collection of any record.
        id: if sent.is_null() || sent == "" { None } else { Some(CollectionId(integer(sent).unwrap_or(0))) },
    });
    AttachmentEdit { title, description, weight, collection, errors }
}

fn text(
    members: &Members,
    (name, invalid): (&'static str, &str),
    locales: &Locales,
    errors: &mut Vec<FieldError>,
) -> Option<SentText> {
    let sent = members.get(name).filter(|sent| !sent.is_null())?;
    let read = match sent {
        Value::String(text) => Some(SentText::Default(text.clone())),
        sent => {
            let texts = read_translated(sent).filter(|_| sent.is_object());
            texts.filter(|texts| texts.iter().all(|(locale, _)| locales.has(locale))).map(SentText::Each)
        }
    };
    if read.is_none() {
        errors.push(FieldError::new(name, "invalid", invalid));
    }
    read
}

fn filled<'m>(members: &'m Members, name: &str) -> Option<&'m Value> {
    members.get(name).filter(|sent| !sent.is_null() && *sent != "")
}
