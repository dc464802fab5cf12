-- How many mails were queued within an hour: to an address, or for an API client.
create table mail_counts (
    organization_id bigint not null references organizations (id) on delete cascade,
    -- SHA-256 of what is counted, in hexadecimal.
    subject_digest text not null,
    began_at timestamptz not null,
    mails bigint not null,
    primary key (subject_digest, organization_id)
);
create index mail_counts_of_organization on mail_counts (organization_id);
create index mail_counts_by_time on mail_counts (began_at);
