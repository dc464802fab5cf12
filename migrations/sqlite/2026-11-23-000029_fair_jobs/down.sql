drop index jobs_running_in_turn;
drop index jobs_in_turn_of_organization;
drop index jobs_in_turn;
create index jobs_due on jobs (due_at, created_at) where status = 'pending';
alter table jobs drop column turn;
