create index proposals_counted on proposals
    (component_id, public_state, updated_at, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
drop index proposals_changed;
drop trigger proposals_are_counted_when_changed on proposals;
drop trigger proposals_are_counted_when_deleted on proposals;
drop trigger proposals_are_counted_when_inserted on proposals;
drop function count_changed_proposals;
drop function count_deleted_proposals;
drop function count_inserted_proposals;
drop table proposal_counts;
