alter table users add column failed_logins bigint not null default 0;
drop table login_failures;
