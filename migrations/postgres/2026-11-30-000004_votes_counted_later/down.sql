create or replace trigger votes_are_counted_when_inserted after insert on votes
    referencing new table as inserted for each statement
    execute function count_inserted_votes();
create or replace trigger votes_are_counted_when_deleted after delete on votes
    referencing old table as deleted for each statement
    execute function count_deleted_votes();
create or replace trigger votes_are_counted_when_changed after update on votes
    referencing old table as before_change new table as after_change for each statement
    execute function count_changed_votes();
