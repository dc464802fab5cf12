-- How many proposals are published and neither hidden nor deleted, by component and public state: changed by triggers, in
-- the transaction of each change of a proposal. They run once for a statement: an import changes a row of this table once
-- for each of its chunks.
create table proposal_counts (
    component_id bigint not null references components (id) on delete cascade,
    public_state text not null,
    -- That of the component.
    organization_id bigint not null,
    shown bigint not null,
    primary key (component_id, public_state)
);
create index proposal_counts_of_organization on proposal_counts (organization_id);

insert into proposal_counts (component_id, public_state, organization_id, shown)
select component_id, public_state, organization_id, count(*) from proposals
where published_at is not null and hidden_at is null and deleted_at is null
group by component_id, public_state, organization_id;

create function count_inserted_proposals() returns trigger language plpgsql as $$
begin
    insert into proposal_counts (component_id, public_state, organization_id, shown)
    select component_id, public_state, organization_id, count(*) from inserted
    where published_at is not null and hidden_at is null and deleted_at is null
    group by component_id, public_state, organization_id
    order by component_id, public_state
    on conflict (component_id, public_state) do update set shown = proposal_counts.shown + excluded.shown;
    return null;
end $$;

create function count_deleted_proposals() returns trigger language plpgsql as $$
begin
    update proposal_counts set shown = proposal_counts.shown - gone.number
    from (
        select component_id, public_state, count(*) as number from deleted
        where published_at is not null and hidden_at is null and deleted_at is null
        group by component_id, public_state
    ) as gone
    where proposal_counts.component_id = gone.component_id and proposal_counts.public_state = gone.public_state;
    return null;
end $$;

-- Changes that cancel each other are left out: most updates change no count, and lock no row of the table.
create function count_changed_proposals() returns trigger language plpgsql as $$
declare change record;
begin
    for change in
        select component_id, public_state, organization_id, sum(number) as number
        from (
            select component_id, public_state, organization_id, 1 as number from after_change
            where published_at is not null and hidden_at is null and deleted_at is null
            union all
            select component_id, public_state, organization_id, -1 as number from before_change
            where published_at is not null and hidden_at is null and deleted_at is null
        ) as changes
        group by component_id, public_state, organization_id
        having sum(number) <> 0
        order by component_id, public_state
    loop
        if change.number > 0 then
            insert into proposal_counts (component_id, public_state, organization_id, shown)
            values (change.component_id, change.public_state, change.organization_id, change.number)
            on conflict (component_id, public_state) do update set shown = proposal_counts.shown + excluded.shown;
        else
            update proposal_counts set shown = shown + change.number
            where component_id = change.component_id and public_state = change.public_state;
        end if;
    end loop;
    return null;
end $$;

create trigger proposals_are_counted_when_inserted after insert on proposals
    referencing new table as inserted for each statement execute function count_inserted_proposals();
create trigger proposals_are_counted_when_deleted after delete on proposals
    referencing old table as deleted for each statement execute function count_deleted_proposals();
create trigger proposals_are_counted_when_changed after update on proposals
    referencing old table as before_change new table as after_change
    for each statement execute function count_changed_proposals();

-- The latest change of a shown proposal of a component.
create index proposals_changed on proposals (component_id, updated_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
drop index proposals_counted;
