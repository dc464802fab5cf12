//! Organizations, users, clients and spaces.

table! {
    organizations (id) {
        id -> BigInt,
        name -> Json,
        description -> Json,
        available_locales -> Text,
        default_locale -> Text,
        reference_prefix -> Text,
        time_zone -> Text,
        comments_max_length -> BigInt,
        users_registration_mode -> Text,
        force_users_to_authenticate -> Bool,
        badges_enabled -> Bool,
        enable_participatory_space_filters -> Bool,
        enable_machine_translations -> Bool,
        user_groups_enabled -> Bool,
        rich_text_editor_in_public_views -> Bool,
        send_welcome_notification -> Bool,
        external_domain_allowlist -> Json,
        max_attachment_bytes -> BigInt,
        features -> Json,
        extended_data -> Json,
        created_at -> Moment,
        updated_at -> Moment,
        deleted_at -> Nullable<Moment>,
        move_state -> Nullable<Text>,
    }
}

table! {
    organization_hosts (host) {
        host -> Text,
        organization_id -> BigInt,
        kind -> Text,
        position -> BigInt,
        state -> Text,
    }
}

table! {
    organization_names (folded) {
        folded -> Text,
        organization_id -> BigInt,
    }
}

table! {
    administrators (id) {
        id -> BigInt,
        email -> Text,
        password_hash -> Nullable<Text>,
        sign_in_sources -> Json,
        locale -> Nullable<Text>,
        theme -> Text,
        second_factor -> Nullable<Json>,
        organization_id -> Nullable<BigInt>,
        created_at -> Moment,
        updated_at -> Moment,
        last_sign_in_at -> Nullable<Moment>,
    }
}

table! {
    panel_sessions (digest) {
        digest -> Text,
        administrator_id -> BigInt,
        notice -> Nullable<Text>,
        created_at -> Moment,
        last_seen_at -> Moment,
        expires_at -> Moment,
        confirmed_at -> Nullable<Moment>,
    }
}

table! {
    panel_used_forms (session_digest, nonce) {
        session_digest -> Text,
        nonce -> Text,
        used_at -> Moment,
    }
}

table! {
    users (id) {
        id -> BigInt,
        organization_id -> BigInt,
        nickname -> Text,
        nickname_folded -> Text,
        email -> Text,
        name -> Text,
        password_hash -> Nullable<Text>,
        admin -> Bool,
        locale -> Nullable<Text>,
        about -> Nullable<Text>,
        personal_url -> Nullable<Text>,
        confirmed_at -> Nullable<Moment>,
        blocked_at -> Nullable<Moment>,
        locked_at -> Nullable<Moment>,
        deleted_at -> Nullable<Moment>,
        managed -> Bool,
        tos_accepted_at -> Nullable<Moment>,
        extended_data -> Json,
        extended_data_text -> Text,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

table! {
    api_clients (id) {
        id -> BigInt,
        uid -> Text,
        secret_digest -> Text,
        name -> Text,
        organization_id -> Nullable<BigInt>,
        scopes -> Text,
        permissions -> Text,
        created_at -> Moment,
        updated_at -> Moment,
        deleted_at -> Nullable<Moment>,
    }
}

table! {
    access_tokens (id) {
        id -> BigInt,
        organization_id -> BigInt,
        api_client_id -> BigInt,
        user_id -> Nullable<BigInt>,
        digest -> Text,
        scope -> Text,
        issued_at -> Moment,
        expires_at -> Moment,
        revoked_at -> Nullable<Moment>,
    }
}

table! {
    login_failures (id) {
        id -> BigInt,
        organization_id -> BigInt,
        api_client_id -> BigInt,
        name_digest -> Text,
        failures -> BigInt,
        locked_until -> Nullable<Moment>,
        failed_at -> Moment,
    }
}

table! {
    idempotency_keys (digest) {
        digest -> Text,
        organization_id -> BigInt,
        api_client_id -> BigInt,
        user_id -> Nullable<BigInt>,
        request_digest -> Text,
        status -> BigInt,
        sealed_answer -> Text,
        created_at -> Moment,
        bytes -> BigInt,
    }
}

table! {
    mail_counts (subject_digest, organization_id) {
        organization_id -> BigInt,
        subject_digest -> Text,
        began_at -> Moment,
        mails -> BigInt,
    }
}

table! {
    spaces (manifest, id) {
        manifest -> Text,
        id -> BigInt,
        organization_id -> BigInt,
        slug -> Nullable<Text>,
        title -> Json,
        subtitle -> Json,
        short_description -> Json,
        description -> Json,
        visibility -> Text,
        published_at -> Nullable<Moment>,
        scope_id -> Nullable<BigInt>,
        extended_data -> Json,
        extended_data_text -> Text,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

table! {
    steps (id) {
        id -> BigInt,
        organization_id -> BigInt,
        space_manifest -> Text,
        space_id -> BigInt,
        title -> Json,
        position -> BigInt,
        active -> Bool,
        starts_at -> Nullable<Moment>,
        ends_at -> Nullable<Moment>,
        updated_at -> Moment,
    }
}

table! {
    roles (id) {
        id -> BigInt,
        organization_id -> BigInt,
        space_manifest -> Text,
        space_id -> BigInt,
        user_id -> Nullable<BigInt>,
        email -> Nullable<Text>,
        kind -> Text,
        invited_at -> Nullable<Moment>,
        accepted_at -> Nullable<Moment>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

table! {
    confirmations (digest) {
        digest -> Text,
        organization_id -> BigInt,
        user_id -> BigInt,
        expires_at -> Moment,
    }
}

table! {
    magic_links (id) {
        id -> BigInt,
        organization_id -> BigInt,
        user_id -> BigInt,
        digest -> Text,
        redirect_url -> Nullable<Text>,
        created_at -> Moment,
        expires_at -> Moment,
    }
}

table! {
    sessions (digest) {
        digest -> Text,
        organization_id -> BigInt,
        user_id -> BigInt,
        created_at -> Moment,
        expires_at -> Moment,
    }
}
