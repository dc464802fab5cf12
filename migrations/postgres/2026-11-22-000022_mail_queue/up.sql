-- The log of waiting mails: those that wait for another attempt, in the order of the log.
drop index tasks_retried;
create index tasks_retried on tasks (id) where attempts > 0;
