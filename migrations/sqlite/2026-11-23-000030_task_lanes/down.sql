drop index tasks_due_of_kind;
