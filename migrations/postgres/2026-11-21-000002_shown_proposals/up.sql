-- What a component names of the proposals in it, and what it counts of them (contract 05 s. 3.7 and 3.8). The second
-- holds all that is asked, so that SQLite need not look at the rows.
create index proposals_shown on proposals (component_id, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_counted on proposals
    (component_id, public_state, updated_at, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
