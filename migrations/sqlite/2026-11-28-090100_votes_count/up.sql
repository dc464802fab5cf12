-- How many final votes a proposal has, and when that number last changed: changed by triggers, in the transaction of each
-- change of a vote.
alter table proposals add column votes_count integer not null default 0;
alter table proposals add column votes_changed_at text;

update proposals set votes_count = counted.number
from (select proposal_id, count(*) as number from votes where not temporary group by proposal_id) as counted
where proposals.id = counted.proposal_id;

create trigger votes_are_counted_when_inserted after insert on votes
when not new.temporary
begin
    update proposals set votes_count = votes_count + 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = new.proposal_id;
end;

create trigger votes_are_counted_when_deleted after delete on votes
when not old.temporary
begin
    update proposals set votes_count = votes_count - 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = old.proposal_id;
end;

create trigger votes_are_counted_when_changed after update of temporary, proposal_id on votes
when not new.temporary and (old.temporary or old.proposal_id <> new.proposal_id)
begin
    update proposals set votes_count = votes_count + 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = new.proposal_id;
end;

create trigger votes_are_no_longer_counted after update of temporary, proposal_id on votes
when not old.temporary and (new.temporary or old.proposal_id <> new.proposal_id)
begin
    update proposals set votes_count = votes_count - 1, votes_changed_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')
    where id = old.proposal_id;
end;

-- Lists by the number of votes: proposals of one number come by ascending id. Without `published_at`, whose text
-- costs each vote 5 µs: a list reads the rows that it skips.
create index proposals_most_voted on proposals (organization_id, votes_count desc, id, component_id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_most_voted_in_component on proposals (component_id, votes_count desc, id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
