-- A large city: 200,000 people, 100,000 proposals, a million votes. Load after schema-subset.sql into an empty database.
-- Takes half a minute and 300 MB. `tests/decidim/run BINARY --large` loads and imports it.
\set people 200000
\set proposals 100000
\set votes 1000000

begin;
insert into ar_internal_metadata values ('environment', 'production', '2017-01-01', '2017-01-01');
insert into data_migrations values ('20251125144141'), ('20260111185230'), ('20260111190000');
insert into decidim_organizations (id, name, description, host, available_locales, default_locale, reference_prefix, time_zone,
    created_at, updated_at)
values (1, '{"en": "Large city"}', '{}', 'large.example.test', '{en,fr,es}', 'en', 'LRG', 'UTC', '2024-01-01', '2024-01-01');
insert into decidim_users (id, type, decidim_organization_id, email, nickname, name, encrypted_password, locale, confirmed_at,
    created_at, updated_at)
select n, 'Decidim::User', 1, 'person' || n || '@large.example.test', 'person_' || n, 'Person ' || n,
    '$2a$11$Mo6zMk0SZYXEz4Wm6B1sd.g9kVe9kQqXQxbmuEWU1uk/RBwrhxE56', 'en', '2024-01-02', '2024-01-02', '2024-01-02'
from generate_series(1, :people) n;
update decidim_users set admin = true where id = 1;
insert into decidim_participatory_processes (id, decidim_organization_id, slug, title, subtitle, short_description, description,
    published_at, created_at, updated_at)
select n, 1, 'process-' || n, jsonb_build_object('en', 'Process ' || n), '{}', '{}', '{"en": "<p>Tell us.</p>"}',
    '2024-02-01', '2024-02-01', '2024-02-01'
from generate_series(1, 10) n;
insert into decidim_components (id, participatory_space_type, participatory_space_id, manifest_name, name, settings, published_at,
    created_at, updated_at)
select n, 'Decidim::ParticipatoryProcess', (n + 9) / 10, 'proposals', jsonb_build_object('en', 'Proposals ' || n),
    '{"global": {"vote_limit": 0}, "default_step": {"votes_enabled": true, "creation_enabled": true}}',
    '2024-02-02', '2024-02-02', '2024-02-02'
from generate_series(1, 100) n;
insert into decidim_proposals_proposal_states (decidim_component_id, token, title)
select component, token, jsonb_build_object('en', initcap(token))
from generate_series(1, 100) component, unnest(array['evaluating', 'accepted', 'rejected']) token
order by component, token;
insert into decidim_proposals_proposals (id, decidim_component_id, title, body, published_at, created_at, updated_at)
select n, 1 + n % 100, jsonb_build_object('en', 'A bench at corner ' || n, 'fr', 'Un banc au coin ' || n),
    jsonb_build_object('en', repeat('A bench in the shade, beside the path. ', 12)), '2024-03-01', '2024-03-01', '2024-03-01'
from generate_series(1, :proposals) n;
insert into decidim_coauthorships (coauthorable_type, coauthorable_id, decidim_author_type, decidim_author_id, created_at, updated_at)
select 'Decidim::Proposals::Proposal', n, 'Decidim::UserBaseEntity', 1 + n % :people, '2024-03-01', '2024-03-01'
from generate_series(1, :proposals) n;
-- Each person votes on as many proposals; nobody twice on one.
insert into decidim_proposals_proposal_votes (id, decidim_proposal_id, decidim_author_id, created_at, updated_at)
select n, 1 + (n / :people * 7919 + n * 31) % :proposals, 1 + n % :people, '2024-04-01', '2024-04-01'
from generate_series(1, :votes) n;
commit;
analyze;
