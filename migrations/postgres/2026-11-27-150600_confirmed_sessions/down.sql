alter table panel_sessions drop column confirmed_at;
alter table administrators add column failed_attempts integer not null default 0;
alter table administrators add column locked_until timestamptz;
alter table administrators drop column sign_in_sources;
