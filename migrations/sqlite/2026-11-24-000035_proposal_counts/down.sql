drop index proposals_shown;
create index proposals_shown on proposals (component_id, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_counted on proposals
    (component_id, public_state, updated_at, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
drop index proposals_changed;
drop trigger proposals_are_no_longer_counted;
drop trigger proposals_are_counted_when_changed;
drop trigger proposals_are_counted_when_deleted;
drop trigger proposals_are_counted_when_inserted;
drop table proposal_counts;
