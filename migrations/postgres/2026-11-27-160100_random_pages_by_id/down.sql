drop index posts_by_id_in_component;
drop index posts_by_id;
drop index meetings_by_id_in_component;
drop index meetings_by_id;
drop index proposals_by_id_in_component;
drop index proposals_by_id;

-- The buckets from which random pages are drawn: of the organization, and of one component. The further columns are those of
-- the conditions, so that ids are read from the index alone: else another index that has them is read as a whole.
create index proposals_sampled on proposals (organization_id, (id % 65521), component_id, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_sampled_in_component on proposals (component_id, (id % 65521), id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_sampled on meetings (organization_id, (id % 65521), component_id, id, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_sampled_in_component on meetings (component_id, (id % 65521), id, private, transparent)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_sampled on posts (organization_id, (id % 65521), component_id, id, published_at, author_id)
    where published_at is not null and deleted_at is null;
create index posts_sampled_in_component on posts (component_id, (id % 65521), id, published_at, author_id)
    where published_at is not null and deleted_at is null;
