-- An import counts the votes that it adds at its end: each change of a number of votes writes all indexes of proposals. A
-- transaction that sets civitas.vote_counting to off must make votes_count of proposals right before its commit.
create or replace trigger votes_are_counted_when_inserted after insert on votes
    referencing new table as inserted for each statement
    when (current_setting('civitas.vote_counting', true) is distinct from 'off') execute function count_inserted_votes();
create or replace trigger votes_are_counted_when_deleted after delete on votes
    referencing old table as deleted for each statement
    when (current_setting('civitas.vote_counting', true) is distinct from 'off') execute function count_deleted_votes();
create or replace trigger votes_are_counted_when_changed after update on votes
    referencing old table as before_change new table as after_change for each statement
    when (current_setting('civitas.vote_counting', true) is distinct from 'off') execute function count_changed_votes();
