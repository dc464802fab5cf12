-- Lists in descending order: records of one time come by ascending id, so the indexes of ascending lists do not have the
-- order. Many records have one time after an import.
create index proposals_newest on proposals
    (organization_id, published_at desc, id, component_id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_newest_in_component on proposals (component_id, published_at desc, id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_newest on meetings (organization_id, start_time desc, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_newest_in_component on meetings (component_id, start_time desc, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_newest on posts (organization_id, published_at desc, id, component_id, author_id, deleted_at)
    where published_at is not null and deleted_at is null;
create index posts_newest_in_component on posts (component_id, published_at desc, id, author_id, deleted_at)
    where published_at is not null and deleted_at is null;
