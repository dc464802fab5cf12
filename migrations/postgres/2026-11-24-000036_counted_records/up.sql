-- What a component counts of its posts, meetings and other records: all columns of the conditions, so that the rows are not
-- read.
create index posts_counted on posts (component_id, published_at, updated_at, author_id)
    where deleted_at is null;
create index meetings_counted on meetings (component_id, updated_at, private, transparent, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index entries_counted on entries (component_id, updated_at)
    where hidden_at is null and deleted_at is null;
