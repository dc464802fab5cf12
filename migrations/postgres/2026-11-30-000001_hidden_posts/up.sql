-- Moderators hide posts, as they hide meetings. Readers see no hidden post: the indexes of lists leave them out, and
-- the triggers do not count them.
alter table posts add column hidden_at timestamptz;

drop index posts_listed;
drop index posts_listed_in_component;
drop index posts_of_author;
drop index posts_unpublished;
drop index posts_newest;
drop index posts_newest_in_component;
drop index posts_changed;
drop index posts_shown;
drop index posts_of_author_by_date;
drop index posts_by_id;
drop index posts_by_id_in_component;
drop index posts_created;
drop index posts_created_in_component;
drop index posts_updated;
drop index posts_updated_in_component;
create index posts_listed on posts (organization_id, published_at, id, component_id, author_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_listed_in_component on posts (component_id, published_at, id, author_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_of_author on posts (author_id, id)
    where published_at is null and hidden_at is null and deleted_at is null;
create index posts_unpublished on posts (organization_id, id)
    where published_at is null and hidden_at is null and deleted_at is null;
create index posts_newest on posts (organization_id, published_at desc, id, component_id, author_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_newest_in_component on posts (component_id, published_at desc, id, author_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_changed on posts (component_id, updated_at, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_shown on posts (component_id, id, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_of_author_by_date on posts (author_id, published_at) where hidden_at is null and deleted_at is null;
create index posts_by_id on posts (organization_id, (id + 0), component_id, id, published_at, author_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_by_id_in_component on posts (component_id, (id + 0), id, published_at, author_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_created on posts (organization_id, created_at, id, component_id)
    where hidden_at is null and deleted_at is null;
create index posts_created_in_component on posts (component_id, created_at, id)
    where hidden_at is null and deleted_at is null;
create index posts_updated on posts (organization_id, updated_at, id, component_id)
    where hidden_at is null and deleted_at is null;
create index posts_updated_in_component on posts (component_id, updated_at, id)
    where hidden_at is null and deleted_at is null;
-- The list of hidden posts, for administrators.
create index posts_hidden on posts (organization_id, id) where hidden_at is not null and deleted_at is null;

drop trigger posts_are_counted_when_inserted on posts;
drop trigger posts_are_counted_when_deleted on posts;
drop trigger posts_are_counted_when_changed on posts;
create trigger posts_are_counted_when_inserted after insert on posts
    referencing new table as after_change
    for each statement execute function count_records(
        'published_at is not null and hidden_at is null and deleted_at is null', 'false');
create trigger posts_are_counted_when_deleted after delete on posts
    referencing old table as before_change
    for each statement execute function count_records(
        'published_at is not null and hidden_at is null and deleted_at is null', 'false');
create trigger posts_are_counted_when_changed after update on posts
    referencing old table as before_change new table as after_change
    for each statement execute function count_records(
        'published_at is not null and hidden_at is null and deleted_at is null', 'false');
