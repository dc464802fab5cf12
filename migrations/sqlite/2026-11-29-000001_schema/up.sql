-- The schema of version 0.1.0, by area: each table with its indexes and triggers. The migration of the other engine has the same
-- order.
-- Times are text in UTC, JSON is text, UUIDs are blobs of 16 bytes.

-- ==== Organizations ====

-- Organizations (tenants).
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
    updated_at text not null,
    -- When it was removed. Nobody finds it any more; its rows are deleted later, in batches.
    deleted_at text
);
create index organizations_removed on organizations (id) where deleted_at is not null;

-- The host names that lead to organizations. One table for hosts of every kind: the primary key keeps them apart over the
-- whole deployment.
create table organization_hosts (
    host text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    -- A secondary host may wait to become the primary one: it is `promoted`.
    kind text not null check (kind in ('primary', 'secondary', 'unconfirmed', 'promoted')),
    position integer not null default 0,
    -- Whether a host is proven: `confirmed` (found by its check, or entered by an operator), `pending` (is checked), `failed`
    -- (its checks have ended without success; another organization may take it).
    state text not null default 'confirmed' check (state in ('confirmed', 'pending', 'failed'))
);
create unique index organization_hosts_one_primary on organization_hosts (organization_id) where kind = 'primary';
create unique index organization_hosts_one_pending on organization_hosts (organization_id)
    where kind in ('unconfirmed', 'promoted');
create index organization_hosts_of_organization on organization_hosts (organization_id);
-- What needs attention.
create index organization_hosts_pending on organization_hosts (organization_id)
    where state <> 'confirmed' or kind in ('unconfirmed', 'promoted');

-- Every name of an organization, in lower case: the primary key keeps them apart over the whole deployment.
create table organization_names (
    folded text primary key,
    organization_id integer not null references organizations (id) on delete cascade
);
create index organization_names_of_organization on organization_names (organization_id);

-- When a list last lost something.
create table list_changes (
    organization_id integer not null references organizations (id) on delete cascade,
    list text not null,
    changed_at text not null,
    primary key (organization_id, list)
);

-- What the archive has seen. organization_id 0 stands for records without organization.
create table archive_refs (
    organization_id integer not null,
    kind text not null,
    ref text not null,
    record_id text not null,
    primary key (organization_id, kind, ref)
);

-- ==== Search for words ====

-- The titles and bodies of records in the form in which words are searched (contract 01 s. 6.2), each translation
-- between two characters U+001F. Written in the transaction of the record. `scope`: the kind and the organization of the
-- record in three characters that no searchable text has: one trigram, with which both texts begin. So an index of trigrams
-- finds words within a scope.
create table record_texts (
    id integer primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    scope text not null,
    record_id integer not null,
    title text not null,
    body text not null,
    -- Whether the text is in `record_words`, which background work fills: it costs more than the write of a record.
    is_indexed boolean not null default false
);
create unique index record_texts_of_record on record_texts (organization_id, scope, record_id);
-- The texts that are still to be indexed, which searches compare.
create index record_texts_to_index on record_texts (organization_id, scope)
    where not is_indexed and unicode(scope) <> 44036;

-- The triggers `.._lose_their_texts` of other tables delete texts with their record.
create trigger record_texts_are_indexed_again after update of title, body on record_texts when old.is_indexed
begin
    delete from record_words where rowid = old.id;
    update record_texts set is_indexed = false where id = old.id;
end;
create trigger record_texts_are_no_longer_indexed after delete on record_texts when old.is_indexed
begin
    delete from record_words where rowid = old.id;
end;

-- The trigrams of the texts. Names of users (scopes that begin with U+AC04) are not in it: nothing of a name that is
-- erased stays in the index.
create virtual table record_words using fts5(
    title, body, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);

-- ==== People ====

-- Participants and administrators of organizations. The row of an erased account stays, without personal data.
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
-- The general administrators in the order of the list of roles (contract 03 s. 4.2).
create index users_general_admins on users (organization_id, created_at, id) where admin and deleted_at is null;
-- Nicknames as written (contract 03 s. 2.1).
create index users_by_written_nickname on users (organization_id, nickname, id) where deleted_at is null;
-- Search and states of people. The unique indexes serve prefixes.
create index users_in_order on users (organization_id, created_at, id) where deleted_at is null;
create index users_blocked on users (organization_id, created_at, id) where blocked_at is not null and deleted_at is null;
create index users_locked on users (organization_id, created_at, id) where locked_at is not null and deleted_at is null;
create index users_unconfirmed on users (organization_id, created_at, id)
    where confirmed_at is null and deleted_at is null;
create index users_unconfirmed_by_nickname on users (organization_id, nickname_folded, id)
    where confirmed_at is null and deleted_at is null;
-- The list by last change.
create index users_by_change on users (organization_id, updated_at, id) where deleted_at is null;

create trigger users_lose_their_texts after delete on users
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44036, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;

-- Links that confirm an e-mail address. Digests are SHA-256 in hexadecimal; what they are of is kept nowhere.
create table confirmations (
    digest text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    expires_at text not null
);
create index confirmations_of_user on confirmations (user_id);
create index confirmations_of_organization on confirmations (organization_id);
-- What has expired.
create index confirmations_by_end on confirmations (expires_at);

-- Links that sign a user in: one a user.
create table magic_links (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    user_id integer not null unique references users (id) on delete cascade,
    digest text not null unique,
    redirect_url text,
    created_at text not null,
    expires_at text not null
);
create index magic_links_of_organization on magic_links (organization_id);
-- What has expired.
create index magic_links_by_end on magic_links (expires_at);

