create table meetings (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    title text not null,
    description text not null,
    start_time text not null,
    end_time text,
    published_at text,
    private boolean not null,
    transparent boolean not null,
    withdrawn_at text,
    hidden_at text,
    deleted_at text,
    extended_data text not null,
    extended_data_text text not null,
    created_at text not null,
    updated_at text not null
);
create index meetings_in_order on meetings (organization_id, start_time, id);
create index meetings_of_component on meetings (component_id, start_time, id);
create index meetings_of_organization on meetings (organization_id, id);
-- What a component names and counts of the meetings in it (contract 05 s. 3.4).
create index meetings_shown on meetings (component_id, id)
    where published_at is not null and hidden_at is null and deleted_at is null;

create table meeting_registrations (
    meeting_id integer not null references meetings (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    primary key (meeting_id, user_id)
);
create index meeting_registrations_of_user on meeting_registrations (user_id, meeting_id);

-- Pages, budgets, results and debates: the kind of the component says which.
create table entries (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    title text not null,
    hidden_at text,
    deleted_at text,
    created_at text not null,
    updated_at text not null
);
create index entries_of_organization on entries (organization_id, id);
create index entries_of_component on entries (component_id);
create index entries_shown on entries (component_id, id) where hidden_at is null and deleted_at is null;
