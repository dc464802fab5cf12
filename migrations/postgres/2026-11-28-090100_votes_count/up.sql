-- How many final votes a proposal has, and when that number last changed: changed by triggers, in the transaction of each
-- change of a vote. They run once for a statement, and change proposals in the order of their ids.
alter table proposals add column votes_count bigint not null default 0, add column votes_changed_at timestamptz;

create function count_inserted_votes() returns trigger language plpgsql as $$
declare change record;
begin
    for change in
        select proposal_id, count(*) as number from inserted where not temporary
        group by proposal_id order by proposal_id
    loop
        update proposals set votes_count = votes_count + change.number, votes_changed_at = clock_timestamp()
        where id = change.proposal_id;
    end loop;
    return null;
end $$;

create function count_deleted_votes() returns trigger language plpgsql as $$
declare change record;
begin
    for change in
        select proposal_id, count(*) as number from deleted where not temporary
        group by proposal_id order by proposal_id
    loop
        update proposals set votes_count = votes_count - change.number, votes_changed_at = clock_timestamp()
        where id = change.proposal_id;
    end loop;
    return null;
end $$;

-- Changes that cancel each other are left out.
create function count_changed_votes() returns trigger language plpgsql as $$
declare change record;
begin
    for change in
        select proposal_id, sum(number)::bigint as number
        from (
            select proposal_id, 1 as number from after_change where not temporary
            union all
            select proposal_id, -1 as number from before_change where not temporary
        ) as changes
        group by proposal_id having sum(number) <> 0 order by proposal_id
    loop
        update proposals set votes_count = votes_count + change.number, votes_changed_at = clock_timestamp()
        where id = change.proposal_id;
    end loop;
    return null;
end $$;

-- Before the votes are counted: from here to the commit no other connection changes votes.
create trigger votes_are_counted_when_inserted after insert on votes
    referencing new table as inserted for each statement execute function count_inserted_votes();
create trigger votes_are_counted_when_deleted after delete on votes
    referencing old table as deleted for each statement execute function count_deleted_votes();
create trigger votes_are_counted_when_changed after update on votes
    referencing old table as before_change new table as after_change
    for each statement execute function count_changed_votes();

update proposals set votes_count = counted.number
from (select proposal_id, count(*) as number from votes where not temporary group by proposal_id) as counted
where proposals.id = counted.proposal_id;

-- A change of the number of votes changes no count of proposals: a vote does not pay for that trigger.
drop trigger proposals_are_counted_when_changed on proposals;
create trigger proposals_are_counted_when_changed after update on proposals
    referencing old table as before_change new table as after_change
    for each statement when (pg_trigger_depth() = 0) execute function count_changed_proposals();

-- Lists by the number of votes: proposals of one number come by ascending id.
create index proposals_most_voted on proposals (organization_id, votes_count desc, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_most_voted_in_component on proposals (component_id, votes_count desc, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
