drop index posts_sampled_in_component;
drop index posts_sampled;
drop index meetings_sampled_in_component;
drop index meetings_sampled;
drop index proposals_sampled_in_component;
drop index proposals_sampled;

-- Random pages are ranges of these indexes, from a random id on: of the organization, and of one component. By an expression,
-- so that PostgreSQL does not read the primary key in its order instead. The further columns are those of the conditions, so
-- that ids are read from the index alone.
create index proposals_by_id on proposals (organization_id, (id + 0), component_id, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_by_id_in_component on proposals (component_id, (id + 0), id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_by_id on meetings (organization_id, (id + 0), component_id, id, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_by_id_in_component on meetings (component_id, (id + 0), id, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_by_id on posts (organization_id, (id + 0), component_id, id, published_at, author_id)
    where published_at is not null and deleted_at is null;
create index posts_by_id_in_component on posts (component_id, (id + 0), id, published_at, author_id)
    where published_at is not null and deleted_at is null;