-- Participants who signed in with such a link.
create table sessions (
    digest text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    created_at text not null,
    expires_at text not null
);
create index sessions_of_user on sessions (user_id);
create index sessions_of_organization on sessions (organization_id);
-- What has expired.
create index sessions_by_end on sessions (expires_at);

-- How many mails were queued within an hour: to an address, or for an API client.
create table mail_counts (
    organization_id integer not null references organizations (id) on delete cascade,
    -- SHA-256 of what is counted, in hexadecimal.
    subject_digest text not null,
    began_at text not null,
    mails integer not null,
    primary key (subject_digest, organization_id)
);
create index mail_counts_of_organization on mail_counts (organization_id);
create index mail_counts_by_time on mail_counts (began_at);

-- ==== API clients ====

-- API clients, their scopes and abilities (words separated by spaces).
create table api_clients (
    id integer primary key autoincrement,
    uid text not null unique,
    secret_digest text not null,
    name text not null,
    organization_id integer references organizations (id) on delete cascade,
    scopes text not null,
    permissions text not null,
    created_at text not null,
    updated_at text not null,
    -- When it was removed, as of organizations.
    deleted_at text
);
create index api_clients_of_organization on api_clients (organization_id, id);
-- Lists of API clients.
create index api_clients_listed on api_clients (created_at, id);
create index api_clients_listed_of_organization on api_clients (organization_id, created_at, id);
create index api_clients_removed on api_clients (id) where deleted_at is not null;

-- The tokens issued to them.
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
create index access_tokens_of_user on access_tokens (user_id);
create index access_tokens_of_organization on access_tokens (organization_id);
-- What each client has, in the lists of clients.
create index access_tokens_newest_of_client on access_tokens (api_client_id, issued_at);
create index access_tokens_valid_of_client on access_tokens (api_client_id, expires_at) where revoked_at is null;
-- What has expired.
create index access_tokens_by_end on access_tokens (expires_at);

-- Failed logins of a name through an API client since the last success. The name is a digest: it may be of no account.
create table login_failures (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null references api_clients (id) on delete cascade,
    -- SHA-256 of the name in lower case, in hexadecimal.
    name_digest text not null,
    failures integer not null,
    -- Until when the login is closed; null when it never was.
    locked_until text,
    failed_at text not null,
    unique (organization_id, name_digest, api_client_id)
);
create index login_failures_of_client on login_failures (api_client_id);
create index login_failures_by_time on login_failures (failed_at);
create index login_failures_by_number on login_failures (failures, failed_at);

-- Answers to writes that carried an idempotency key, for 24 hours.
create table idempotency_keys (
    -- SHA-256 of organization, client, user and key, in hexadecimal.
    digest text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null references api_clients (id) on delete cascade,
    -- Null for a service token.
    user_id integer references users (id) on delete cascade,
    -- SHA-256 of method, path, query and body, in hexadecimal.
    request_digest text not null,
    status integer not null,
    -- Encrypted: headers and body, as JSON.
    sealed_answer text not null,
    created_at text not null,
    -- The size of the answer.
    bytes bigint not null default 0
);
create index idempotency_keys_of_client on idempotency_keys (api_client_id);
create index idempotency_keys_of_user on idempotency_keys (user_id) where user_id is not null;
create index idempotency_keys_by_time on idempotency_keys (created_at);
-- What an organization and its clients store is summed up from this index alone.
create index idempotency_keys_of_organization on idempotency_keys (organization_id, api_client_id, bytes);

-- ==== Administrators of the panel ====

-- System administrators.
create table administrators (
    id integer primary key autoincrement,
    email text not null unique,
    password_hash text,
    created_at text not null,
    updated_at text not null,
    locale text,
    theme text not null default 'device',
    -- The sealed secret, the digests of the recovery codes, and the last step.
    second_factor text,
    -- The one that was opened last.
    organization_id integer references organizations (id) on delete set null,
    last_sign_in_at text,
    -- From where an administrator signed in and failed to: keyed digests of addresses.
    sign_in_sources text not null default '{}'
);
create index administrators_of_organization on administrators (organization_id) where organization_id is not null;

-- Sessions of the panel.
create table panel_sessions (
    digest text primary key,
    administrator_id integer not null references administrators (id) on delete cascade,
    -- Sealed; shown on the next page.
    notice text,
    created_at text not null,
    last_seen_at text not null,
    expires_at text not null,
    -- When the administrator last gave the password in the session.
    confirmed_at text
);
create index panel_sessions_of_administrator on panel_sessions (administrator_id);
create index panel_sessions_by_end on panel_sessions (expires_at);

-- Forms that were submitted: each once.
create table panel_used_forms (
    session_digest text not null references panel_sessions (digest) on delete cascade,
    nonce text not null,
    used_at text not null,
    primary key (session_digest, nonce)
);

-- ==== Spaces and components ====

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

create trigger spaces_lose_their_texts after delete on spaces
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id and scope = char(
        case old.manifest
            when 'participatory_processes' then 44038
            when 'assemblies' then 44039
            when 'conferences' then 44040
            when 'initiatives' then 44041
        end,
        44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000
    );
end;

-- The steps of a process, at most one of which is active.
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

