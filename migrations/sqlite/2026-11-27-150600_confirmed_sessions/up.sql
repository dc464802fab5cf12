-- From where an administrator signed in and failed to: keyed digests of addresses.
alter table administrators add column sign_in_sources text not null default '{}';
alter table administrators drop column locked_until;
alter table administrators drop column failed_attempts;
-- When the administrator last gave the password in the session.
alter table panel_sessions add column confirmed_at text;
