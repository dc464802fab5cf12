//! The tables of the migrations, with column types that both engines share.

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Text};
    use crate::engine::sql::{Json, Moment};

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
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Text};

    organization_hosts (host) {
        host -> Text,
        organization_id -> BigInt,
        kind -> Text,
        position -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Text};

    organization_names (folded) {
        folded -> Text,
        organization_id -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::Moment;

    system_admins (id) {
        id -> BigInt,
        email -> Text,
        password_hash -> Nullable<Text>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

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
        failed_logins -> BigInt,
        extended_data -> Json,
        extended_data_text -> Text,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::Moment;

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
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::Moment;

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

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

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

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

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

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::Moment;

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

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

    components (id) {
        id -> BigInt,
        organization_id -> BigInt,
        space_manifest -> Text,
        space_id -> BigInt,
        manifest -> Text,
        name -> Json,
        published_at -> Nullable<Moment>,
        weight -> BigInt,
        settings -> Json,
        default_step_settings -> Json,
        step_settings -> Json,
        scope_id -> Nullable<BigInt>,
        deleted_at -> Nullable<Moment>,
        extended_data -> Json,
        extended_data_text -> Text,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::Json;

    proposal_states (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        token -> Text,
        title -> Json,
        bg_color -> Nullable<Text>,
        text_color -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

    proposals (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        title -> Json,
        body -> Json,
        api_client_id -> Nullable<BigInt>,
        draft_author_id -> Nullable<BigInt>,
        published_at -> Nullable<Moment>,
        state_id -> Nullable<BigInt>,
        state_published_at -> Nullable<Moment>,
        public_state -> Text,
        withdrawn_at -> Nullable<Moment>,
        hidden_at -> Nullable<Moment>,
        deleted_at -> Nullable<Moment>,
        scope_id -> Nullable<BigInt>,
        extended_data -> Json,
        extended_data_text -> Text,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt};

    proposal_authors (proposal_id, user_id) {
        proposal_id -> BigInt,
        user_id -> BigInt,
        position -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool};
    use crate::engine::sql::Moment;

    votes (id) {
        id -> BigInt,
        organization_id -> BigInt,
        proposal_id -> BigInt,
        component_id -> BigInt,
        user_id -> BigInt,
        weight -> BigInt,
        temporary -> Bool,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

    meetings (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        title -> Json,
        description -> Json,
        start_time -> Moment,
        end_time -> Nullable<Moment>,
        published_at -> Nullable<Moment>,
        private -> Bool,
        transparent -> Bool,
        withdrawn_at -> Nullable<Moment>,
        hidden_at -> Nullable<Moment>,
        deleted_at -> Nullable<Moment>,
        extended_data -> Json,
        extended_data_text -> Text,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::engine::sql::{Json, Moment};

    posts (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        title -> Json,
        body -> Json,
        author_id -> Nullable<BigInt>,
        published_at -> Nullable<Moment>,
        deleted_at -> Nullable<Moment>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::BigInt;

    meeting_registrations (meeting_id, user_id) {
        meeting_id -> BigInt,
        user_id -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::engine::sql::{Json, Moment};

    entries (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        title -> Json,
        hidden_at -> Nullable<Moment>,
        deleted_at -> Nullable<Moment>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::{Json, Moment, Uuid};

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
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::engine::sql::{Json, Moment, Uuid};

    outbox (id) {
        id -> Uuid,
        organization_id -> BigInt,
        name -> Text,
        payload -> Json,
        occurred_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Text};

    archive_refs (organization_id, kind, reference) {
        organization_id -> BigInt,
        kind -> Text,
        #[sql_name = "ref"]
        reference -> Text,
        record_id -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::engine::sql::Moment;

    list_changes (organization_id, list) {
        organization_id -> BigInt,
        list -> Text,
        changed_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::engine::sql::{Json, Moment, Uuid};

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

diesel::table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::engine::sql::Moment;

    confirmations (digest) {
        digest -> Text,
        organization_id -> BigInt,
        user_id -> BigInt,
        expires_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::Moment;

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

diesel::table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::engine::sql::Moment;

    sessions (digest) {
        digest -> Text,
        organization_id -> BigInt,
        user_id -> BigInt,
        created_at -> Moment,
        expires_at -> Moment,
    }
}

diesel::joinable!(organization_hosts -> organizations (organization_id));
diesel::joinable!(users -> organizations (organization_id));
diesel::joinable!(api_clients -> organizations (organization_id));
diesel::joinable!(access_tokens -> organizations (organization_id));
diesel::joinable!(access_tokens -> api_clients (api_client_id));
diesel::joinable!(access_tokens -> users (user_id));
diesel::joinable!(spaces -> organizations (organization_id));
diesel::joinable!(steps -> organizations (organization_id));
diesel::joinable!(roles -> organizations (organization_id));
diesel::joinable!(roles -> users (user_id));
diesel::joinable!(components -> organizations (organization_id));
diesel::joinable!(proposal_states -> organizations (organization_id));
diesel::joinable!(proposal_states -> components (component_id));
diesel::joinable!(proposals -> organizations (organization_id));
diesel::joinable!(proposals -> components (component_id));
diesel::joinable!(proposals -> api_clients (api_client_id));
diesel::joinable!(proposals -> proposal_states (state_id));
diesel::joinable!(proposal_authors -> proposals (proposal_id));
diesel::joinable!(proposal_authors -> users (user_id));
diesel::joinable!(votes -> organizations (organization_id));
diesel::joinable!(votes -> proposals (proposal_id));
diesel::joinable!(votes -> components (component_id));
diesel::joinable!(votes -> users (user_id));
diesel::joinable!(meetings -> organizations (organization_id));
diesel::joinable!(meetings -> components (component_id));
diesel::joinable!(meeting_registrations -> meetings (meeting_id));
diesel::joinable!(meeting_registrations -> users (user_id));
diesel::joinable!(entries -> organizations (organization_id));
diesel::joinable!(entries -> components (component_id));
diesel::joinable!(jobs -> organizations (organization_id));
diesel::joinable!(outbox -> organizations (organization_id));
diesel::joinable!(list_changes -> organizations (organization_id));

diesel::allow_tables_to_appear_in_same_query!(
    organizations,
    organization_hosts,
    organization_names,
    system_admins,
    users,
    api_clients,
    access_tokens,
    spaces,
    steps,
    roles,
    components,
    proposal_states,
    proposals,
    proposal_authors,
    votes,
    meetings,
    meeting_registrations,
    posts,
    entries,
    jobs,
    outbox,
    archive_refs,
    list_changes,
);
