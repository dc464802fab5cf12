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

insert into record_counts (component_id, organization_id, shown, restricted)
select component_id, organization_id, count(*), 0
from posts where published_at is not null and deleted_at is null
group by component_id, organization_id;
insert into record_counts (component_id, organization_id, shown, restricted)
select component_id, organization_id, sum((not private or transparent)), sum((private and not transparent))
from meetings where published_at is not null and hidden_at is null and deleted_at is null
group by component_id, organization_id;
insert into record_counts (component_id, organization_id, shown, restricted)
select component_id, organization_id, count(*), 0
from entries where hidden_at is null and deleted_at is null
group by component_id, organization_id;
insert into record_counts (component_id, organization_id, shown, restricted)
select component_id, organization_id, count(*), 0
from surveys where deleted_at is null
group by component_id, organization_id;

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

-- The latest change of a record that a component counts, and its first records. The last columns are those of the
-- conditions, so that the rows are not read.
drop index posts_counted;
create index posts_changed on posts (component_id, updated_at, published_at, deleted_at)
    where published_at is not null and deleted_at is null;
create index posts_shown on posts (component_id, id, published_at, deleted_at)
    where published_at is not null and deleted_at is null;
-- The drafts and scheduled posts of an author.
create index posts_of_author_by_date on posts (author_id, published_at) where deleted_at is null;
drop index meetings_counted;
drop index meetings_shown;
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
drop index entries_counted;
create index entries_changed on entries (component_id, updated_at, hidden_at, deleted_at)
    where hidden_at is null and deleted_at is null;
create index surveys_changed on surveys (component_id, updated_at, deleted_at) where deleted_at is null;
