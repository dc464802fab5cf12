//! A person's account as events show it (contract 03 §2.1, 09 C.2).

use crate::shapes::iso;
use civitas_accounts::User;
use civitas_kernel::{UserId, UserState};
use civitas_organizations::Tenant;
use serde_json::{Value, json};

/// An account without its extended data.
pub(crate) fn announced(tenant: &Tenant, id: UserId, user: &User) -> Value {
    json!({
        "id": id.to_string(),
        "type": "user",
        "attributes": {
            "name": user.name,
            "nickname": user.nickname,
            "personal_url": user.personal_url,
            "email": user.email,
            "about": user.about,
            "locale": user.locale.unwrap_or(tenant.default_locale),
            "extended_data": {},
            "created_at": iso(user.created_at),
            "updated_at": iso(user.updated_at),
        },
        "relationships": {"roles": {"data": []}},
        "meta": {"blocked": user.state() == UserState::Blocked, "locked": user.locked_at.is_some()},
    })
}
