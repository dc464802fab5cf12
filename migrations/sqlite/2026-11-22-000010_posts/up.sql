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
-- Export in the order of ids, and the deletion of an organization, a component and an account.
create index posts_of_organization on posts (organization_id, id);
create index posts_by_component on posts (component_id);
create index posts_by_author on posts (author_id);
