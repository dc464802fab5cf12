//! Components and their records.

table! {
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

table! {
    proposal_states (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        token -> Text,
        title -> Json,
        bg_color -> Nullable<Text>,
        text_color -> Nullable<Text>,
        updated_at -> Moment,
    }
}

table! {
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
        votes_count -> BigInt,
        votes_changed_at -> Nullable<Moment>,
    }
}

table! {
    proposal_counts (component_id, public_state) {
        component_id -> BigInt,
        public_state -> Text,
        shown -> BigInt,
    }
}

table! {
    record_counts (component_id) {
        component_id -> BigInt,
        shown -> BigInt,
        restricted -> BigInt,
    }
}

table! {
    proposal_authors (proposal_id, user_id) {
        proposal_id -> BigInt,
        user_id -> BigInt,
        position -> BigInt,
    }
}

table! {
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

table! {
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

table! {
    posts (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        title -> Json,
        body -> Json,
        author_id -> Nullable<BigInt>,
        published_at -> Nullable<Moment>,
        hidden_at -> Nullable<Moment>,
        deleted_at -> Nullable<Moment>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

table! {
    meeting_registrations (meeting_id, user_id) {
        meeting_id -> BigInt,
        user_id -> BigInt,
    }
}

table! {
    entries (kind, id) {
        kind -> Text,
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
