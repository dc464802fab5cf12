alter table tasks drop column claimed;
