-- The position is the order of commits, given by the relay.
alter table outbox add column position integer;
create unique index outbox_in_order on outbox (position) where position is not null;
create index outbox_to_relay on outbox (id) where position is null;
create index outbox_of_name on outbox (organization_id, name, position);
create index outbox_by_age on outbox (occurred_at);

-- One row: the last position. Its lock makes one relay at a time.
create table relay (
    id integer primary key check (id = 1),
    position integer not null
);
insert into relay (id, position) values (1, 0);

create table webhook_registrations (
    id integer primary key autoincrement,
    api_client_id integer not null references api_clients (id) on delete cascade,
    -- That of the client.
    organization_id integer references organizations (id) on delete cascade,
    url text not null,
    subscriptions text not null,
    -- Encrypted under a key derived from `secret_key`.
    sealed_secret text not null,
    failures integer not null,
    failing_since text,
    succeeded_at text,
    disabled_at text,
    paused_at text,
    -- When the next of its deliveries is due; null without pending ones.
    due_at text,
    -- When a worker last began with its deliveries: who waited longest is first.
    served_at text,
    worker text,
    leased_until text,
    created_at text not null,
    updated_at text not null
);
create unique index webhook_registrations_by_url on webhook_registrations (api_client_id, url);
create index webhook_registrations_listed on webhook_registrations (api_client_id, created_at, id);
create index webhook_registrations_of_organization on webhook_registrations (organization_id, id);
create index webhook_registrations_due on webhook_registrations (due_at)
    where due_at is not null and disabled_at is null and paused_at is null;
create index webhook_registrations_leased on webhook_registrations (worker) where worker is not null;

create table webhook_deliveries (
    id blob primary key,
    registration_id integer not null references webhook_registrations (id) on delete cascade,
    -- That of the registration. The organization of the event is in the outbox.
    organization_id integer,
    event_id blob references outbox (id),
    name text not null,
    -- The body of a test; null: that of the event.
    payload text,
    status text not null check (status in ('pending', 'delivered', 'dead', 'dropped')),
    attempts integer not null,
    -- The attempts before the last replay, after which the delays begin again.
    replayed_after integer not null,
    due_at text not null,
    created_at text not null,
    ended_at text,
    -- Why it was dropped or given up.
    reason text,
    check ((event_id is null) <> (payload is null)),
    check ((status = 'pending') = (ended_at is null))
);
create index webhook_deliveries_due on webhook_deliveries (registration_id, due_at, id) where status = 'pending';
create index webhook_deliveries_of_registration on webhook_deliveries (registration_id, created_at, id);
create index webhook_deliveries_of_registration_and_status on webhook_deliveries (registration_id, status, created_at, id);
create index webhook_deliveries_of_organization on webhook_deliveries (organization_id, created_at, id);
create index webhook_deliveries_of_organization_and_status on webhook_deliveries (organization_id, status, created_at, id);
create index webhook_deliveries_of_status on webhook_deliveries (status, created_at, id);
create index webhook_deliveries_of_event on webhook_deliveries (event_id);
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;

create table webhook_attempts (
    delivery_id blob not null references webhook_deliveries (id) on delete cascade,
    number integer not null,
    at text not null,
    milliseconds integer not null,
    -- The status of the answer. Without an answer it is null, and `error` is the kind of the error.
    status integer,
    error text,
    -- The first KiB of the answer, or the cause of the error.
    answer text not null,
    primary key (delivery_id, number)
);

-- Which reminders were sent: once for each meeting and time (contract 09 C.1).
create table meeting_reminders (
    meeting_id integer not null references meetings (id) on delete cascade,
    start_time text not null,
    primary key (meeting_id, start_time)
);
create index meetings_to_remind on meetings (start_time)
    where published_at is not null and withdrawn_at is null and hidden_at is null and deleted_at is null;
