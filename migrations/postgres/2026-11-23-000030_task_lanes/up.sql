-- Each kind of tasks is claimed by itself: a kind with many tasks does not slow the others down. The condition holds
-- for all rows; it keeps queries without a condition on `due_at` from taking this index.
create index tasks_due_of_kind on tasks (kind, due_at, id) where due_at is not null;
