//! Events, registrations, deliveries and reminders.

table! {
    outbox (id) {
        id -> Uuid,
        organization_id -> BigInt,
        name -> Text,
        payload -> Text,
        occurred_at -> Moment,
        position -> Nullable<BigInt>,
    }
}

table! {
    relay (id) {
        id -> BigInt,
        position -> BigInt,
    }
}

table! {
    webhook_registrations (id) {
        id -> BigInt,
        api_client_id -> BigInt,
        organization_id -> Nullable<BigInt>,
        url -> Text,
        subscriptions -> Json,
        sealed_secret -> Text,
        failures -> BigInt,
        failing_since -> Nullable<Moment>,
        succeeded_at -> Nullable<Moment>,
        disabled_at -> Nullable<Moment>,
        paused_at -> Nullable<Moment>,
        due_at -> Nullable<Moment>,
        served_at -> Nullable<Moment>,
        worker -> Nullable<Text>,
        leased_until -> Nullable<Moment>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

table! {
    webhook_deliveries (id) {
        id -> Uuid,
        registration_id -> BigInt,
        organization_id -> Nullable<BigInt>,
        event_id -> Nullable<Uuid>,
        name -> Text,
        payload -> Nullable<Text>,
        status -> Text,
        attempts -> BigInt,
        replayed_after -> BigInt,
        due_at -> Moment,
        created_at -> Moment,
        ended_at -> Nullable<Moment>,
        reason -> Nullable<Text>,
    }
}

table! {
    webhook_attempts (delivery_id, number) {
        delivery_id -> Uuid,
        number -> BigInt,
        at -> Moment,
        milliseconds -> BigInt,
        status -> Nullable<BigInt>,
        error -> Nullable<Text>,
        answer -> Text,
    }
}

table! {
    meeting_reminders (meeting_id, start_time) {
        meeting_id -> BigInt,
        start_time -> Moment,
    }
}
