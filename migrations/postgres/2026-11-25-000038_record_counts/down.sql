drop index surveys_changed;
drop index entries_changed;
drop index restricted_meetings_shown;
drop index restricted_meetings_changed;
drop index meetings_shown;
drop index meetings_changed;
drop index posts_of_author_by_date;
drop index posts_shown;
drop index posts_changed;
create index posts_counted on posts (component_id, published_at, updated_at, author_id)
    where deleted_at is null;
create index meetings_shown on meetings (component_id, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_counted on meetings (component_id, updated_at, private, transparent, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index entries_counted on entries (component_id, updated_at)
    where hidden_at is null and deleted_at is null;
drop trigger posts_are_counted_when_inserted on posts;
drop trigger posts_are_counted_when_deleted on posts;
drop trigger posts_are_counted_when_changed on posts;
drop trigger meetings_are_counted_when_inserted on meetings;
drop trigger meetings_are_counted_when_deleted on meetings;
drop trigger meetings_are_counted_when_changed on meetings;
drop trigger entries_are_counted_when_inserted on entries;
drop trigger entries_are_counted_when_deleted on entries;
drop trigger entries_are_counted_when_changed on entries;
drop trigger surveys_are_counted_when_inserted on surveys;
drop trigger surveys_are_counted_when_deleted on surveys;
drop trigger surveys_are_counted_when_changed on surveys;
drop function count_records();
drop table record_counts;
