-- The numbers that new rows of tables with a number per kind are above: spaces by manifest, and pages, budgets, results and
-- debates. Written by imports that keep ids.
create table id_floors (
    kind text primary key,
    last_id integer not null
);

alter table proposal_states add column updated_at text not null default '2026-11-30 00:00:00.000000+00:00';
update proposal_states set updated_at =
    (select components.created_at from components where components.id = proposal_states.component_id);
