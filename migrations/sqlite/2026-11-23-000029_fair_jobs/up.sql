-- The order in which workers take jobs: the turns of one organization follow each other, those of two organizations
-- alternate. The conditions are no plain comparisons with `status`: SQLite would take another index of that column
-- and sort all waiting jobs.
alter table jobs add column turn bigint not null default 0;
drop index jobs_due;
create index jobs_in_turn on jobs (turn, created_at, due_at) where status || '' = 'pending';
create index jobs_in_turn_of_organization on jobs (organization_id, turn) where status || '' = 'pending';
create index jobs_running_in_turn on jobs (turn) where status || '' = 'processing';
