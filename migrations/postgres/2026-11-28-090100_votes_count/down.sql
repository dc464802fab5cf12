drop index proposals_most_voted_in_component;
drop index proposals_most_voted;
drop trigger proposals_are_counted_when_changed on proposals;
create trigger proposals_are_counted_when_changed after update on proposals
    referencing old table as before_change new table as after_change
    for each statement execute function count_changed_proposals();
drop trigger votes_are_counted_when_changed on votes;
drop trigger votes_are_counted_when_deleted on votes;
drop trigger votes_are_counted_when_inserted on votes;
drop function count_changed_votes;
drop function count_deleted_votes;
drop function count_inserted_votes;
alter table proposals drop column votes_changed_at, drop column votes_count;
