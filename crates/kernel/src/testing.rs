//! Values that tests of many crates need.

use crate::filter::{RawFilter, RawValue};
use crate::{
    ComponentId, Locale, LocationFilter, OrganizationId, PageRequest, ReadContext, Translated, Viewer,
};

/// The first page of a list, with all records that a test adds.
pub const ALL: PageRequest = PageRequest::new(1, 100);

/// A text in English alone.
pub fn text(english: &str) -> Translated {
    [(Locale::EN, english.to_owned())].into()
}

/// The context of a user's token, or of an anonymous viewer.
pub fn viewer_read_context(organization: OrganizationId, viewer: Viewer) -> ReadContext {
    ReadContext { organization, viewer, participant: viewer.user() }
}

/// The context of a service token.
pub fn service_read_context(organization: OrganizationId, viewer: Viewer) -> ReadContext {
    ReadContext { organization, viewer, participant: None }
}

/// One component.
pub fn in_component(component: ComponentId) -> LocationFilter {
    LocationFilter { component: Some(component), ..LocationFilter::default() }
}

/// A filter of one condition. A value behind `[]` is a list: `[]1,2`.
pub fn raw_filter(key: &str, value: &str) -> RawFilter {
    let value = match value.strip_prefix("[]") {
        Some(list) => RawValue::Many(list.split(',').map(str::to_owned).collect()),
        None => RawValue::One(value.to_owned()),
    };
    RawFilter::new(vec![(key.to_owned(), value)])
}
