-- Organizations (tenants) and the host names that lead to them.
create table organizations (
    id integer primary key autoincrement,
    name text not null,
    description text not null,
    available_locales text not null,
    default_locale text not null,
    reference_prefix text not null,
    time_zone text not null,
    comments_max_length integer not null,
    users_registration_mode text not null,
    force_users_to_authenticate boolean not null,
    badges_enabled boolean not null,
    enable_participatory_space_filters boolean not null,
    enable_machine_translations boolean not null,
    user_groups_enabled boolean not null,
    rich_text_editor_in_public_views boolean not null,
    send_welcome_notification boolean not null,
    external_domain_allowlist text not null,
    max_attachment_bytes integer not null,
    features text not null,
    extended_data text not null,
    created_at text not null,
    updated_at text not null
);

-- One table for hosts of every kind: the primary key keeps them apart over the whole deployment.
create table organization_hosts (
    host text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    kind text not null check (kind in ('primary', 'secondary', 'unconfirmed')),
    position integer not null default 0
);
create unique index organization_hosts_one_of_a_kind on organization_hosts (organization_id, kind)
    where kind in ('primary', 'unconfirmed');
create index organization_hosts_of_organization on organization_hosts (organization_id);

create table system_admins (
    id integer primary key autoincrement,
    email text not null unique,
    password_hash text,
    created_at text not null,
    updated_at text not null
);

create table users (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    nickname text not null,
    nickname_folded text not null,
    email text not null,
    name text not null,
    password_hash text,
    admin boolean not null,
    locale text,
    about text,
    personal_url text,
    confirmed_at text,
    blocked_at text,
    locked_at text,
    deleted_at text,
    managed boolean not null,
    tos_accepted_at text,
    failed_logins integer not null default 0,
    extended_data text not null,
    extended_data_text text not null,
    created_at text not null,
    updated_at text not null
);
create unique index users_by_nickname on users (organization_id, nickname_folded) where deleted_at is null;
create unique index users_by_email on users (organization_id, email) where deleted_at is null;
create index users_of_organization on users (organization_id, id);
create index users_eligible_admins on users (organization_id, id)
    where admin and confirmed_at is not null and blocked_at is null and deleted_at is null;

-- API clients, their scopes and abilities (words separated by spaces), and the tokens issued to them.
create table api_clients (
    id integer primary key autoincrement,
    uid text not null unique,
    secret_digest text not null,
    name text not null,
    organization_id integer references organizations (id) on delete cascade,
    scopes text not null,
    permissions text not null,
    created_at text not null,
    updated_at text not null
);
create index api_clients_of_organization on api_clients (organization_id, id);

create table access_tokens (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null references api_clients (id) on delete cascade,
    user_id integer references users (id) on delete cascade,
    digest text not null,
    scope text not null,
    issued_at text not null,
    expires_at text not null,
    revoked_at text
);
create index access_tokens_of_client on access_tokens (api_client_id);
create index access_tokens_of_user on access_tokens (user_id);
create index access_tokens_of_organization on access_tokens (organization_id);

-- Participatory spaces. Numbers are unique per kind, so kind and number are the key.
create table spaces (
    manifest text not null,
    id integer not null,
    organization_id integer not null references organizations (id) on delete cascade,
    slug text,
    title text not null,
    subtitle text not null,
    short_description text not null,
    description text not null,
    visibility text not null check (visibility in ('public', 'transparent', 'private')),
    published_at text,
    scope_id integer,
    extended_data text not null,
    extended_data_text text not null,
    created_at text not null,
    updated_at text not null,
    primary key (manifest, id)
);
create unique index spaces_by_slug on spaces (organization_id, manifest, slug);
create index spaces_in_order on spaces (organization_id, created_at, manifest, id);

create table steps (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    space_manifest text not null,
    space_id integer not null,
    title text not null,
    position integer not null,
    active boolean not null,
    starts_at text,
    ends_at text,
    updated_at text not null,
    foreign key (space_manifest, space_id) references spaces (manifest, id) on delete cascade
);
create unique index steps_one_active on steps (space_manifest, space_id) where active;
create index steps_of_space on steps (space_manifest, space_id, position);
create index steps_of_organization on steps (organization_id, id);

