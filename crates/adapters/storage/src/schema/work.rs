//! Jobs, tasks and bookkeeping.

table! {
    jobs (id) {
        id -> Uuid,
        organization_id -> BigInt,
        api_client_id -> BigInt,
        user_id -> Nullable<BigInt>,
        access_token_id -> BigInt,
        command_key -> Text,
        status -> Text,
        payload -> Json,
        result -> Nullable<Json>,
        error_class -> Nullable<Text>,
        error_message -> Nullable<Text>,
        error_details -> Nullable<Json>,
        attempts -> BigInt,
        due_at -> Moment,
        worker -> Nullable<Text>,
        leased_until -> Nullable<Moment>,
        created_at -> Moment,
        updated_at -> Moment,
        turn -> BigInt,
        bytes -> BigInt,
    }
}

table! {
    archive_refs (organization_id, kind, reference) {
        organization_id -> BigInt,
        kind -> Text,
        #[sql_name = "ref"]
        reference -> Text,
        record_id -> Text,
    }
}

table! {
    id_floors (kind) {
        kind -> Text,
        last_id -> BigInt,
    }
}

table! {
    list_changes (organization_id, list) {
        organization_id -> BigInt,
        list -> Text,
        changed_at -> Moment,
    }
}

table! {
    tasks (id) {
        id -> Uuid,
        organization_id -> BigInt,
        kind -> Text,
        subject -> Nullable<Text>,
        payload -> Json,
        attempts -> BigInt,
        due_at -> Moment,
        claimed -> Bool,
    }
}
