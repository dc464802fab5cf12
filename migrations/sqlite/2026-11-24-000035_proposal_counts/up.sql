-- How many proposals are published and neither hidden nor deleted, by component and public state: changed by triggers, in
-- the transaction of each change of a proposal.
create table proposal_counts (
    component_id integer not null references components (id) on delete cascade,
    public_state text not null,
    -- That of the component.
    organization_id integer not null,
    shown integer not null,
    primary key (component_id, public_state)
);
create index proposal_counts_of_organization on proposal_counts (organization_id);

insert into proposal_counts (component_id, public_state, organization_id, shown)
select component_id, public_state, organization_id, count(*) from proposals
where published_at is not null and hidden_at is null and deleted_at is null
group by component_id, public_state, organization_id;

create trigger proposals_are_counted_when_inserted after insert on proposals
when new.published_at is not null and new.hidden_at is null and new.deleted_at is null
begin
    insert into proposal_counts (component_id, public_state, organization_id, shown)
    values (new.component_id, new.public_state, new.organization_id, 1)
    on conflict (component_id, public_state) do update set shown = shown + 1;
end;

create trigger proposals_are_counted_when_deleted after delete on proposals
when old.published_at is not null and old.hidden_at is null and old.deleted_at is null
begin
    update proposal_counts set shown = shown - 1
    where component_id = old.component_id and public_state = old.public_state;
end;

create trigger proposals_are_counted_when_changed
after update of component_id, public_state, published_at, hidden_at, deleted_at on proposals
when new.published_at is not null and new.hidden_at is null and new.deleted_at is null
    and (old.published_at is null or old.hidden_at is not null or old.deleted_at is not null
        or old.component_id <> new.component_id or old.public_state <> new.public_state)
begin
    insert into proposal_counts (component_id, public_state, organization_id, shown)
    values (new.component_id, new.public_state, new.organization_id, 1)
    on conflict (component_id, public_state) do update set shown = shown + 1;
end;

create trigger proposals_are_no_longer_counted
after update of component_id, public_state, published_at, hidden_at, deleted_at on proposals
when old.published_at is not null and old.hidden_at is null and old.deleted_at is null
    and (new.published_at is null or new.hidden_at is not null or new.deleted_at is not null
        or old.component_id <> new.component_id or old.public_state <> new.public_state)
begin
    update proposal_counts set shown = shown - 1
    where component_id = old.component_id and public_state = old.public_state;
end;

-- The latest change of a shown proposal of a component. The last columns are those of the condition, so that the rows are
-- not read.
create index proposals_changed on proposals (component_id, updated_at, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
drop index proposals_counted;
-- The first proposals of a component, with these columns too.
drop index proposals_shown;
create index proposals_shown on proposals (component_id, id, published_at, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
