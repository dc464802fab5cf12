-- A vote has the component and the organization of its proposal, a proposal has the organization of its component: they are
-- checked and deleted with these. A check of the other keys cost each inserted row 10 µs, and the deletion of a component
-- read all votes, because votes.component_id has no index.
alter table votes drop constraint votes_component_id_fkey, drop constraint votes_organization_id_fkey;
alter table proposals drop constraint proposals_organization_id_fkey;

-- Imported proposals have no client. Not on SQLite: it would read a small index as a whole, also where another one is better.
drop index proposals_of_client;
create index proposals_of_client on proposals (api_client_id) where api_client_id is not null;
