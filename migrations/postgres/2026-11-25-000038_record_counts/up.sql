-- How many posts, meetings, entries and surveys a component has that readers can see: changed by triggers, in the
-- transaction of each change of a record. They run once for a statement, as those of proposals.
create table record_counts (
    component_id bigint not null primary key references components (id) on delete cascade,
    organization_id bigint not null,
    -- Those that each reader of the component sees; of posts those with a date, also in the future.
    shown bigint not null,
    -- Private meetings that are not transparent.
    restricted bigint not null
);
create index record_counts_of_organization on record_counts (organization_id);

insert into record_counts (component_id, organization_id, shown, restricted)
select component_id, organization_id, count(*), 0
from posts where published_at is not null and deleted_at is null
group by component_id, organization_id;
insert into record_counts (component_id, organization_id, shown, restricted)
select component_id, organization_id, sum((not private or transparent)::int), sum((private and not transparent)::int)
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

-- The arguments of a trigger are the conditions of the records that are shown and of those that are restricted.
create function count_records() returns trigger language plpgsql as $$
declare
    parts text[] := '{}';
    change record;
begin
    if tg_op <> 'DELETE' then
        parts := parts || format('select component_id, organization_id, (%s)::int as shown, '
            '(%s)::int as restricted from after_change', tg_argv[0], tg_argv[1]);
    end if;
    if tg_op <> 'INSERT' then
        parts := parts || format('select component_id, organization_id, -(%s)::int as shown, '
            '-(%s)::int as restricted from before_change', tg_argv[0], tg_argv[1]);
    end if;
    -- Changes that cancel each other are left out: most updates change no count, and lock no row of the table.
    for change in execute format(
        'select component_id, organization_id, sum(shown) as shown,
            sum(restricted) as restricted from (%s) as changes '
        'group by component_id, organization_id having sum(shown) <> 0 or sum(restricted) <> 0 order by component_id',
        array_to_string(parts, ' union all '))
    loop
        update record_counts
        set shown = record_counts.shown + change.shown, restricted = record_counts.restricted + change.restricted
        where component_id = change.component_id;
        -- Records of a removed component go with it, and so did its count.
        if not found and (change.shown > 0 or change.restricted > 0) then
            insert into record_counts (component_id, organization_id, shown, restricted)
            values (change.component_id, change.organization_id, change.shown, change.restricted)
            on conflict (component_id) do update
            set shown = record_counts.shown + excluded.shown,
                restricted = record_counts.restricted + excluded.restricted;
        end if;
    end loop;
    return null;
end $$;

create trigger posts_are_counted_when_inserted after insert on posts
    referencing new table as after_change
    for each statement execute function count_records('published_at is not null and deleted_at is null', 'false');
create trigger posts_are_counted_when_deleted after delete on posts
    referencing old table as before_change
    for each statement execute function count_records('published_at is not null and deleted_at is null', 'false');
create trigger posts_are_counted_when_changed after update on posts
    referencing old table as before_change new table as after_change
    for each statement execute function count_records('published_at is not null and deleted_at is null', 'false');

create trigger meetings_are_counted_when_inserted after insert on meetings
    referencing new table as after_change
    for each statement execute function count_records(
        'published_at is not null and hidden_at is null and deleted_at is null and (not private or transparent)',
        'published_at is not null and hidden_at is null and deleted_at is null and private and not transparent');
create trigger meetings_are_counted_when_deleted after delete on meetings
    referencing old table as before_change
    for each statement execute function count_records(
        'published_at is not null and hidden_at is null and deleted_at is null and (not private or transparent)',
        'published_at is not null and hidden_at is null and deleted_at is null and private and not transparent');
create trigger meetings_are_counted_when_changed after update on meetings
    referencing old table as before_change new table as after_change
    for each statement execute function count_records(
        'published_at is not null and hidden_at is null and deleted_at is null and (not private or transparent)',
        'published_at is not null and hidden_at is null and deleted_at is null and private and not transparent');

create trigger entries_are_counted_when_inserted after insert on entries
    referencing new table as after_change
    for each statement execute function count_records('hidden_at is null and deleted_at is null', 'false');
create trigger entries_are_counted_when_deleted after delete on entries
    referencing old table as before_change
    for each statement execute function count_records('hidden_at is null and deleted_at is null', 'false');
create trigger entries_are_counted_when_changed after update on entries
    referencing old table as before_change new table as after_change
    for each statement execute function count_records('hidden_at is null and deleted_at is null', 'false');

create trigger surveys_are_counted_when_inserted after insert on surveys
    referencing new table as after_change
    for each statement execute function count_records('deleted_at is null', 'false');
create trigger surveys_are_counted_when_deleted after delete on surveys
    referencing old table as before_change
    for each statement execute function count_records('deleted_at is null', 'false');
create trigger surveys_are_counted_when_changed after update on surveys
    referencing old table as before_change new table as after_change
    for each statement execute function count_records('deleted_at is null', 'false');

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
