create table votes_with_copied_keys (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    proposal_id integer not null references proposals (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    weight integer not null,
    temporary boolean not null,
    created_at text not null,
    updated_at text not null
);
insert into votes_with_copied_keys
select id, organization_id, proposal_id, component_id, user_id, weight, temporary, created_at, updated_at from votes
order by id;
delete from sqlite_sequence where name = 'votes_with_copied_keys';
insert into sqlite_sequence (name, seq) select 'votes_with_copied_keys', seq from sqlite_sequence where name = 'votes';
drop table votes;
alter table votes_with_copied_keys rename to votes;
create unique index votes_once on votes (proposal_id, user_id);
create index votes_of_user on votes (user_id, component_id);
create index votes_of_organization on votes (organization_id, id);
create index votes_of_proposal on votes (proposal_id, created_at, id);