-- Roles in a space, and invitations to them.
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
-- The order of the list of roles, alone and below an equality of each field it is filtered by (contract 03 s. 4.2). The
-- expressions are those of the statement, to the letter.
create index roles_in_order on roles (
    organization_id,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_user on roles (
    organization_id, user_id,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_resource on roles (
    organization_id, space_id,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_class on roles (
    organization_id, (case space_manifest when 'participatory_processes' then 'Platform::ParticipatoryProcess'
        when 'assemblies' then 'Platform::Assembly' else 'Platform::Conference' end),
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_kind on roles (
    organization_id, kind,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);

-- Components of spaces, each of one kind (its manifest).
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

create trigger components_lose_their_texts after delete on components
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44035, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;

-- How many posts, meetings, entries and surveys a component has that readers can see: changed by triggers, in the
-- transaction of each change of a record.
create table record_counts (
    component_id integer not null primary key references components (id) on delete cascade,
    organization_id integer not null,
    -- Those that each reader of the component sees; of posts those with a date, also in the future.
    shown integer not null,
    -- Private meetings that are not transparent.
    restricted integer not null
);
create index record_counts_of_organization on record_counts (organization_id);

-- ==== Proposals and votes ====

-- The states that the proposals of a component can have.
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

-- How many proposals are published and neither hidden nor deleted, by component and public state: changed by triggers, in
-- the transaction of each change of a proposal.
create table proposal_counts (
    component_id integer not null references components (id) on delete cascade,
    public_state text not null,
    -- That of the component.
    organization_id integer not null,
    shown integer not null,
    primary key (component_id, public_state)
);
create index proposal_counts_of_organization on proposal_counts (organization_id);

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
    updated_at text not null,
    -- How many final votes a proposal has, and when that number last changed: changed by triggers, in the transaction of each
    -- change of a vote.
    votes_count integer not null default 0,
    votes_changed_at text
);
create unique index proposals_one_draft on proposals (component_id, draft_author_id);
-- Without a condition: SQLite would read a small index as a whole, also where another one is better.
create index proposals_of_client on proposals (api_client_id);
-- The published, visible records in the order of their list: of the organization, and of one component. The first index
-- also holds the component, so that a page of ids is read from the index alone. The last two columns are null in each
-- row: SQLite reads the table for a column that is named in a statement and not in the index.
create index proposals_listed on proposals (organization_id, published_at, id, component_id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_listed_in_component on proposals (component_id, published_at, id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- Export in the order of ids, and the deletion of an organization. Components find theirs by proposals_one_draft.
create index proposals_of_organization on proposals (organization_id, id);
-- Hidden proposals, of all components and of one.
create index proposals_hidden on proposals (organization_id, hidden_at, id)
    where hidden_at is not null and deleted_at is null;
create index proposals_hidden_in_component on proposals (component_id, hidden_at, id)
    where hidden_at is not null and deleted_at is null;
-- The deletion of an account or a state finds its proposals.
create index proposals_of_draft_author on proposals (draft_author_id) where draft_author_id is not null;
create index proposals_of_state on proposals (state_id) where state_id is not null;
-- The first proposals of a component (contract 05 s. 3.7). The last columns are those of the condition, so that the rows are
-- not read.
create index proposals_shown on proposals (component_id, id, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- Lists in descending order: records of one time come by ascending id, so the indexes of ascending lists do not have the
-- order. Many records have one time after an import.
create index proposals_newest on proposals
    (organization_id, published_at desc, id, component_id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_newest_in_component on proposals (component_id, published_at desc, id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- Random pages are ranges of these indexes, from a random id on: of the organization, and of one component. By an expression,
-- so that PostgreSQL does not read the primary key in its order instead. The further columns are those of the conditions, so
-- that ids are read from the index alone.
create index proposals_by_id on proposals
    (organization_id, id + 0, component_id, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_by_id_in_component on proposals
    (component_id, id + 0, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- Lists by the number of votes: proposals of one number come by ascending id. Without `published_at`, whose text
-- costs each vote 5 µs: a list reads the rows that it skips.
create index proposals_most_voted on proposals (organization_id, votes_count desc, id, component_id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_most_voted_in_component on proposals (component_id, votes_count desc, id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- Lists in the order of creation, or of the last change; and what was changed after a time.
create index proposals_created on proposals
    (organization_id, created_at, id, component_id, published_at, hidden_at, deleted_at)
    where hidden_at is null and deleted_at is null;
create index proposals_created_in_component on proposals
    (component_id, created_at, id, published_at, hidden_at, deleted_at)
    where hidden_at is null and deleted_at is null;
create index proposals_updated on proposals
    (organization_id, updated_at, id, component_id, published_at, hidden_at, deleted_at)
    where hidden_at is null and deleted_at is null;
-- It also finds the last change of a proposal of a component.
create index proposals_changed on proposals
    (component_id, updated_at, id, published_at, hidden_at, deleted_at)
    where hidden_at is null and deleted_at is null;

create trigger proposals_are_counted_when_inserted after insert on proposals
when new.published_at is not null and new.hidden_at is null and new.deleted_at is null
begin
    insert into proposal_counts (component_id, public_state, organization_id, shown)
    values (new.component_id, new.public_state, new.organization_id, 1)
    on conflict (component_id, public_state) do update set shown = shown + 1;
end;
create trigger proposals_are_counted_when_deleted after delete on proposals
when old.published_at is not null and old.hidden_at is null and old.deleted_at is null
begin
    update proposal_counts set shown = shown - 1
    where component_id = old.component_id and public_state = old.public_state;
end;
create trigger proposals_are_counted_when_changed
after update of component_id, public_state, published_at, hidden_at, deleted_at on proposals
when new.published_at is not null and new.hidden_at is null and new.deleted_at is null
    and (old.published_at is null or old.hidden_at is not null or old.deleted_at is not null
        or old.component_id <> new.component_id or old.public_state <> new.public_state)
begin
    insert into proposal_counts (component_id, public_state, organization_id, shown)
    values (new.component_id, new.public_state, new.organization_id, 1)
    on conflict (component_id, public_state) do update set shown = shown + 1;
end;
create trigger proposals_are_no_longer_counted
after update of component_id, public_state, published_at, hidden_at, deleted_at on proposals
when old.published_at is not null and old.hidden_at is null and old.deleted_at is null
    and (new.published_at is null or new.hidden_at is not null or new.deleted_at is not null
        or old.component_id <> new.component_id or old.public_state <> new.public_state)
begin
    update proposal_counts set shown = shown - 1
    where component_id = old.component_id and public_state = old.public_state;
end;
create trigger proposals_lose_their_texts after delete on proposals
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44032, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;

-- The users who wrote a proposal, in their order.
create table proposal_authors (
    proposal_id integer not null references proposals (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    position integer not null,
    primary key (proposal_id, user_id)
);
create index proposal_authors_of_user on proposal_authors (user_id, proposal_id);

-- A vote has the component and the organization of its proposal: it is checked and deleted with that. With a foreign key but
-- no index, the deletion of a component would read all votes.
create table votes (
    id integer primary key autoincrement,
    organization_id integer not null,
    proposal_id integer not null references proposals (id) on delete cascade,
    component_id integer not null,
    user_id integer not null references users (id) on delete cascade,
    weight integer not null,
    temporary boolean not null,
    created_at text not null,
    updated_at text not null
);
create unique index votes_once on votes (proposal_id, user_id);
create index votes_of_organization on votes (organization_id, id);
-- The votes on one proposal by time.
create index votes_of_proposal on votes (proposal_id, created_at, id);
-- The proposals of a user's votes are read from the index alone.
create index votes_of_user on votes (user_id, component_id, proposal_id);
-- The list by creation.
create index votes_by_creation on votes (organization_id, created_at, id);

create trigger votes_are_counted_when_inserted after insert on votes
when not new.temporary
begin
    update proposals set votes_count = votes_count + 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = new.proposal_id;
end;
create trigger votes_are_counted_when_deleted after delete on votes
when not old.temporary
begin
    update proposals set votes_count = votes_count - 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = old.proposal_id;
end;
create trigger votes_are_counted_when_changed after update of temporary, proposal_id on votes
when not new.temporary and (old.temporary or old.proposal_id <> new.proposal_id)
begin
    update proposals set votes_count = votes_count + 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = new.proposal_id;
end;
create trigger votes_are_no_longer_counted after update of temporary, proposal_id on votes
when not old.temporary and (new.temporary or old.proposal_id <> new.proposal_id)
begin
    update proposals set votes_count = votes_count - 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = old.proposal_id;
end;

-- ==== Meetings ====

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
create index meetings_of_organization on meetings (organization_id, id);
-- The published, visible records in the order of their list: of the organization, and of one component.
create index meetings_listed on meetings (organization_id, start_time, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_listed_in_component on meetings (component_id, start_time, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- The deletion of a component.
create index meetings_by_component on meetings (component_id);
-- The meetings of which somebody may have to be reminded.
create index meetings_to_remind on meetings (start_time)
    where published_at is not null and withdrawn_at is null and hidden_at is null and deleted_at is null;
-- The list of meetings for administrators: of the organization or of some components, and each state. The last columns
-- of the first one are those of its conditions, so that a page of ids is read from the index alone; the list of the
-- interface has a narrower one.
create index meetings_administered on meetings (organization_id, start_time, id, component_id, deleted_at)
    where deleted_at is null;
create index meetings_unpublished on meetings (organization_id, start_time, id)
    where published_at is null and deleted_at is null;
create index meetings_withdrawn on meetings (organization_id, start_time, id)
    where withdrawn_at is not null and deleted_at is null;
create index meetings_hidden on meetings (organization_id, start_time, id)
    where hidden_at is not null and deleted_at is null;
-- Lists in descending order, as those of proposals.
create index meetings_newest on meetings (organization_id, start_time desc, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_newest_in_component on meetings (component_id, start_time desc, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- The latest change of a record that a component counts, and its first records (contract 05 s. 3.4). The last columns are
-- those of the conditions, so that the rows are not read.
create index meetings_changed on meetings
    (component_id, updated_at, published_at, hidden_at, deleted_at, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null and (not private or transparent);
create index meetings_shown on meetings
    (component_id, id, published_at, hidden_at, deleted_at, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null and (not private or transparent);
create index restricted_meetings_changed on meetings
    (component_id, updated_at, published_at, hidden_at, deleted_at, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null and private and not transparent;
create index restricted_meetings_shown on meetings
    (component_id, id, published_at, hidden_at, deleted_at, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null and private and not transparent;
-- Random pages, as those of proposals.
create index meetings_by_id on meetings (organization_id, id + 0, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_by_id_in_component on meetings (component_id, id + 0)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- Lists in the order of creation, or of the last change.
create index meetings_created on meetings (organization_id, created_at, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_created_in_component on meetings (component_id, created_at, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_updated on meetings (organization_id, updated_at, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_updated_in_component on meetings (component_id, updated_at, id)
    where published_at is not null and hidden_at is null and deleted_at is null;

create trigger meetings_are_counted_when_inserted after insert on meetings
begin
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.published_at is not null and new.hidden_at is null
        and new.deleted_at is null and (not new.private or new.transparent),
        new.published_at is not null and new.hidden_at is null and new.deleted_at is null and new.private
            and not new.transparent)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;
create trigger meetings_are_counted_when_deleted after delete on meetings
begin
    update record_counts set shown = shown - (old.published_at is not null and old.hidden_at is null
        and old.deleted_at is null and (not old.private or old.transparent)),
        restricted = restricted - (old.published_at is not null and old.hidden_at is null
            and old.deleted_at is null and old.private and not old.transparent)
    where component_id = old.component_id;
end;
create trigger meetings_are_counted_when_changed
after update of component_id, published_at, hidden_at, deleted_at, private, transparent on meetings
when new.component_id <> old.component_id
    or (new.published_at is not null and new.hidden_at is null and new.deleted_at is null and (not new.private
        or new.transparent))
        <> (old.published_at is not null and old.hidden_at is null and old.deleted_at is null
            and (not old.private or old.transparent))
    or (new.published_at is not null and new.hidden_at is null and new.deleted_at is null and new.private
        and not new.transparent)
        <> (old.published_at is not null and old.hidden_at is null and old.deleted_at is null and old.private
            and not old.transparent)
begin
    update record_counts set shown = shown - (old.published_at is not null and old.hidden_at is null
        and old.deleted_at is null and (not old.private or old.transparent)),
        restricted = restricted - (old.published_at is not null and old.hidden_at is null
            and old.deleted_at is null and old.private and not old.transparent)
    where component_id = old.component_id;
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.published_at is not null and new.hidden_at is null
        and new.deleted_at is null and (not new.private or new.transparent),
        new.published_at is not null and new.hidden_at is null and new.deleted_at is null and new.private
            and not new.transparent)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;
create trigger meetings_lose_their_texts after delete on meetings
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44033, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;

-- Who takes part in a meeting.
create table meeting_registrations (
    meeting_id integer not null references meetings (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    primary key (meeting_id, user_id)
);
create index meeting_registrations_of_user on meeting_registrations (user_id, meeting_id);

-- Which reminders were sent: once for each meeting and time (contract 09 C.1).
create table meeting_reminders (
    meeting_id integer not null references meetings (id) on delete cascade,
    start_time text not null,
    primary key (meeting_id, start_time)
);

-- ==== Posts ====

create table posts (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    title text not null,
    body text not null,
    -- Null: the organization wrote it.
    author_id integer references users (id) on delete set null,
    -- Null: a draft. Later than now: scheduled.
    published_at text,
    deleted_at text,
    created_at text not null,
    updated_at text not null
);
-- Dated posts in the order of their list: of the organization, and of one component.
create index posts_listed on posts (organization_id, published_at, id, component_id, author_id)
    where published_at is not null and deleted_at is null;
create index posts_listed_in_component on posts (component_id, published_at, id, author_id)
    where published_at is not null and deleted_at is null;
-- The drafts of an author.
create index posts_of_author on posts (author_id, id) where published_at is null and deleted_at is null;
-- The next publication of any organization.
create index posts_scheduled on posts (published_at) where deleted_at is null;
-- Export in the order of ids, and the deletion of an organization and an account.
create index posts_of_organization on posts (organization_id, id);
create index posts_by_author on posts (author_id);
-- The list of posts for administrators: of one component, and drafts. That of the organization is posts_of_organization,
-- that of scheduled posts is posts_listed. The first one also serves the deletion of a component.
create index posts_by_component on posts (component_id, id);
create index posts_unpublished on posts (organization_id, id) where published_at is null and deleted_at is null;
-- Lists in descending order, as those of proposals.
create index posts_newest on posts (organization_id, published_at desc, id, component_id, author_id, deleted_at)
    where published_at is not null and deleted_at is null;
create index posts_newest_in_component on posts (component_id, published_at desc, id, author_id, deleted_at)
    where published_at is not null and deleted_at is null;
-- The latest change of a record that a component counts, and its first records (contract 05 s. 3.4). The last columns are
-- those of the conditions, so that the rows are not read.
create index posts_changed on posts (component_id, updated_at, published_at, deleted_at)
    where published_at is not null and deleted_at is null;
create index posts_shown on posts (component_id, id, published_at, deleted_at)
    where published_at is not null and deleted_at is null;
-- The drafts and scheduled posts of an author.
create index posts_of_author_by_date on posts (author_id, published_at) where deleted_at is null;
-- Random pages, as those of proposals.
create index posts_by_id on posts (organization_id, id + 0, component_id, published_at, author_id, deleted_at)
    where published_at is not null and deleted_at is null;
create index posts_by_id_in_component on posts (component_id, id + 0, published_at, author_id, deleted_at)
    where published_at is not null and deleted_at is null;
-- Lists in the order of creation, or of the last change.
create index posts_created on posts
    (organization_id, created_at, id, component_id, published_at, author_id, deleted_at)
    where deleted_at is null;
create index posts_created_in_component on posts (component_id, created_at, id, published_at, author_id, deleted_at)
    where deleted_at is null;
create index posts_updated on posts
    (organization_id, updated_at, id, component_id, published_at, author_id, deleted_at)
    where deleted_at is null;
create index posts_updated_in_component on posts (component_id, updated_at, id, published_at, author_id, deleted_at)
    where deleted_at is null;

create trigger posts_are_counted_when_inserted after insert on posts
begin
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.published_at is not null and new.deleted_at is null, 0)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;
create trigger posts_are_counted_when_deleted after delete on posts
begin
    update record_counts set shown = shown - (old.published_at is not null and old.deleted_at is null)
    where component_id = old.component_id;
end;
create trigger posts_are_counted_when_changed
after update of component_id, published_at, deleted_at on posts
when new.component_id <> old.component_id
    or (new.published_at is not null and new.deleted_at is null)
        <> (old.published_at is not null and old.deleted_at is null)
begin
    update record_counts set shown = shown - (old.published_at is not null and old.deleted_at is null)
    where component_id = old.component_id;
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.published_at is not null and new.deleted_at is null, 0)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;
create trigger posts_lose_their_texts after delete on posts
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44034, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;

-- ==== Pages, budgets, results, debates ====

-- Each kind has numbers of its own.
create table entries (
    kind text not null,
    id integer not null,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    title text not null,
    hidden_at text,
    deleted_at text,
    created_at text not null,
    updated_at text not null,
    primary key (kind, id)
);
create index entries_of_organization on entries (organization_id, kind, id);
create index entries_of_component on entries (component_id);
-- The first records of a component (contract 05 s. 3.4).
create index entries_shown on entries (component_id, id) where hidden_at is null and deleted_at is null;
-- The latest change of a record that a component counts.
create index entries_changed on entries (component_id, updated_at, hidden_at, deleted_at)
    where hidden_at is null and deleted_at is null;

create trigger entries_are_counted_when_inserted after insert on entries
begin
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.hidden_at is null and new.deleted_at is null, 0)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;
create trigger entries_are_counted_when_deleted after delete on entries
begin
    update record_counts set shown = shown - (old.hidden_at is null and old.deleted_at is null)
    where component_id = old.component_id;
end;
create trigger entries_are_counted_when_changed
after update of component_id, hidden_at, deleted_at on entries
when new.component_id <> old.component_id
    or (new.hidden_at is null and new.deleted_at is null)
        <> (old.hidden_at is null and old.deleted_at is null)
begin
    update record_counts set shown = shown - (old.hidden_at is null and old.deleted_at is null)
    where component_id = old.component_id;
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.hidden_at is null and new.deleted_at is null, 0)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;

-- ==== Surveys ====

create table surveys (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    starts_at text,
    ends_at text,
    deleted_at text,
    created_at text not null,
    updated_at text not null
);
create index surveys_of_organization on surveys (organization_id, id);
-- The first surveys of a component (contract 05 s. 3.4).
create index surveys_of_component on surveys (component_id, id) where deleted_at is null;
create index surveys_by_component on surveys (component_id);
-- The latest change of a record that a component counts.
create index surveys_changed on surveys (component_id, updated_at, deleted_at) where deleted_at is null;

create trigger surveys_are_counted_when_inserted after insert on surveys
begin
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.deleted_at is null, 0)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;
create trigger surveys_are_counted_when_deleted after delete on surveys
begin
    update record_counts set shown = shown - (old.deleted_at is null)
    where component_id = old.component_id;
end;
create trigger surveys_are_counted_when_changed
after update of component_id, deleted_at on surveys
when new.component_id <> old.component_id
    or (new.deleted_at is null)
        <> (old.deleted_at is null)
begin
    update record_counts set shown = shown - (old.deleted_at is null)
    where component_id = old.component_id;
    insert into record_counts (component_id, organization_id, shown, restricted)
    values (new.component_id, new.organization_id, new.deleted_at is null, 0)
    on conflict (component_id) do update
    set shown = shown + excluded.shown, restricted = restricted + excluded.restricted;
end;

create table questionnaires (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    -- The component of the survey or meeting.
    component_id integer not null references components (id) on delete cascade,
    survey_id integer references surveys (id) on delete cascade,
    meeting_id integer references meetings (id) on delete cascade,
    title text not null,
    description text not null,
    tos text not null,
    -- The key of the digests of respondents.
    salt text not null,
    created_at text not null,
    updated_at text not null,
    check ((survey_id is null) <> (meeting_id is null))
);
create index questionnaires_in_order on questionnaires (organization_id, updated_at, id, component_id);
create index questionnaires_of_component on questionnaires (component_id, updated_at, id);
create index questionnaires_of_organization on questionnaires (organization_id, id);
create index questionnaires_of_survey on questionnaires (survey_id);
create index questionnaires_of_meeting on questionnaires (meeting_id);
-- The list of questionnaires in the panel, newest first.
create index questionnaires_by_creation on questionnaires (organization_id, created_at, id);

create table questions (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    questionnaire_id integer not null references questionnaires (id) on delete cascade,
    position integer not null,
    question_type text not null,
    body text not null,
    description text,
    mandatory boolean not null,
    max_choices integer,
    max_characters integer not null
);
-- With the organization in it, because every query names it: no planner prefers the index of the organization.
create index questions_in_order on questions (questionnaire_id, organization_id, position, id);
create index questions_of_organization on questions (organization_id, id);

create table matrix_rows (
    id integer primary key autoincrement,
    question_id integer not null references questions (id) on delete cascade,
    -- Its name in archives.
    reference text not null,
    position integer not null,
    body text not null,
    unique (question_id, reference)
);

create table answer_options (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    question_id integer not null references questions (id) on delete cascade,
    body text not null
);
create index answer_options_of_question on answer_options (question_id, organization_id, id);
create index answer_options_of_organization on answer_options (organization_id, id);

create table display_conditions (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    question_id integer not null references questions (id) on delete cascade,
    condition_question_id integer not null references questions (id) on delete cascade,
    condition_type text not null,
    -- Null after the deletion of the option: the condition never holds.
    answer_option_id integer references answer_options (id) on delete set null,
    value text,
    mandatory boolean not null
);
create index display_conditions_of_question on display_conditions (question_id, organization_id, id);
create index display_conditions_by_question on display_conditions (condition_question_id);
create index display_conditions_by_option on display_conditions (answer_option_id);
create index display_conditions_of_organization on display_conditions (organization_id, id);

-- One submission. Clients know it by the lowest id of its answers.
create table responses (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    questionnaire_id integer not null references questionnaires (id) on delete cascade,
    user_id integer references users (id) on delete set null,
    -- The digest of the respondent, or a random text: one response of each respondent.
    session_token text not null,
    client_ip text,
    created_at text not null,
    unique (questionnaire_id, session_token)
);
create index responses_of_organization on responses (organization_id, id);
create index responses_of_user on responses (user_id);
-- The responses to a questionnaire, newest first: the list and the export of the panel.
create index responses_in_order on responses (questionnaire_id, organization_id, created_at, id);

create table answers (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    questionnaire_id integer not null references questionnaires (id) on delete cascade,
    response_id integer not null references responses (id) on delete cascade,
    question_id integer not null references questions (id) on delete cascade,
    -- The respondent, as in the response.
    user_id integer references users (id) on delete set null,
    body text,
    value text,
    created_at text not null,
    unique (response_id, question_id)
);
create index answers_in_order on answers (questionnaire_id, organization_id, created_at, id);
create index answers_of_user on answers (user_id, questionnaire_id, organization_id, created_at, id);
create index answers_of_question on answers (question_id, organization_id);
create index answers_of_response on answers (organization_id, response_id, id);

-- ==== Files and attachments ====

-- Stored files.
create table files (
    id integer primary key autoincrement,
    -- No foreign key: the row stays until the bytes are deleted.
    organization_id integer not null,
    key text not null unique,
    object text not null unique,
    filename text not null,
    content_type text not null,
    fault text,
    byte_size integer not null,
    sha256 text not null,
    thumbnail_bytes integer,
    state text not null check (state in ('pending', 'stored', 'removed')),
    created_at text not null
);
-- The files to delete, the oldest first.
create index files_to_delete on files (created_at, id) where state <> 'stored';
create index files_of_organization on files (organization_id, id);

-- Collections of attachments.
create table attachment_collections (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    -- A class name; the columns below it are the same reference with a foreign key.
    attached_to_type text not null,
    attached_to_id integer not null,
    space_manifest text,
    space_id integer,
    proposal_id integer references proposals (id) on delete cascade,
    meeting_id integer references meetings (id) on delete cascade,
    post_id integer references posts (id) on delete cascade,
    name text not null,
    weight integer not null,
    foreign key (space_manifest, space_id) references spaces (manifest, id) on delete cascade
);
create index attachment_collections_of_organization on attachment_collections (organization_id, id);
create index attachment_collections_of_space on attachment_collections (space_manifest, space_id);
create index attachment_collections_of_proposal on attachment_collections (proposal_id);
create index attachment_collections_of_meeting on attachment_collections (meeting_id);
create index attachment_collections_of_post on attachment_collections (post_id);
-- The collections of one record.
create index attachment_collections_of_parent on attachment_collections
    (organization_id, attached_to_type, attached_to_id, weight, id);

-- Files and links of records.
create table attachments (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    -- A class name; the columns below it are the same reference with a foreign key.
    attached_to_type text not null,
    attached_to_id integer not null,
    space_manifest text,
    space_id integer,
    proposal_id integer references proposals (id) on delete cascade,
    meeting_id integer references meetings (id) on delete cascade,
    post_id integer references posts (id) on delete cascade,
    title text not null,
    description text not null,
    weight integer not null,
    collection_id integer references attachment_collections (id) on delete set null,
    file_type text not null check (file_type in ('image', 'document', 'link')),
    file_id integer unique references files (id),
    link text,
    created_at text not null,
    updated_at text not null,
    -- Of the file of an answer. It is deleted with the answer.
    answer_id integer references answers (id) on delete cascade,
    check ((file_id is null) <> (link is null)),
    foreign key (space_manifest, space_id) references spaces (manifest, id) on delete cascade
);
-- Lists in their order: all, of one record, of one collection, of one type.
create index attachments_listed on attachments (organization_id, weight, id);
create index attachments_listed_of_parent on attachments (organization_id, attached_to_type, attached_to_id, weight, id);
create index attachments_listed_of_parent_id on attachments (organization_id, attached_to_id, weight, id);
create index attachments_listed_of_collection on attachments (collection_id, weight, id);
create index attachments_listed_of_type on attachments (organization_id, file_type, weight, id);
-- Export in the order of ids, and the deletion of a record.
create index attachments_of_organization on attachments (organization_id, id);
create index attachments_of_space on attachments (space_manifest, space_id);
create index attachments_of_proposal on attachments (proposal_id);
create index attachments_of_meeting on attachments (meeting_id);
create index attachments_of_post on attachments (post_id);
create index attachments_of_answer on attachments (answer_id, organization_id) where answer_id is not null;
-- Lists for readers who may not read answers: the files of answers are not skipped one by one.
create index attachments_listed_but_answers on attachments (organization_id, weight, id) where answer_id is null;
-- Lists of administrators: all attachments but files of answers by id, of one kind of record, of one type.
create index attachments_newest on attachments (organization_id, id) where answer_id is null;
create index attachments_newest_of_kind on attachments (organization_id, attached_to_type, id) where answer_id is null;
create index attachments_newest_of_type on attachments (organization_id, file_type, id) where answer_id is null;
-- Lists by creation and last change: all, and without the files of answers.
create index attachments_by_creation on attachments (organization_id, created_at, id);
create index attachments_by_change on attachments (organization_id, updated_at, id);
create index attachments_but_answers_by_creation on attachments (organization_id, created_at, id)
    where answer_id is null;
create index attachments_but_answers_by_change on attachments (organization_id, updated_at, id)
    where answer_id is null;

-- A file to which nothing refers any more is removed, whatever deleted the row that referred to it.
create trigger attachments_leave_files after delete on attachments when old.file_id is not null
begin
    update files set state = 'removed' where id = old.file_id;
end;
create trigger attachments_lose_their_texts after delete on attachments
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44037, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;

-- Direct uploads: announced, then stored as a file, then attached.
create table uploads (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null references api_clients (id) on delete cascade,
    -- SHA-256 of the secret part of the signed id.
    digest text not null,
    filename text not null,
    content_type text not null,
    byte_size integer not null,
    checksum text not null,
    file_id integer unique references files (id),
    created_at text not null
);
create index uploads_of_client on uploads (api_client_id);
create index uploads_announced on uploads (created_at);
-- Also sums up what an organization and its clients store, from the index alone.
create index uploads_of_organization on uploads (organization_id, id, api_client_id, byte_size, file_id, created_at);

create trigger uploads_leave_files after delete on uploads when old.file_id is not null
begin
    update files set state = 'removed' where id = old.file_id
        and not exists (select 1 from attachments where attachments.file_id = old.file_id);
end;

-- ==== Jobs, tasks, events, webhooks ====

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
    updated_at text not null,
    -- The order in which workers take jobs: the turns of one organization follow each other, those of two organizations
    -- alternate.
    turn bigint not null default 0,
    -- The size of payload and result.
    bytes bigint not null default 0
);
create index jobs_leased on jobs (leased_until) where status = 'processing';
-- The list of a client.
create index jobs_of_owner on jobs (organization_id, api_client_id, user_id, created_at, id);
-- The log of jobs: each filter in the order of the log.
create index jobs_in_order on jobs (created_at, id);
create index jobs_of_status on jobs (status, created_at, id);
create index jobs_of_command on jobs (command_key, created_at, id);
create index jobs_of_client on jobs (api_client_id, created_at, id);
-- What is old enough to be removed.
create index jobs_ended on jobs (updated_at) where status in ('completed', 'failed');
-- The jobs of an erased account.
create index jobs_of_user on jobs (user_id) where user_id is not null;
-- The conditions are no plain comparisons with `status`: SQLite would take another index of that column and sort all waiting
-- jobs.
create index jobs_in_turn on jobs (turn, created_at, due_at) where status || '' = 'pending';
create index jobs_running_in_turn on jobs (turn) where status || '' = 'processing';
-- Both also sum up what an organization and its clients store, from the index alone. That is why they have more columns than
-- their order: a further index would change with every job.
create index jobs_of_organization on jobs (organization_id, created_at, id, api_client_id, bytes);
create index jobs_in_turn_of_organization on jobs (organization_id, turn, created_at, api_client_id, bytes, status)
    where status || '' = 'pending';
-- The list of a client by last change.
create index jobs_of_owner_by_change on jobs (organization_id, api_client_id, user_id, updated_at, id);

-- What the platform does on its own, after the change that asked for it. A claimed task is due again when its lease ends.
create table tasks (
    id blob primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    kind text not null,
    subject text,
    payload text not null,
    attempts integer not null,
    due_at text not null,
    -- Whether a worker runs a task: then its due time is the end of a lease. A process that is alone on the database makes
    -- the tasks of its predecessor due at once.
    claimed boolean not null default false
);
create unique index tasks_by_subject on tasks (organization_id, kind, subject);
create index tasks_due on tasks (due_at);
-- The log of waiting mails: those that wait for another attempt, in the order of the log.
create index tasks_retried on tasks (id) where attempts > 0;
-- Each kind of tasks is claimed by itself: a kind with many tasks does not slow the others down. The condition holds
-- for all rows; it keeps queries without a condition on `due_at` from taking this index.
create index tasks_due_of_kind on tasks (kind, due_at, id) where due_at is not null;

-- Events, written in the transaction of the change they announce. No foreign key to organizations: that one was deleted is
-- told after it is gone.
create table outbox (
    id blob primary key,
    organization_id integer not null,
    name text not null,
    payload text not null,
    occurred_at text not null,
    -- The order of commits, given by the relay.
    position integer
);
create index outbox_of_organization on outbox (organization_id, id);
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

-- The webhooks of API clients.
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
-- What needs attention.
create index webhook_registrations_disabled on webhook_registrations (organization_id) where disabled_at is not null;
create index webhook_registrations_paused on webhook_registrations (organization_id) where paused_at is not null;
-- A worker goes from one client with pending deliveries to the next, and takes the registrations of each in turn.
create index webhook_registrations_in_turn on webhook_registrations (api_client_id, served_at, id)
    where due_at is not null and disabled_at is null and paused_at is null;

-- What is, or was, delivered to them.
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
-- The log of deliveries: by event.
create index webhook_deliveries_of_name on webhook_deliveries (name, created_at, id);

-- The attempts of each delivery.
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

-- ==== Audit trail ====

-- The audit trail: a chain of entries for each organization, and one for the deployment (0). Entries outlive their
-- organization.
create table audit_entries (
    id integer primary key autoincrement,
    organization_id integer not null,
    -- From 1 in each organization, without gaps.
    number integer not null,
    at text not null,
    actor_kind text not null,
    actor_id text,
    actor_name text,
    user_id integer,
    user_name text,
    address text,
    action text not null,
    object_kind text,
    object_id text,
    object_label text,
    -- JSON: [[field, before, after], ...]
    changes text not null,
    -- SHA-256 in hexadecimal.
    hash text not null,
    -- The digest of the details of an entry is in its chain, so that the details can be erased: then the salt is null.
    details_salt text,
    details_digest text
);
create unique index audit_entries_of_chain on audit_entries (organization_id, number);
create index audit_entries_of_organization on audit_entries (organization_id, at, id);
create index audit_entries_of_organization_and_action on audit_entries (organization_id, action, at, id);
create index audit_entries_of_organization_and_actor on audit_entries (organization_id, actor_kind, at, id);
create index audit_entries_by_time on audit_entries (at, id);
create index audit_entries_of_action on audit_entries (action, at, id);
create index audit_entries_of_actor on audit_entries (actor_kind, at, id);
create index audit_entries_of_object on audit_entries (object_kind, object_id, at, id);
-- The erasure of an account finds what was done for it.
create index audit_entries_of_user on audit_entries (organization_id, user_id) where user_id is not null;

-- The ends of the chains. The lock of a row makes one writer of a chain at a time.
create table audit_heads (
    organization_id integer primary key,
    number integer not null,
    hash text not null,
    -- The last entry that was removed because of its age.
    removed_number integer not null,
    removed_hash text not null
);
