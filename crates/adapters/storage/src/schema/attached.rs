//! Files, uploads and attachments.

table! {
    files (id) {
        id -> BigInt,
        organization_id -> BigInt,
        key -> Text,
        object -> Text,
        filename -> Text,
        content_type -> Text,
        fault -> Nullable<Text>,
        byte_size -> BigInt,
        sha256 -> Text,
        thumbnail_bytes -> Nullable<BigInt>,
        state -> Text,
        created_at -> Moment,
    }
}

table! {
    attachment_collections (id) {
        id -> BigInt,
        organization_id -> BigInt,
        attached_to_type -> Text,
        attached_to_id -> BigInt,
        space_manifest -> Nullable<Text>,
        space_id -> Nullable<BigInt>,
        proposal_id -> Nullable<BigInt>,
        meeting_id -> Nullable<BigInt>,
        post_id -> Nullable<BigInt>,
        name -> Json,
        weight -> BigInt,
    }
}

table! {
    attachments (id) {
        id -> BigInt,
        organization_id -> BigInt,
        attached_to_type -> Text,
        attached_to_id -> BigInt,
        space_manifest -> Nullable<Text>,
        space_id -> Nullable<BigInt>,
        proposal_id -> Nullable<BigInt>,
        meeting_id -> Nullable<BigInt>,
        post_id -> Nullable<BigInt>,
        title -> Json,
        description -> Json,
        weight -> BigInt,
        collection_id -> Nullable<BigInt>,
        file_type -> Text,
        file_id -> Nullable<BigInt>,
        link -> Nullable<Text>,
        created_at -> Moment,
        updated_at -> Moment,
        answer_id -> Nullable<BigInt>,
    }
}

table! {
    uploads (id) {
        id -> BigInt,
        organization_id -> BigInt,
        api_client_id -> BigInt,
        digest -> Text,
        filename -> Text,
        content_type -> Text,
        byte_size -> BigInt,
        checksum -> Text,
        file_id -> Nullable<BigInt>,
        created_at -> Moment,
    }
}
