-- A vote has the component and the organization of its proposal: it is checked and deleted with that. The deletion of a
-- component read all votes, because votes.component_id has no index. SQLite cannot drop a key of a table.
create table votes_without_copied_keys (
    id integer primary key autoincrement,
    organization_id integer not null,
    proposal_id integer not null references proposals (id) on delete cascade,
    component_id integer not null,
    user_id integer not null references users (id) on delete cascade,
    weight integer not null,
    temporary boolean not null,
    created_at text not null,
    updated_at text not null
);
insert into votes_without_copied_keys
select id, organization_id, proposal_id, component_id, user_id, weight, temporary, created_at, updated_at from votes
order by id;
-- Ids that were given to votes that are deleted are not given again.
delete from sqlite_sequence where name = 'votes_without_copied_keys';
insert into sqlite_sequence (name, seq) select 'votes_without_copied_keys', seq from sqlite_sequence where name = 'votes';
drop table votes;
alter table votes_without_copied_keys rename to votes;
create unique index votes_once on votes (proposal_id, user_id);
create index votes_of_user on votes (user_id, component_id);
create index votes_of_organization on votes (organization_id, id);
create index votes_of_proposal on votes (proposal_id, created_at, id);
