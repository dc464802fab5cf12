-- Whether a worker runs a task: then its due time is the end of a lease. A process that is alone on the database makes
-- the tasks of its predecessor due at once.
alter table tasks add column claimed boolean not null default false;
