alter table users add column failed_logins integer not null default 0;
drop table login_failures;
