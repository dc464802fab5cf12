//! The audit trail.

table! {
    audit_entries (id) {
        id -> BigInt,
        organization_id -> BigInt,
        number -> BigInt,
        at -> Moment,
        actor_kind -> Text,
        actor_id -> Nullable<Text>,
        actor_name -> Nullable<Text>,
        user_id -> Nullable<BigInt>,
        user_name -> Nullable<Text>,
        address -> Nullable<Text>,
        action -> Text,
        object_kind -> Nullable<Text>,
        object_id -> Nullable<Text>,
        object_label -> Nullable<Text>,
        changes -> Text,
        details_salt -> Nullable<Text>,
        details_digest -> Nullable<Text>,
        hash -> Text,
    }
}

table! {
    audit_heads (organization_id) {
        organization_id -> BigInt,
        number -> BigInt,
        hash -> Text,
        removed_number -> BigInt,
        removed_hash -> Text,
    }
}
