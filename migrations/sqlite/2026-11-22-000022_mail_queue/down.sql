drop index tasks_retried;
create index tasks_retried on tasks (kind, organization_id) where attempts > 0;