create table roles (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    space_manifest text not null,
    space_id integer not null,
    user_id integer references users (id) on delete cascade,
    email text,
    kind text not null,
    invited_at text,
    accepted_at text,
    created_at text not null,
    updated_at text not null,
    foreign key (space_manifest, space_id) references spaces (manifest, id) on delete cascade
);
create unique index roles_once on roles (space_manifest, space_id, user_id, kind);
create index roles_of_user on roles (user_id, space_manifest, space_id);
create index roles_of_organization on roles (organization_id, id);

create table components (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    space_manifest text not null,
    space_id integer not null,
    manifest text not null,
    name text not null,
    published_at text,
    weight integer not null,
    settings text not null,
    default_step_settings text not null,
    step_settings text not null,
    scope_id integer,
    deleted_at text,
    extended_data text not null,
    extended_data_text text not null,
    created_at text not null,
    updated_at text not null,
    foreign key (space_manifest, space_id) references spaces (manifest, id) on delete cascade
);
create index components_of_organization on components (organization_id, id);
create index components_of_space on components (space_manifest, space_id, weight, manifest, id);

create table proposal_states (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    token text not null,
    title text not null,
    bg_color text,
    text_color text
);
create unique index proposal_states_by_token on proposal_states (component_id, token);
create index proposal_states_of_organization on proposal_states (organization_id, id);

create table proposals (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    title text not null,
    body text not null,
    api_client_id integer references api_clients (id) on delete set null,
    -- The first author while it is a draft, null after: one draft per user and component.
    draft_author_id integer references users (id) on delete cascade,
    published_at text,
    state_id integer references proposal_states (id) on delete set null,
    state_published_at text,
    -- The public state token (contract 06 s. 1.6), kept for filters; empty without one.
    public_state text not null default '',
    withdrawn_at text,
    hidden_at text,
    deleted_at text,
    scope_id integer,
    extended_data text not null,
    extended_data_text text not null,
    created_at text not null,
    updated_at text not null
);
create unique index proposals_one_draft on proposals (component_id, draft_author_id);
create index proposals_in_order on proposals (organization_id, published_at, id);
create index proposals_of_component on proposals (component_id, published_at, id);
create index proposals_of_client on proposals (api_client_id);

create table proposal_authors (
    proposal_id integer not null references proposals (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    position integer not null,
    primary key (proposal_id, user_id)
);
create index proposal_authors_of_user on proposal_authors (user_id, proposal_id);

create table votes (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    proposal_id integer not null references proposals (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    weight integer not null,
    temporary boolean not null,
    created_at text not null,
    updated_at text not null
);
create unique index votes_once on votes (proposal_id, user_id);
create index votes_of_user on votes (user_id, component_id);
create index votes_of_organization on votes (organization_id, id);

-- Asynchronous writes. No foreign keys to clients, users and tokens: a job outlives them, and fails.
create table jobs (
    id blob primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null,
    user_id integer,
    access_token_id integer not null,
    command_key text not null,
    status text not null,
    payload text not null,
    result text,
    error_class text,
    error_message text,
    error_details text,
    attempts integer not null,
    due_at text not null,
    worker text,
    leased_until text,
    created_at text not null,
    updated_at text not null
);
create index jobs_due on jobs (due_at, created_at) where status = 'pending';
create index jobs_leased on jobs (leased_until) where status = 'processing';
create index jobs_of_owner on jobs (organization_id, api_client_id, user_id, created_at, id);

-- Events, written in the transaction of the change they announce.
create table outbox (
    id blob primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    name text not null,
    payload text not null,
    occurred_at text not null
);
create index outbox_of_organization on outbox (organization_id, id);

-- What the archive has seen. organization_id 0 stands for records without organization.
create table archive_refs (
    organization_id integer not null,
    kind text not null,
    ref text not null,
    record_id text not null,
    primary key (organization_id, kind, ref)
);

-- When a list last lost something.
create table list_changes (
    organization_id integer not null references organizations (id) on delete cascade,
    list text not null,
    changed_at text not null,
    primary key (organization_id, list)
);
