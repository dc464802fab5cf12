drop index proposals_most_voted_in_component;
drop index proposals_most_voted;
drop trigger votes_are_no_longer_counted;
drop trigger votes_are_counted_when_changed;
drop trigger votes_are_counted_when_deleted;
drop trigger votes_are_counted_when_inserted;
alter table proposals drop column votes_changed_at;
alter table proposals drop column votes_count;
