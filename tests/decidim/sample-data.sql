-- A small Decidim database for tests of `civitas import-decidim`: load after schema-subset.sql.
--
-- Two organizations: Riverton (id 1; en, fr, es) and Valmora (id 2; ca, es: a language we do not offer). All names are
-- invented. A comment after a row says what the row is there for; the codes (W-…, S-…) are those of 13-decidim-import.md §4.
--
-- Passwords (bcrypt, no pepper): ada and mia `decidim-Riverton-2026`, bob `decidim123456789`, marta `Valmora-ciutat-2026`,
-- system administrator root@example.test `system-admin-2026`; lena's is that of 72 letters `a` and anything after them.
--
-- Files below the root of the disk service `local` (path, then the bytes in base64):
--   r1/ve/r1vertonplanpdfkeyaaaaaaaa01  JVBERi0xLjQKMSAwIG9iajw8L1R5cGUvQ2F0YWxvZz4+ZW5kb2JqCnRyYWlsZXI8PC9Sb290IDEgMCBSPj4KJSVFT0YK
--   r1/ph/r1photopngkeyaaaaaaaaaaaa02  iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
--   r1/no/r1notestxtkeyaaaaaaaaaaaa03  aGVsbG8gd29ybGQK
--   r1/an/r1answertxtkeyaaaaaaaaaaa07  VGltZXRhYmxlIG9mIGxpbmUgMTIK
-- The object of service `s3` (bucket `riverton`, name = key) is the same PNG: s3photokeyaaaaaaaaaaaaaaaa05.

begin;

insert into schema_migrations values ('20170101000001'), ('20240610083112'), ('20260729103226'), ('20260820070000');
insert into ar_internal_metadata values ('environment', 'production', '2017-01-01', '2017-01-01');
-- The two numbers of the access_mode back-fill; tests delete them to see the legacy flags count.
insert into data_migrations values ('20251125144141'), ('20260111185230'), ('20260111190000');

-- Organizations -----------------------------------------------------------------------------------------------------

insert into decidim_organizations (id, name, description, host, secondary_hosts, available_locales, default_locale,
    reference_prefix, time_zone, comments_max_length, users_registration_mode, force_users_to_authenticate_before_access_organization,
    badges_enabled, enable_machine_translations, rich_text_editor_in_public_views, send_welcome_notification,
    external_domain_allowlist, file_upload_settings, tos_version, created_at, updated_at) values
(1, '{"en": "Riverton", "fr": "Riverville", "machine_translations": {"es": "Rivertón"}}', '{"en": "<p>Take part.</p>"}',
    'riverton.example.test', '{www.riverton.example.test,RIVERTON-OLD.example.test}', '{en,fr,es}', 'en',
    'RIV', 'Europe/Zurich', 1500, 0, false, true, true, false, true, '{maps.example.test}',
    '{"maximum_file_size": {"default": 5, "avatar": 1}}', '2025-01-10 09:00:00', '2022-03-01 08:00:00.123456', '2026-06-01 10:00:00'),
(2, '{"ca": "Valmora", "es": "Valmora"}', null,  -- ca: S-LOCALE without --locale-map; time zone: a Rails name
    'valmora.example.test', '{}', '{ca,es}', 'ca',
    'VAL', 'Madrid', null, 1, true, false, false, true, false, '{}', null, '2024-05-01 00:00:00', '2024-05-01 00:00:00', '2026-05-02 00:00:00');

insert into decidim_system_admins values
(1, 'root@example.test', '$2a$11$KFQzv6CtjERQDk/nWTYa7.OiuMJs0yccf7XNFkq3QDxxYgxICgOFu', '2022-03-01', '2024-01-01'),
(2, 'Ops@Example.test', '', '2024-03-01', '2024-03-01');  -- no password, capitals in the address

insert into decidim_users (id, type, decidim_organization_id, email, nickname, name, encrypted_password, admin, managed, roles,
    locale, about, personal_url, confirmed_at, blocked, blocked_at, locked_at, deleted_at, accepted_tos_version,
    invitation_sent_at, invitation_accepted_at, extended_data, created_at, updated_at) values
(1, 'Decidim::User', 1, 'ada@riverton.example.test', 'ada_martin', 'Ada Martin', '$2a$11$q6jA//raH2IAgz78CeDjuOeI2Ba/InfOPz6ntkRu8w7XREshkGQiC',
    true, false, '{}', 'en', 'City <b>clerk</b>', 'https://ada.example.test', '2022-03-01 08:10:00', false, null, null, null,
    '2025-01-10 10:00:00', null, null, '{}', '2022-03-01 08:05:00', '2026-01-10 11:00:00'),
(2, 'Decidim::User', 1, 'bob@riverton.example.test', 'bob', 'Bob Stone', '$2a$11$Mo6zMk0SZYXEz4Wm6B1sd.g9kVe9kQqXQxbmuEWU1uk/RBwrhxE56',
    false, false, '{}', 'fr', null, null, '2022-04-01 08:10:00', false, null, null, null,
    '2024-01-10 10:00:00', null, null, '{"phone": "+41000", "empty": "", "interested_scopes": [1]}', '2022-04-01 08:00:00', '2026-02-01 00:00:00'),
(3, 'Decidim::User', 1, 'bobby@riverton.example.test', 'Bob', 'Bobby Moss', '', false, false, '{}', null, null, null,
    '2022-05-01 00:00:00', false, null, null, null, null, null, null, '{}', '2022-05-01', '2022-05-01'),  -- W-NICKNAME: same as bob when folded
(4, 'Decidim::User', 1, 'mia@riverton.example.test', 'mia-lopez', 'Mia Lopez', '$2a$11$q6jA//raH2IAgz78CeDjuOeI2Ba/InfOPz6ntkRu8w7XREshkGQiC',
    false, false, '{}', 'es', null, null, null, false, null, null, null, '2025-01-10 09:00:00', null, null, '{}', '2025-06-01', '2025-06-01'),  -- unconfirmed; terms accepted to the second
(5, 'Decidim::User', 1, 'rude@riverton.example.test', 'rude_one', 'Blocked user', '', false, false, '{}', 'en', null, null,
    '2023-01-01', true, '2025-02-03 04:05:06', null, null, null, null, null, '{"user_name": "Rudolf"}', '2023-01-01', '2025-02-03 04:05:06'),
(6, 'Decidim::User', 1, 'stale@riverton.example.test', 'stale_lock', 'Stella Lock', '', false, false, '{}', 'en', null, null,
    '2023-01-01', false, null, '2025-01-01 00:00:00', null, null, null, null, '{}', '2023-01-01', '2025-01-01'),  -- lock long over: not imported
(7, 'Decidim::User', 1, 'fresh@riverton.example.test', 'fresh_lock', 'Frida Lock', '', false, false, '{}', 'en', null, null,
    '2023-01-01', false, null, (now() at time zone 'utc') - interval '5 minutes', null, null, null, null, '{}', '2023-01-01', (now() at time zone 'utc') - interval '5 minutes'),
(8, 'Decidim::User', 1, '', '', '', '', false, false, '{}', null, '', '', '2022-06-01', false, null, null, '2024-07-01 12:00:00',
    null, null, null, '{}', '2022-06-01', '2024-07-01 12:00:00'),  -- account deleted by its owner
(9, 'Decidim::User', 1, '', '', '', '', false, false, '{}', null, null, null, null, false, null, null, '2024-08-01 12:00:00',
    null, null, null, '{}', '2022-06-02', '2024-08-01 12:00:00'),  -- a second one: blank again
(10, 'Decidim::User', 1, '', 'neighbour_7', 'Neighbour Seven', '', false, true, '{}', 'en', null, null, null, false, null, null, null,
    null, null, null, '{}', '2024-01-01', '2024-01-01'),  -- managed: no address
(11, 'Decidim::User', 1, 'user_group_11@riverton.example.test.invalid', 'river_friends', 'River Friends', '', false, false, '{}', null, null, null,
    '2023-03-03', false, null, null, null, null, null, null,
    '{"group": true, "patched": true, "previous_email": "ada@riverton.example.test", "verified_at": "2023-03-04", "document_number": "X1"}', '2023-03-03', '2026-01-14'),  -- a group made a user
(12, 'Decidim::UserGroup', 1, 'chess@riverton.example.test', 'chess_club', 'Chess Club', '', false, false, '{}', null, null, null,
    null, false, null, null, null, null, null, null, '{"document_number": "X2", "phone": "1"}', '2023-04-03', '2023-04-03'),  -- a group as [<=0.30] has it
(13, 'Decidim::Api::ApiUser', 1, 'bot@riverton.example.test', 'graph_bot', 'GraphQL bot', '$2a$11$q6jA//raH2IAgz78CeDjuOeI2Ba/InfOPz6ntkRu8w7XREshkGQiC', true, false, '{}', null, null, null,
    null, false, null, null, null, null, null, null, '{}', '2026-02-01', '2026-02-01'),  -- W-ACCOUNT: never a person, and an admin!
(14, 'Decidim::User', 1, 'lena@riverton.example.test', 'lena_72', 'Lena Long', '$2a$04$TxsHDB/HrU6dqcIlTm1SB.ju0QJda2kOpuu/SQ92JTQcu4X59oAgu',
    false, false, '{user_manager}', 'de', null, null, '2024-01-01', false, null, null, null, null, null, null, '{}', '2024-01-01', '2024-01-01'),  -- W-USERROLE; locale not offered
(15, 'Decidim::User', 1, 'invited@riverton.example.test', 'invited_15', 'Ines Invited', '', false, false, '{}', 'en', null, null,
    null, false, null, null, null, null, '2026-05-01 09:30:00.5', null, '{}', '2026-05-01 09:30:00', '2026-05-01 09:30:00'),  -- invitation pending
(16, 'Decidim::User', 1, 'Bob@Riverton.example.test', 'bob_again', 'Bob Again', '', false, false, '{}', 'en', null, null,
    '2024-02-02', false, null, null, null, null, null, null, '{}', '2024-02-02', '2024-02-02'),  -- W-EMAIL: same as bob when folded
(17, 'Decidim::User', 1, 'odd@riverton.example.test', 'odd.nick', 'O''Neil (odd)', 'md5:abc', false, false, '{}', 'en', null, null,
    '2024-02-02', false, null, null, null, null, null, null, '{}', '2024-02-02', '2024-02-02'),  -- W-NICKNAME (a dot), W-PASSWORD (no bcrypt), name kept
(101, 'Decidim::User', 2, 'marta@valmora.example.test', 'marta', 'Marta Puig', '$2a$10$nO4ItZtkraRcn/63GpUoMOmKMF0Cv8.5IeHBVWRokfNGA2jALP8jm',
    true, false, '{}', 'ca', null, null, '2024-05-02', false, null, null, null, '2024-05-03', null, null, '{}', '2024-05-02', '2024-05-02'),
(102, 'Decidim::User', 2, 'ada@riverton.example.test', 'ada_martin', 'Ada Martin', '', false, false, '{}', 'es', null, null,
    '2024-05-02', false, null, null, null, '2024-05-03', null, null, '{}', '2024-05-02', '2024-05-02'),  -- same person, other tenant
(103, 'Decidim::User', 2, 'pere@valmora.example.test', 'pere', 'Pere Roca', '', false, false, '{}', 'es', null, null,
    '2024-05-02', false, null, null, null, null, '2024-05-01', '2024-05-02', '{}', '2024-05-02', '2024-05-02');

insert into decidim_scopes values (1, 1), (2, 1), (3, 2);

-- API clients ---------------------------------------------------------------------------------------------------------

insert into oauth_applications (id, type, name, uid, secret, scopes, redirect_uri, organization_name, organization_url, decidim_organization_id, created_at, updated_at) values
(1, 'Decidim::OAuthApplication', 'Partner site', 'partner-uid-0001', 'partner-secret', 'public', 'https://partner.example.test', 'P', 'https://partner.example.test', 1, '2023-01-01', '2023-01-01'),  -- W-OAUTHAPP
(2, 'Decidim::RestFull::Core::ApiClient', 'Chatbot', 'k5Yb2mJ0nq7XwV1cT8sRzA4eLp9uHgD3', 'Q3mZ8wR1yT6uN0pL4kJ7hG2fD5sA9xC-bV_e1iO', 'public proposals blogs oauth webhooks', 'https://riverton.example.test', 'Riverton', 'https://riverton.example.test', 1, '2026-04-01', '2026-04-01'),
(3, 'Decidim::RestFull::ApiClient', 'Kiosk', 'kiosk-2024', 'short-secret', 'public meetings surveys roles attachments', 'https://riverton.example.test', 'Riverton', 'https://riverton.example.test', 1, '2024-11-30', '2024-11-30'),  -- old class name, W-SECRET
(4, 'Decidim::RestFull::Core::ApiClient', 'Deployment', 'deployment-system', 'zX8cV7bN6mA5sD4fG3hJ2kL1qW0eR9tY', 'system', 'https://x.test', '-', '-', null, '2026-01-01', '2026-01-01'),
(5, 'Decidim::RestFull::Core::ApiClient', 'Everything', 'system-and-public', 'aX8cV7bN6mA5sD4fG3hJ2kL1qW0eR9tY', 'system public', 'https://x.test', '-', '-', null, '2026-01-01', '2026-01-01'),  -- W-CLIENT: no organization and more than system
(6, 'Decidim::RestFull::Core::ApiClient', 'Valmora app', 'valmora-app-0001', 'bX8cV7bN6mA5sD4fG3hJ2kL1qW0eR9tY', 'public proposals', 'https://valmora.example.test', 'Valmora', 'https://valmora.example.test', 2, '2026-01-01', '2026-01-01');

insert into oauth_access_tokens (id, application_id, resource_owner_id, token, scopes, expires_in, created_at) values
(1, 2, null, 'tok-1', 'public', 7200, '2026-06-01'), (2, 2, 2, 'tok-2', 'public proposals', 7200, '2026-06-01');

insert into decidim_rest_full_api_client_permissions (id, api_client_id, permission, is_event, created_at, updated_at) values
(1, 2, 'public.component.read', false, '2026-04-01', '2026-04-01'), (2, 2, 'public.space.read', false, '2026-04-01', '2026-04-01'),
(3, 2, 'proposals.read', false, '2026-04-01', '2026-04-01'), (4, 2, 'proposals.draft', false, '2026-04-01', '2026-04-01'),
(5, 2, 'proposals.vote', false, '2026-04-01', '2026-04-01'), (6, 2, 'oauth.impersonate', false, '2026-04-01', '2026-04-01'),
(7, 2, 'proposal_creation.succeeded', true, '2026-04-01', '2026-04-01'), (8, 2, 'proposals.fly', false, '2026-04-01', '2026-04-01'),  -- W-ABILITY: unknown
(9, 2, 'meetings.read', false, '2026-04-01', '2026-04-01'),  -- W-ABILITY: of a scope the client does not own
(10, 3, 'meetings.read', false, '2024-11-30', '2024-11-30'), (11, 3, 'roles.read', false, '2024-11-30', '2024-11-30'),
(12, 3, 'surveys.questionnaires.read', false, '2024-11-30', '2024-11-30'), (13, 4, 'system.organizations.read', false, '2026-01-01', '2026-01-01'),
(14, 6, 'proposals.read', false, '2026-01-01', '2026-01-01');

insert into webhooks_tables (id, api_client_id, url, private_key, subscriptions, created_at, updated_at) values
(1, 2, 'https://hooks.example.test/riverton', '8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a', '["proposal_creation.succeeded", "user.created"]', '2026-04-02', '2026-04-02'),  -- user.created is not granted: kept, undelivered
(2, 2, 'ftp://hooks.example.test', '1f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a', '["proposal_creation.succeeded"]', '2026-04-02', '2026-04-02');  -- W-WEBHOOK: no http address

insert into decidim_rest_full_user_magic_tokens (id, user_id, magic_token, expires_at, created_at, updated_at) values
(1, 2, 'bWFnaWM=', '2026-06-01 00:05:00', '2026-06-01', '2026-06-01');
insert into decidim_rest_full_api_jobs values
('161fa07a-172c-4d04-a80a-62b8d3855a76', 1, 1, 2, null, 'draft_proposals#create', 'completed', '2026-06-01', '2026-06-01'),
('261fa07a-172c-4d04-a80a-62b8d3855a76', 1, 2, 2, 2, 'draft_proposals#publish', 'pending', '2026-06-01', '2026-06-01');  -- S-JOBS unless --allow-pending-jobs

insert into decidim_toggle_organization_module_configs values
(1, 1, 'decidim_restfull', '{"enabled": true, "debates_enabled": "0", "budgets_enabled": false, "proposals_enabled": "1"}', '2026-05-01', '2026-05-01'),
(2, 1, 'another_module', '{"enabled": false}', '2026-05-01', '2026-05-01');

-- Spaces --------------------------------------------------------------------------------------------------------------

insert into decidim_participatory_processes (id, decidim_organization_id, slug, title, subtitle, short_description, description,
    private_space, access_mode, decidim_scope_id, published_at, deleted_at, created_at, updated_at) values
(1, 1, 'greener-streets', '{"en": "Greener streets", "fr": "Des rues plus vertes", "machine_translations": {"es": "Calles más verdes"}}', '{"en": "Plan 2026"}', '{"en": "<p>Short</p>"}', '{"en": "<p>Tell us.</p>"}', false, 0, 1, '2025-03-01 09:00:00', null, '2025-02-01 08:00:00', '2025-03-04 16:02:11.987654'),
(2, 1, 'school-council', '{"en": "School council"}', '{}', '{}', '{"en": "Members only"}', true, 2, null, '2025-03-01', null, '2025-02-02', '2025-02-02'),
(3, 1, 'draft-process', '{"en": "Not yet"}', '{}', '{}', '{}', false, 0, null, null, null, '2025-02-03', '2025-02-03'),
(4, 1, 'open-minutes', '{"en": "Open minutes"}', '{}', '{}', '{}', true, 1, null, '2025-03-01', null, '2025-02-04', '2025-02-04'),  -- a transparent process
(5, 1, 'binned', '{"en": "Binned"}', '{}', '{}', '{}', false, 0, null, '2025-03-01', '2026-01-01', '2025-02-05', '2026-01-01'),  -- W-DELETEDSPACE
(101, 2, 'barris', '{"ca": "Barris vius", "es": "Barrios vivos"}', '{"ca": "Només en català"}', '{}', '{"ca": "Descripció"}', false, 0, 3, '2025-04-01', null, '2025-03-05', '2025-03-05');

insert into decidim_participatory_process_steps (id, decidim_participatory_process_id, title, position, active, start_date, end_date, created_at, updated_at) values
(1, 1, '{"en": "Ideas"}', 0, false, '2025-03-01 00:00:00', '2025-06-01 00:00:00', '2025-02-01', '2025-02-01'),
(2, 1, '{"en": "Voting", "fr": "Vote"}', 1, true, '2025-06-01 00:00:00', null, '2025-02-01', '2025-02-01'),
(3, 1, '{"en": "Results"}', null, false, null, null, '2025-02-01', '2025-02-01'),  -- no position: put last
(4, 101, '{"ca": "Fase única"}', 0, true, null, null, '2025-03-05', '2025-03-05'),
(5, 999, '{"en": "Of a process that is gone"}', 0, true, null, null, '2025-03-05', '2025-03-05');  -- W-ORPHAN

insert into decidim_participatory_process_user_roles (id, decidim_user_id, decidim_participatory_process_id, role, created_at, updated_at) values
(1, 4, 1, 'admin', '2025-02-10', '2025-02-10'), (2, 2, 1, 'moderator', '2025-02-10', '2025-02-10'),
(3, 15, 1, 'evaluator', '2026-05-01 09:30:00', '2026-05-01 09:30:00'),  -- invitation pending
(4, 14, 1, 'valuator', '2025-02-10', '2025-02-10'), (5, 16, 2, 'collaborator', '2025-02-10', '2025-02-10'),  -- W-COLLABORATOR
(6, 9999, 1, 'admin', '2025-02-10', '2025-02-10'), (7, 102, 1, 'admin', '2025-02-10', '2025-02-10');  -- W-ORPHAN; W-TENANT: a user of Valmora

insert into decidim_assemblies (id, decidim_organization_id, slug, title, subtitle, short_description, description,
    private_space, is_transparent, access_mode, decidim_scope_id, published_at, deleted_at, created_at, updated_at) values
(1, 1, 'youth', '{"en": "Youth assembly"}', '{"en": "Sub"}', '{}', '{"en": "D"}', false, true, 0, null, '2025-01-01', null, '2025-01-01', '2025-01-01'),  -- same id as a process
(2, 1, 'water-board', '{"en": "Water board"}', '{}', '{}', '{}', true, true, 1, 2, '2025-01-01', null, '2025-01-02', '2025-01-02'),
(3, 1, 'audit', '{"en": "Audit"}', '{}', '{}', '{}', true, false, 2, null, '2025-01-01', null, '2025-01-03', '2025-01-03'),
(4, 1, 'opened-later', '{"en": "Opened later"}', '{}', '{}', '{}', true, false, 0, null, '2025-01-01', null, '2025-01-04', '2026-08-01');  -- legacy flags stale: public once back-filled, else private

insert into decidim_assembly_user_roles (id, decidim_user_id, decidim_assembly_id, role, created_at, updated_at) values
(1, 4, 2, 'admin', '2025-01-05', '2025-01-05'), (2, 2, 3, 'collaborator', '2025-01-05', '2025-01-05');

insert into decidim_conferences (id, decidim_organization_id, slug, title, slogan, short_description, description, decidim_scope_id, published_at, deleted_at, created_at, updated_at) values
(1, 1, 'city-days', '{"en": "City days"}', '{"en": "Meet the city"}', '{"en": "Two days"}', '{"en": "Programme"}', null, '2025-05-01', null, '2025-04-01', '2025-04-01'),
(2, 1, 'later-days', '{"en": "Later days"}', '{}', '{}', '{}', null, null, null, '2025-04-02', '2025-04-02');
insert into decidim_conference_user_roles (id, decidim_user_id, decidim_conference_id, role, created_at, updated_at) values
(1, 2, 1, 'moderator', '2025-04-05', '2025-04-05');

insert into decidim_initiatives (id, decidim_organization_id, title, description, state, decidim_author_id, decidim_author_type, published_at, created_at, updated_at) values
(1, 1, '{"en": "Save the library"}', '{"en": "<p>Sign!</p>"}', 3, 2, 'Decidim::UserBaseEntity', '2025-06-01', '2025-05-01', '2025-06-01'),
(2, 1, '{"en": "Not validated"}', '{"en": "x"}', 1, 2, 'Decidim::UserBaseEntity', null, '2025-05-02', '2025-05-02');

insert into decidim_members (id, decidim_user_id, participatory_space_type, participatory_space_id, published, created_at, updated_at) values
(1, 2, 'Decidim::ParticipatoryProcess', 2, false, '2025-02-11', '2025-02-11'),
(2, 16, 'Decidim::ParticipatoryProcess', 2, false, '2025-02-12', '2025-02-12'),  -- also collaborator there: one role
(3, 4, 'Decidim::Assembly', 3, true, '2025-01-06', '2025-01-06'), (4, 8, 'Decidim::Assembly', 3, false, '2025-01-06', '2025-01-06'),  -- a deleted account
(5, 2, 'Decidim::Assembly', 777, false, '2025-01-06', '2025-01-06');  -- W-ORPHAN

-- Components ------------------------------------------------------------------------------------------------------------

insert into decidim_components (id, participatory_space_type, participatory_space_id, manifest_name, name, settings, weight, permissions, published_at, visible, deleted_at, created_at, updated_at) values
(1, 'Decidim::ParticipatoryProcess', 1, 'pages', '{"en": "About", "fr": "À propos"}', '{}', 0, null, '2025-03-01', true, null, '2025-02-02', '2025-02-02'),
(2, 'Decidim::ParticipatoryProcess', 1, 'proposals', '{"en": "Ideas"}',
   '{"global": {"vote_limit": 3, "minimum_votes_per_user": 2, "proposal_limit": "5", "proposal_length": 800, "proposal_edit_time": "limited", "edit_time": ["2", "hours"], "default_sort_order": "most_liked", "comments_enabled": true, "comments_max_length": 0, "announcement": {"en": "<p>Welcome</p>", "machine_translations": {"fr": "Bienvenue"}}, "awesome_voting_manifest": "voting_cards", "voting_cards_show_abstain": true, "voting_cards_box_title": {"en": "Your card"}, "taxonomy_filters": ["4"], "amendments_enabled": true, "resources_permissions_enabled": false, "scopes_enabled": true, "scope_id": 2},
     "default_step": {"creation_enabled": true, "votes_enabled": false},
     "steps": {"1": {"creation_enabled": true, "likes_enabled": true}, "2": {"creation_enabled": false, "votes_enabled": true, "votes_hidden": true, "likes_enabled": false, "proposal_answering_enabled": true}, "77": {"votes_enabled": true}}}',
   1, '{"vote": {"authorization_handlers": {"census": {"options": {}}}}}', '2025-03-01', true, null, '2025-02-02', '2025-03-05'),  -- W-PERMISSION; step 77 is gone
(3, 'Decidim::ParticipatoryProcess', 1, 'proposals', '{"en": "Closed ideas"}', '{"global": {"participatory_texts_enabled": true}}', 2, null, null, true, null, '2025-02-03', '2025-02-03'),  -- unpublished, settings all default
(4, 'Decidim::ParticipatoryProcess', 1, 'proposals', '{"en": "Binned ideas"}', null, 3, null, '2025-03-01', true, '2026-01-05', '2025-02-04', '2026-01-05'),  -- deleted, no settings
(5, 'Decidim::ParticipatoryProcess', 1, 'meetings', '{"en": "Meetings"}', '{"global": {"default_registration_terms": {"en": "Be kind"}, "comments_enabled": false, "comments_max_length": 300, "registration_code_enabled": false, "creation_enabled_for_participants": true}}', 4, null, '2025-03-01', true, null, '2025-02-05', '2025-02-05'),
(6, 'Decidim::ParticipatoryProcess', 1, 'budgets', '{"en": "Budgets"}', '{"global": {"workflow": "one"}}', 5, null, '2025-03-01', true, null, '2025-02-06', '2025-02-06'),
(7, 'Decidim::ParticipatoryProcess', 1, 'surveys', '{"en": "Surveys"}', '{"global": {"announcement": ""}}', 6, null, '2025-03-01', true, null, '2025-02-07', '2025-02-07'),  -- an announcement that is no object
(8, 'Decidim::ParticipatoryProcess', 1, 'accountability', '{"en": "Results"}', '{"global": {"intro": {"en": "Intro"}}}', 7, null, '2025-03-01', true, null, '2025-02-08', '2025-02-08'),
(9, 'Decidim::ParticipatoryProcess', 1, 'debates', '{"en": "Debates"}', '{}', 8, null, '2025-03-01', false, null, '2025-02-09', '2025-02-09'),
(10, 'Decidim::ParticipatoryProcess', 1, 'blogs', '{"en": "News", "fr": "Nouvelles"}', '{}', 9, null, '2025-03-01', true, null, '2025-02-10', '2025-02-10'),
(11, 'Decidim::ParticipatoryProcess', 1, 'awesome_map', '{"en": "Map"}', '{"global": {"map_height": 500}}', 10, null, '2025-03-01', true, null, '2025-02-11', '2025-02-11'),
(12, 'Decidim::ParticipatoryProcess', 1, 'awesome_iframe', '{"en": "Frame"}', '{}', 11, null, '2025-03-01', true, null, '2025-02-12', '2025-02-12'),
(13, 'Decidim::ParticipatoryProcess', 1, 'elections', '{"en": "Elections"}', '{}', 12, null, '2025-03-01', true, null, '2025-02-13', '2025-02-13'),  -- W-MANIFEST
(14, 'Decidim::Assembly', 1, 'proposals', '"{\"en\": \"Youth ideas\"}"', '{"default_step": {"creation_enabled": true, "votes_enabled": true}}', 0, null, '2025-01-01', true, null, '2025-01-02', '2025-01-02'),  -- the name is a JSON text inside JSON
(15, 'Decidim::Assembly', 3, 'meetings', '{"en": "Audit meetings"}', '{}', 0, null, '2025-01-01', true, null, '2025-01-03', '2025-01-03'),
(16, 'Decidim::Initiative', 1, 'meetings', '{"en": "Meet us"}', '{}', 0, null, '2025-06-01', true, null, '2025-05-01', '2025-05-01'),
(17, 'Decidim::ParticipatoryProcess', 404, 'pages', '{"en": "Lost"}', '{}', 0, null, '2025-06-01', true, null, '2025-05-01', '2025-05-01'),  -- W-ORPHAN: no such process
(18, 'Decidim::Consultation', 1, 'pages', '{"en": "Old kind"}', '{}', 0, null, '2025-06-01', true, null, '2025-05-01', '2025-05-01'),  -- W-ORPHAN: no such kind
(19, 'Decidim::ParticipatoryProcess', 5, 'pages', '{"en": "In the bin with its process"}', '{}', 0, null, '2025-06-01', true, null, '2025-05-01', '2025-05-01'),
(101, 'Decidim::ParticipatoryProcess', 101, 'proposals', '{"ca": "Propostes", "es": "Propuestas"}', '{"steps": {"4": {"votes_enabled": true, "creation_enabled": true}}}', 0, null, '2025-04-01', true, null, '2025-03-06', '2025-03-06');

-- Proposals ---------------------------------------------------------------------------------------------------------------

insert into decidim_proposals_proposal_states (id, decidim_component_id, token, title, bg_color, text_color) values
(1, 2, 'evaluating', '{"en": "Evaluating"}', '#FFEAD1', '#BC4C00'), (2, 2, 'accepted', '{"en": "Accepted", "fr": "Acceptée"}', '#E3FCE9', '#15602C'),
(3, 2, 'rejected', '{"en": "Rejected"}', '#FFEBE9', '#D1242F'), (4, 2, 'in_study', '{"en": "In study"}', '#F6F8FA', '#4B5058'),
(5, 14, 'evaluating', '{"en": "Evaluating"}', '#FFEAD1', '#BC4C00'), (6, 14, 'accepted', '{"en": "Accepted"}', '#E3FCE9', '#15602C'), (7, 14, 'rejected', '{"en": "Rejected"}', '#FFEBE9', '#D1242F'),
(8, 101, 'accepted', '{"ca": "Acceptada", "es": "Aceptada"}', '#E3FCE9', '#15602C'), (9, 404, 'accepted', '{"en": "Lost"}', '#E3FCE9', '#15602C');  -- W-ORPHAN

insert into decidim_proposals_proposals (id, decidim_component_id, title, body, decidim_proposals_proposal_state_id, state_published_at, answered_at, answer,
    withdrawn_at, published_at, decidim_scope_id, reference, address, latitude, longitude, participatory_text_level, position, deleted_at, created_at, updated_at) values
(1, 2, '{"en": "More trees along Main Street"}', '{"en": "<p>Two trees per block. Ask gid://decidim/Decidim::User/2</p>", "machine_translations": {"fr": "Deux arbres"}}', 2, '2025-06-02 10:00:00', '2025-06-01 10:00:00', '{"en": "Yes."}', null, '2025-03-10 09:00:00', 2, 'RIV-PROP-2025-03-1', 'Main Street 1', 46.2, 6.1, null, null, null, '2025-03-02 08:00:00', '2025-06-02 10:00:00'),
(2, 2, '{"en": "Benches in the park", "fr": "Des bancs"}', '{"en": "Many benches."}', null, null, null, null, null, '2025-03-11 09:00:00', null, 'RIV-PROP-2025-03-2', null, null, null, null, null, null, '2025-03-03', '2025-03-11'),  -- two authors
(3, 2, '{"en": "Official cycle plan"}', '{"en": "By the city."}', 1, null, '2025-06-03', '{"en": "Soon."}', null, '2025-03-12', null, null, null, null, null, null, null, null, '2025-03-04', '2025-06-03'),  -- official; answer not public
(4, 2, '{"en": "Said at the kick-off"}', '{"en": "Meeting result."}', null, null, null, null, null, '2025-03-13', null, null, null, null, null, null, null, null, '2025-03-05', '2025-03-13'),  -- author: a meeting
(5, 2, '{}', '{}', null, null, null, null, null, null, null, null, null, null, null, null, null, null, '2026-05-05', '2026-05-06'),  -- draft of bob through the API
(6, 2, '{"en": "A web draft"}', '{"en": "Half done."}', null, null, null, null, null, null, null, null, null, null, null, null, null, null, '2026-05-01', '2026-05-02'),  -- W-DRAFT: bob's second draft in the component
(7, 2, '{"en": "I take it back"}', '{"en": "No more."}', 2, '2025-06-02', '2025-06-01', null, '2025-07-01 12:00:00', '2025-03-14', null, null, null, null, null, null, null, null, '2025-03-06', '2025-07-01'),
(8, 2, '{"en": "Hidden by moderation"}', '{"en": "Spam."}', null, null, null, null, null, '2025-03-15', null, null, null, null, null, null, null, null, '2025-03-07', '2025-03-20'),
(9, 2, '{"en": "Binned"}', '{"en": "Trash."}', null, null, null, null, null, '2025-03-16', null, null, null, null, null, null, null, '2026-01-06', '2025-03-08', '2026-01-06'),
(10, 2, '{"en": "Own state"}', '{"en": "Studied."}', 4, '2025-06-04', '2025-06-04', null, null, '2025-03-17', null, null, null, null, null, null, null, null, '2025-03-09', '2025-06-04'),
(11, 2, '{"en": "Answered with nothing"}', '{"en": "Public not_answered."}', null, '2025-06-05', null, null, null, '2025-03-18', null, null, null, null, null, null, null, null, '2025-03-10', '2025-06-05'),
(12, 2, '{"en": "More trees, but oaks"}', '{"en": "An amendment."}', null, null, null, null, null, '2025-04-01', null, null, null, null, null, null, null, null, '2025-03-25', '2025-04-05'),  -- emendation of 1, accepted
(13, 2, '"{\"en\": \"Text in text\"}"', '"Plain words"', null, null, null, null, null, '2025-04-02', null, null, null, null, null, null, null, null, '2025-03-26', '2025-04-02'),  -- W-JSON: JSON texts instead of objects
(14, 2, '{"machine_translations": {"en": "Only by machine", "fr": "Machine"}}', '{"de": "Nur deutsch", "machine_translations": {"en": "By machine"}}', null, null, null, null, null, '2025-04-03', null, null, null, null, null, null, null, null, '2025-03-27', '2025-04-03'),  -- W-NOTEXT
(15, 2, '{"en": "Nobody left"}', '{"en": "Author row is gone."}', null, null, null, null, null, '2025-04-04', null, null, null, null, null, null, null, null, '2025-03-28', '2025-04-04'),  -- W-ORPHAN author
(16, 2, '{"en": "By a deleted account"}', '{"en": "Still here."}', 3, '2025-06-06', '2025-06-06', null, null, '2025-04-05', null, null, null, null, null, null, null, null, '2025-03-29', '2025-06-06'),
(17, 2, '{"en": "By River Friends", "fr": null}', '{"en": 5}', null, null, null, null, null, '2025-04-06', null, null, null, null, null, null, null, null, '2025-03-30', '2025-04-06'),  -- a group; null and a number as texts
(18, 3, '{"en": "1. Scope"}', '{"en": "Text."}', null, null, null, null, null, '2025-04-07', null, null, null, null, null, 'article', 1, null, '2025-03-31', '2025-04-07'),  -- participatory text, no authors at all
(19, 14, '{"en": "Skate park"}', '{"en": "Concrete."}', 5, '2025-02-02', '2025-02-02', null, null, '2025-01-20', null, null, null, null, null, null, null, null, '2025-01-15', '2025-02-02'),
(20, 14, '{"en": "Emendation draft"}', '{"en": "Never sent."}', null, null, null, null, null, null, null, null, null, null, null, null, null, null, '2025-01-16', '2025-01-16'),  -- W-DRAFT: draft of an amendment
(21, 404, '{"en": "Lost"}', '{"en": "No component."}', null, null, null, null, null, '2025-01-21', null, null, null, null, null, null, null, null, '2025-01-17', '2025-01-17'),  -- W-ORPHAN
(101, 101, '{"ca": "Plaça de vianants", "es": "Plaza peatonal"}', '{"ca": "Sense cotxes."}', 8, '2025-06-01', '2025-06-01', null, null, '2025-04-10', null, 'VAL-PROP-1', null, null, null, null, null, null, '2025-04-09', '2025-06-01'),
(102, 101, '{"ca": "Esborrany"}', '{}', null, null, null, null, null, null, null, null, null, null, null, null, null, null, '2026-05-01', '2026-05-01');

insert into decidim_coauthorships (id, coauthorable_type, coauthorable_id, decidim_author_type, decidim_author_id, created_at, updated_at) values
(1, 'Decidim::Proposals::Proposal', 1, 'Decidim::UserBaseEntity', 2, '2025-03-02', '2025-03-02'),
(2, 'Decidim::Proposals::Proposal', 2, 'Decidim::UserBaseEntity', 4, '2025-03-03', '2025-03-03'), (3, 'Decidim::Proposals::Proposal', 2, 'Decidim::UserBaseEntity', 2, '2025-03-04', '2025-03-04'),
(4, 'Decidim::Proposals::Proposal', 3, 'Decidim::Organization', 1, '2025-03-04', '2025-03-04'), (5, 'Decidim::Proposals::Proposal', 4, 'Decidim::Meetings::Meeting', 1, '2025-03-05', '2025-03-05'),
(6, 'Decidim::Proposals::Proposal', 5, 'Decidim::UserBaseEntity', 2, '2026-05-05', '2026-05-05'), (7, 'Decidim::Proposals::Proposal', 6, 'Decidim::UserBaseEntity', 2, '2026-05-01', '2026-05-01'),
(8, 'Decidim::Proposals::Proposal', 7, 'Decidim::UserBaseEntity', 4, '2025-03-06', '2025-03-06'), (9, 'Decidim::Proposals::Proposal', 8, 'Decidim::UserBaseEntity', 5, '2025-03-07', '2025-03-07'),
(10, 'Decidim::Proposals::Proposal', 9, 'Decidim::UserBaseEntity', 2, '2025-03-08', '2025-03-08'), (11, 'Decidim::Proposals::Proposal', 10, 'Decidim::UserBaseEntity', 2, '2025-03-09', '2025-03-09'),
(12, 'Decidim::Proposals::Proposal', 11, 'Decidim::UserBaseEntity', 4, '2025-03-10', '2025-03-10'), (13, 'Decidim::Proposals::Proposal', 12, 'Decidim::UserBaseEntity', 4, '2025-03-25', '2025-03-25'),
(14, 'Decidim::Proposals::Proposal', 13, 'Decidim::UserBaseEntity', 2, '2025-03-26', '2025-03-26'), (15, 'Decidim::Proposals::Proposal', 14, 'Decidim::UserBaseEntity', 2, '2025-03-27', '2025-03-27'),
(16, 'Decidim::Proposals::Proposal', 15, 'Decidim::UserBaseEntity', 9999, '2025-03-28', '2025-03-28'), (17, 'Decidim::Proposals::Proposal', 16, 'Decidim::UserBaseEntity', 8, '2025-03-29', '2025-03-29'),
(18, 'Decidim::Proposals::Proposal', 17, 'Decidim::UserBaseEntity', 11, '2025-03-30', '2025-03-30'), (19, 'Decidim::Proposals::Proposal', 19, 'Decidim::UserBaseEntity', 2, '2025-01-15', '2025-01-15'),
(20, 'Decidim::Proposals::Proposal', 20, 'Decidim::UserBaseEntity', 4, '2025-01-16', '2025-01-16'), (21, 'Decidim::Proposals::Proposal', 101, 'Decidim::UserBaseEntity', 103, '2025-04-09', '2025-04-09'),
(22, 'Decidim::Proposals::Proposal', 102, 'Decidim::UserBaseEntity', 102, '2026-05-01', '2026-05-01'), (23, 'Decidim::Proposals::CollaborativeDraft', 1, 'Decidim::UserBaseEntity', 2, '2025-01-01', '2025-01-01');  -- W-ORPHAN type

insert into decidim_amendments (id, decidim_amendable_type, decidim_amendable_id, decidim_emendation_type, decidim_emendation_id, decidim_user_id, state, created_at, updated_at) values
(1, 'Decidim::Proposals::Proposal', 1, 'Decidim::Proposals::Proposal', 12, 4, 20, '2025-03-25', '2025-04-05'),
(2, 'Decidim::Proposals::Proposal', 19, 'Decidim::Proposals::Proposal', 20, 4, 0, '2025-01-16', '2025-01-16');

insert into proposal_application_ids (id, proposal_id, api_client_id, created_at, updated_at) values
(1, 5, 2, '2026-05-05', '2026-05-05'), (2, 2, 2, '2025-03-03', '2025-03-03');

insert into decidim_proposals_proposal_votes (id, decidim_proposal_id, decidim_author_id, temporary, created_at, updated_at) values
(1, 1, 4, false, '2025-06-10', '2025-06-10'), (2, 2, 4, false, '2025-06-10', '2025-06-10'), (3, 1, 7, true, '2025-06-11', '2025-06-11'),  -- one of two: temporary
(4, 1, 8, false, '2024-06-30', '2024-06-30'),  -- by an account deleted later; W-TEMPORARY: final there, one of two here
(5, 1, 9999, false, '2025-06-12', '2025-06-12'), (6, 19, 2, false, '2025-02-03', '2025-02-03'),  -- W-ORPHAN
(7, 101, 102, false, '2025-06-13', '2025-06-13'), (8, 9999, 2, false, '2025-06-13', '2025-06-13'), (9, 10, 102, false, '2025-06-14', '2025-06-14');  -- W-ORPHAN; W-TENANT
insert into decidim_awesome_vote_weights (id, proposal_vote_id, weight, created_at, updated_at) values
(1, 1, 3, '2025-06-10', '2025-06-10'), (2, 2, 0, '2025-06-10', '2025-06-10'), (3, 1, 2, '2025-06-10', '2025-06-10'), (4, 6, 1, '2025-02-03', '2025-02-03');  -- a second row for vote 1: the lowest id counts

insert into decidim_moderations (id, decidim_reportable_type, decidim_reportable_id, decidim_participatory_space_type, decidim_participatory_space_id, hidden_at, report_count, created_at, updated_at) values
(1, 'Decidim::Proposals::Proposal', 8, 'Decidim::ParticipatoryProcess', 1, '2025-03-20 10:00:00', 3, '2025-03-19', '2025-03-20'),
(2, 'Decidim::Proposals::Proposal', 2, 'Decidim::ParticipatoryProcess', 1, null, 1, '2025-03-19', '2025-03-19'),
(3, 'Decidim::Blogs::Post', 5, 'Decidim::ParticipatoryProcess', 1, '2025-04-20', 2, '2025-04-19', '2025-04-20'),  -- hidden
(4, 'Decidim::Debates::Debate', 1, 'Decidim::ParticipatoryProcess', 1, '2025-04-21', 2, '2025-04-19', '2025-04-21'),
(5, 'Decidim::Meetings::Meeting', 5, 'Decidim::ParticipatoryProcess', 1, '2025-04-22', 2, '2025-04-19', '2025-04-22'),
(6, 'Decidim::Comments::Comment', 1, 'Decidim::ParticipatoryProcess', 1, '2025-04-22', 2, '2025-04-19', '2025-04-22'), (7, 'Decidim::Proposals::Proposal', 9999, 'Decidim::ParticipatoryProcess', 1, '2025-04-22', 2, '2025-04-19', '2025-04-22');

-- Meetings, posts -----------------------------------------------------------------------------------------------------------

insert into decidim_meetings_meetings (id, decidim_component_id, title, description, start_time, end_time, private_meeting, transparent, published_at, withdrawn_at, deleted_at,
    decidim_author_type, decidim_author_id, location, address, type_of_meeting, registrations_enabled, available_slots, created_at, updated_at) values
(1, 5, '{"en": "Kick-off"}', '{"en": "Come and meet us."}', '2025-04-01 17:00:00', '2025-04-01 19:00:00', false, true, '2025-03-01', null, null, 'Decidim::Organization', 1, '{"en": "Town hall"}', 'Square 1', 0, true, 2, '2025-02-01 10:00:00', '2025-02-01 10:00:00'),
(2, 5, '{"en": "Private round"}', '{}', '2025-04-02 17:00:00', '2025-04-02 19:00:00', true, false, '2025-03-01', null, null, 'Decidim::Organization', 1, null, null, 10, false, 0, '2025-02-02', '2025-02-02'),
(3, 5, '{"en": "Glass round"}', '{}', '2099-04-03 17:00:00', '2099-04-03 19:00:00', true, true, '2025-03-01', null, null, 'Decidim::UserBaseEntity', 4, null, null, 0, false, 0, '2025-02-03', '2025-02-03'),
(4, 5, '{"en": "Called off"}', '{}', '2025-04-04 17:00:00', '2025-04-04 19:00:00', null, true, '2025-03-01', '2025-04-03', null, 'Decidim::UserBaseEntity', 4, null, null, 0, false, 0, '2025-02-04', '2025-04-03'),
(5, 5, '{"en": "Hidden"}', '{}', '2025-04-05 17:00:00', '2025-04-05 19:00:00', false, true, '2025-03-01', null, null, 'Decidim::UserBaseEntity', 5, null, null, 0, false, 0, '2025-02-05', '2025-04-22'),
(6, 5, '{"en": "Unpublished"}', '{}', '2025-04-06 17:00:00', null, false, true, null, null, null, 'Decidim::Organization', 1, null, null, 0, false, 0, '2025-02-06', '2025-02-06'),
(7, 5, '{"en": "Binned"}', '{}', '2025-04-07 17:00:00', '2025-04-07 19:00:00', false, true, '2025-03-01', null, '2026-01-07', 'Decidim::Organization', 1, null, null, 0, false, 0, '2025-02-07', '2026-01-07'),
(8, 5, '{"en": "When?"}', '{}', null, null, false, true, '2025-03-01', null, null, 'Decidim::Organization', 1, null, null, 0, false, 0, '2025-02-08', '2025-02-08'),  -- W-NOTIME
(9, 15, '{"en": "Audit session"}', '{}', '2025-05-01 08:00:00', '2025-05-01 09:00:00', false, true, '2025-03-01', null, null, 'Decidim::Organization', 1, null, null, 0, false, 0, '2025-02-09', '2025-02-09');

insert into decidim_meetings_registrations (id, decidim_meeting_id, decidim_user_id, status, created_at, updated_at) values
(1, 1, 2, 'registered', '2025-03-20', '2025-03-20'), (2, 1, 4, 'registered', '2025-03-20', '2025-03-20'), (3, 1, 16, 'waiting_list', '2025-03-20', '2025-03-20'),  -- W-WAITING
(4, 2, 4, 'registered', '2025-03-20', '2025-03-20'), (5, 1, 9999, 'registered', '2025-03-20', '2025-03-20');  -- W-ORPHAN

insert into decidim_blogs_posts (id, decidim_component_id, title, body, decidim_author_type, decidim_author_id, published_at, deleted_at, created_at, updated_at) values
(1, 10, '{"en": "Works start", "fr": "Début des travaux"}', '{"en": "<p>From Monday. <img src=\"/rails/active_storage/blobs/redirect/eyJfcmFpbHMiOnsiZGF0YSI6Miwib3B1ciI6ImJsb2JfaWQifX0=--abc/photo.png\"></p>"}', 'Decidim::UserBaseEntity', 1, '2025-04-01 08:00:00.25', null, '2025-03-28', '2025-04-01'),  -- W-INLINE
(2, 10, '{"en": "From the city"}', '{"en": "Official."}', 'Decidim::Organization', 1, '2025-04-02', null, '2025-03-29', '2025-04-02'),
(3, 10, '{"en": "Next century"}', '{"en": "Scheduled."}', 'Decidim::UserBaseEntity', 1, '2099-01-01', null, '2025-03-30', '2025-03-30'),
(4, 10, '{"en": "Draft post"}', '{"en": "Unfinished."}', 'Decidim::UserBaseEntity', 4, null, null, '2025-03-31', '2025-03-31'),
(5, 10, '{"en": "Hidden post"}', '{"en": "Rude."}', 'Decidim::UserBaseEntity', 5, '2025-04-05', null, '2025-04-01', '2025-04-20'),
(6, 10, '{"en": "Binned post"}', '{"en": "Gone."}', 'Decidim::UserBaseEntity', 1, '2025-04-06', '2026-01-08', '2025-04-02', '2026-01-08'),
(7, 10, '{"en": "By the club"}', '{"en": "Chess!"}', 'Decidim::UserBaseEntity', 12, '2025-04-07', null, '2025-04-03', '2025-04-07'),
(8, 10, '{"en": "By nobody"}', null, 'Decidim::UserBaseEntity', 9999, '2025-04-08', null, '2025-04-04', '2025-04-08');  -- W-ORPHAN author; body null

-- Surveys and forms -----------------------------------------------------------------------------------------------------------

insert into decidim_surveys_surveys (id, decidim_component_id, starts_at, ends_at, allow_responses, allow_unregistered, published_at, deleted_at, created_at, updated_at) values
(1, 7, '2025-04-01', '2099-01-01', true, true, '2025-03-01', null, '2025-02-20', '2025-02-20'),
(2, 7, null, null, false, false, '2025-03-01', null, '2025-02-21', '2025-02-21'),  -- W-SURVEYCLOSED: takes no responses
(3, 7, null, null, true, false, null, '2026-01-09', '2025-02-22', '2026-01-09');

insert into decidim_forms_questionnaires (id, questionnaire_for_type, questionnaire_for_id, title, description, tos, salt, published_at, created_at, updated_at) values
(1, 'Decidim::Surveys::Survey', 1, '{"en": "Mobility survey"}', '{"en": "<p>Ten minutes.</p>"}', '{"en": "Terms"}', '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0', null, '2025-02-20', '2025-02-25'),
(2, 'Decidim::Surveys::Survey', 2, '{"en": "Closed survey"}', '{}', '{}', null, null, '2025-02-21', '2025-02-21'),
(3, 'Decidim::Meetings::Meeting', 1, '{"en": "Registration"}', null, null, 'aa1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0', null, '2025-02-01', '2025-02-01'),
(4, 'Decidim::Templates::Template', 1, '{"en": "Template"}', '{}', '{}', 'bb', null, '2025-02-01', '2025-02-01'),  -- W-FORM: no place
(5, 'Decidim::Surveys::Survey', 1, '{"en": "Second for survey 1"}', '{}', '{}', 'cc', null, '2025-02-23', '2025-02-23'),  -- W-FORM: one per survey
(6, null, null, '{"en": "Of nothing"}', '{}', '{}', 'dd', null, '2025-02-23', '2025-02-23'), (7, 'Decidim::Surveys::Survey', 3, '{"en": "Binned survey"}', '{}', '{}', 'ee', null, '2025-02-22', '2025-02-22');

insert into decidim_forms_questions (id, decidim_questionnaire_id, position, question_type, mandatory, max_choices, max_characters, body, description, created_at, updated_at) values
(1, 1, 0, 'title_and_description', false, null, 0, '{"en": "Intro"}', '{"en": "Welcome"}', '2025-02-20', '2025-02-20'),
(2, 1, 1, 'short_response', true, null, 20, '{"en": "How do you travel?", "fr": "Comment ?"}', null, '2025-02-20', '2025-02-20'),
(3, 1, 2, 'long_response', false, null, null, '{"en": "Why?"}', '{}', '2025-02-20', '2025-02-20'),
(4, 1, 3, 'single_option', true, null, 0, '{"en": "Main means"}', null, '2025-02-20', '2025-02-20'),
(5, 1, 4, 'multiple_option', null, 2, 0, '{"en": "Lines"}', null, '2025-02-20', '2025-02-20'),
(6, 1, 5, 'sorting', false, null, 0, '{"en": "Order"}', null, '2025-02-20', '2025-02-20'),
(7, 1, 6, 'matrix_single', false, null, 0, '{"en": "How often"}', null, '2025-02-20', '2025-02-20'),
(8, 1, 7, 'matrix_multiple', false, 2, 0, '{"en": "With whom"}', null, '2025-02-20', '2025-02-20'),
(9, 1, 8, 'files', false, null, 0, '{"en": "Timetable"}', null, '2025-02-20', '2025-02-20'),
(10, 1, 9, 'separator', false, null, 0, null, null, '2025-02-20', '2025-02-20'),
(11, 1, 10, 'short_answer', false, null, 0, '{"en": "An old type name"}', null, '2025-02-20', '2025-02-20'),
(12, 3, 0, 'short_response', false, null, 0, '{"en": "Allergies"}', null, '2025-02-01', '2025-02-01'),
(13, 1, 11, 'drawing', false, null, 0, '{"en": "A type of another module"}', null, '2025-02-20', '2025-02-20');  -- W-QUESTION

insert into decidim_forms_response_options (id, decidim_question_id, body, free_text) values
(1, 4, '{"en": "Bus"}', false), (2, 4, '{"en": "Bicycle", "fr": "Vélo"}', null), (3, 4, '{"en": "Other"}', true),
(4, 5, '{"en": "Line 1"}', false), (5, 5, '{"en": "Line 2"}', false), (6, 6, '{"en": "Price"}', false), (7, 6, '{"en": "Time"}', false), (8, 6, '{"en": "Comfort"}', false),
(9, 7, '{"en": "Daily"}', false), (10, 7, '{"en": "Never"}', false), (11, 8, '{"en": "Alone"}', false), (12, 8, '{"en": "Family"}', false), (13, 999, '{"en": "Lost"}', false);  -- W-ORPHAN
insert into decidim_forms_question_matrix_rows (id, decidim_question_id, position, body) values
(1, 7, 0, '{"en": "Tram"}'), (2, 7, 1, '{"en": "Train"}'), (3, 8, null, '{"en": "Week"}');
insert into decidim_forms_display_conditions (id, decidim_question_id, decidim_condition_question_id, decidim_response_option_id, condition_type, condition_value, mandatory, created_at, updated_at) values
(1, 3, 2, null, 0, null, false, '2025-02-20', '2025-02-20'), (2, 4, 2, null, 1, null, false, '2025-02-20', '2025-02-20'),
(3, 5, 4, 1, 2, null, true, '2025-02-20', '2025-02-20'), (4, 6, 4, 2, 3, null, false, '2025-02-20', '2025-02-20'),
(5, 7, 2, null, 4, '{"en": "tram", "ca": "tramvia"}', false, '2025-02-20', '2025-02-20'), (6, 2, 4, 1, 2, null, false, '2025-02-20', '2025-02-20');  -- W-CONDITION: looks ahead

insert into decidim_forms_responses (id, decidim_questionnaire_id, decidim_question_id, decidim_user_id, session_token, ip_hash, body, created_at, updated_at) values
(1, 1, 2, 2, '520488698348784059647353', '120488698348784059647353', 'By bike', '2025-05-01 10:00:00', '2025-05-01 10:00:00'), (2, 1, 4, 2, '520488698348784059647353', '120488698348784059647353', null, '2025-05-01 10:00:00', '2025-05-01 10:00:00'),
(3, 1, 6, 2, '520488698348784059647353', '120488698348784059647353', null, '2025-05-01 10:00:00', '2025-05-01 10:00:00'), (4, 1, 7, 2, '520488698348784059647353', '120488698348784059647353', null, '2025-05-01 10:00:00', '2025-05-01 10:00:00'),
(5, 1, 8, 2, '520488698348784059647353', '120488698348784059647353', null, '2025-05-01 10:00:00', '2025-05-01 10:00:00'), (6, 1, 9, 2, '520488698348784059647353', '120488698348784059647353', null, '2025-05-01 10:00:00', '2025-05-01 10:00:00'),
(7, 1, 2, null, '777', null, 'On foot', '2025-05-02', '2025-05-02'), (8, 1, 4, null, '777', null, null, '2025-05-02', '2025-05-02'), (9, 1, 5, null, '777', null, null, '2025-05-02', '2025-05-02'),  -- anonymous
(10, 1, 2, null, '888', '9', '', '2025-05-03', '2025-05-03'),  -- anonymous, an empty answer
(11, 1, 2, 2, '999', null, 'Again', '2025-05-04', '2025-05-04'),  -- W-RESPONSE: bob a second time
(12, 3, 12, 4, '555', null, 'None', '2025-03-20', '2025-03-20'), (13, 1, 999, 4, '556', null, 'x', '2025-05-05', '2025-05-05'), (14, 1, 2, 9999, '557', null, 'x', '2025-05-05', '2025-05-05');  -- W-ORPHAN twice
insert into decidim_forms_response_choices (id, decidim_response_id, decidim_response_option_id, decidim_question_matrix_row_id, position, body, custom_body) values
(1, 2, 3, null, null, '{"en": "Other"}', 'Skateboard'),  -- W-FREETEXT
(2, 3, 8, null, 0, '{"en": "Comfort"}', null), (3, 3, 6, null, 1, '{"en": "Price"}', null), (4, 3, 7, null, 2, '{"en": "Time"}', null),
(5, 4, 9, 1, null, '{"en": "Daily"}', null), (6, 4, 10, 2, null, '{"en": "Never"}', null), (7, 5, 11, 3, null, '{"en": "Alone"}', null), (8, 5, 12, 3, null, '{"en": "Family"}', null),
(9, 8, 1, null, null, '{"en": "Bus"}', null), (10, 9, 4, null, null, '{"en": "Line 1"}', null), (11, 9, 5, null, null, '{"en": "Line 2"}', null), (12, 9, 999, null, null, '{"en": "Lost"}', null);  -- W-ORPHAN option

-- Files -----------------------------------------------------------------------------------------------------------------------

insert into active_storage_blobs (id, key, filename, content_type, metadata, service_name, byte_size, checksum, created_at) values
(1, 'r1vertonplanpdfkeyaaaaaaaa01', 'Site plan (final).pdf', 'application/pdf', '{"identified":true,"analyzed":true}', 'local', 69, 'G7wyT9SawbbmkvRSDcxC1w==', '2025-03-02'),
(2, 'r1photopngkeyaaaaaaaaaaaa02', 'photo.PNG', 'image/png', '{"identified":true,"width":1,"height":1}', 'local', 70, '+Cm5FPxHz8nAdHwRnCfPGw==', '2025-03-02'),
(3, 'r1notestxtkeyaaaaaaaaaaaa03', 'notes.txt', 'text/plain', null, 'local', 12, 'b1kCrCNwJL3QwXbLkwY9xA==', '2025-03-02'),
(4, 'r1missingkeyaaaaaaaaaaaaaa04', 'lost.pdf', 'application/pdf', null, 'local', 100, 'AAAAAAAAAAAAAAAAAAAAAA==', '2025-03-02'),  -- W-FILE: not on the disk
(5, 's3photokeyaaaaaaaaaaaaaaaa05', 's3.png', 'image/png', null, 's3', 70, '+Cm5FPxHz8nAdHwRnCfPGw==', '2025-03-02'),
(6, 'r1avatarkeyaaaaaaaaaaaaaaa06', 'me.png', 'image/png', null, 'local', 70, '+Cm5FPxHz8nAdHwRnCfPGw==', '2025-03-02'),  -- an avatar: counted only
(7, 'r1answertxtkeyaaaaaaaaaaa07', 'line12.txt', 'text/plain', null, 'local', 21, null, '2025-05-01'),  -- no checksum
(8, 'r1vectorkeyaaaaaaaaaaaaaaa08', 'logo.svg', 'image/svg+xml', null, 'local', 10, 'AAAAAAAAAAAAAAAAAAAAAA==', '2025-05-01');  -- W-FILERULE: SVG

insert into decidim_attachment_collections (id, collection_for_type, collection_for_id, name, description, weight) values
(1, 'Decidim::ParticipatoryProcess', 1, '{"en": "Plans"}', '{"en": "All plans"}', 2), (2, 'Decidim::Meetings::Meeting', 1, '{"en": "Minutes"}', '{}', 0), (3, 'Decidim::Assembly', 404, '{"en": "Lost"}', '{}', 0);  -- W-ORPHAN

insert into decidim_attachments (id, attached_to_type, attached_to_id, title, description, content_type, file_size, weight, attachment_collection_id, link, created_at, updated_at) values
(1, 'Decidim::ParticipatoryProcess', 1, '{"en": "Site plan"}', '{"en": "Scale 1:500"}', 'application/pdf', '69', 1, 1, null, '2025-03-02', '2025-03-02'),
(2, 'Decidim::Proposals::Proposal', 1, '{"en": "Photo"}', null, 'image/png', '70', 0, null, null, '2025-03-02', '2025-03-02'),
(3, 'Decidim::Meetings::Meeting', 1, '{"en": "Notes", "ca": "Notes"}', '{}', 'text/plain', '12', 0, 2, null, '2025-03-02', '2025-03-02'),
(4, 'Decidim::ParticipatoryProcess', 1, '{"en": "Web site"}', '{}', 'text/uri-list', '0', 0, null, 'https://plan.example.test/', '2025-03-02', '2025-03-02'),
(5, 'Decidim::Blogs::Post', 1, '{"en": "Lost file"}', '{}', 'application/pdf', '100', 0, null, null, '2025-03-02', '2025-03-02'),  -- W-FILE
(6, 'Decidim::Accountability::Result', 1, '{"en": "Of a result"}', '{}', 'image/png', '70', 0, null, null, '2025-03-02', '2025-03-02'),  -- W-PARENT
(7, 'Decidim::Forms::Response', 6, '{"en": "line12.txt"}', '{}', 'text/plain', '21', 0, null, null, '2025-05-01', '2025-05-01'),
(8, 'Decidim::ParticipatoryProcess', 1, '{"en": "No file at all"}', '{}', 'application/pdf', '5', 0, null, null, '2025-03-02', '2025-03-02'),  -- W-FILE: no blob
(9, 'Decidim::Blogs::Post', 2, '{"en": "In the cloud"}', '{}', 'image/png', '70', 0, 1, null, '2025-03-02', '2025-03-02'),  -- collection of another parent: dropped
(10, 'Decidim::Proposals::Proposal', 9999, '{"en": "Lost"}', '{}', 'image/png', '70', 0, null, null, '2025-03-02', '2025-03-02'),  -- W-ORPHAN
(11, 'Decidim::ParticipatoryProcess', 1, '{"en": "Vector"}', '{}', 'image/svg+xml', '10', 0, null, null, '2025-03-02', '2025-03-02');

insert into active_storage_attachments (id, record_type, record_id, name, blob_id, created_at) values
(1, 'Decidim::Attachment', 1, 'file', 1, '2025-03-02'), (2, 'Decidim::Attachment', 2, 'file', 2, '2025-03-02'), (3, 'Decidim::Attachment', 3, 'file', 3, '2025-03-02'),
(4, 'Decidim::Attachment', 5, 'file', 4, '2025-03-02'), (5, 'Decidim::Attachment', 9, 'file', 5, '2025-03-02'), (6, 'Decidim::UserBaseEntity', 1, 'avatar', 6, '2025-03-02'),
(7, 'Decidim::Attachment', 7, 'file', 7, '2025-05-01'), (8, 'Decidim::Attachment', 6, 'file', 2, '2025-03-02'), (9, 'Decidim::Attachment', 11, 'file', 8, '2025-05-01');

-- Entries, the rest ---------------------------------------------------------------------------------------------------------------

insert into decidim_pages_pages (id, decidim_component_id, body, deleted_at, created_at, updated_at) values
(1, 1, '{"en": "<p>About us</p>"}', null, '2025-02-02', '2025-02-02'), (2, 17, '{"en": "Lost"}', null, '2025-05-01', '2025-05-01');
insert into decidim_budgets_budgets (id, decidim_component_id, title, deleted_at, created_at, updated_at) values
(1, 6, '{"en": "North"}', null, '2025-02-06', '2025-02-06'), (2, 6, '{"en": "Binned south"}', '2026-01-10', '2025-02-06', '2026-01-10');
insert into decidim_accountability_results (id, decidim_component_id, title, deleted_at, created_at, updated_at) values
(1, 8, '{"en": "Trees planted"}', null, '2025-02-08', '2025-02-08');
insert into decidim_debates_debates (id, decidim_component_id, title, decidim_author_type, decidim_author_id, deleted_at, created_at, updated_at) values
(1, 9, '{"en": "Hidden debate"}', 'Decidim::UserBaseEntity', 5, null, '2025-02-09', '2025-04-21'), (2, 9, '{"en": "Night buses"}', 'Decidim::Organization', 1, null, '2025-02-10', '2025-02-10');

insert into resource_extended_data (id, resource_type, resource_id, data, created_at, updated_at) values
(1, 'Decidim::Organization', 1, '{"unconfirmed_host": "new.riverton.example.test", "crm": {"id": 7, "note": ""}}', '2026-08-05', '2026-08-06'),
(2, 'Decidim::Component', 2, '{"bot": {"menu": true}}', '2026-08-05', '2026-08-06'), (3, 'Decidim::ParticipatoryProcess', 1, '{"color": "green"}', '2026-08-05', '2026-08-06'),
(4, 'Decidim::Proposals::Proposal', 1, '{"source": "hotline", "tags": ["a", "b"]}', '2026-08-05', '2026-08-06'), (5, 'Decidim::Meetings::Meeting', 1, '{"room": 3}', '2026-08-05', '2026-08-06'),
(6, 'Decidim::Assembly', 404, '{"lost": true}', '2026-08-05', '2026-08-06'), (7, 'Decidim::Organization', 2, '{}', '2026-08-05', '2026-08-06'), (8, 'Decidim::Initiative', 1, '"broken"', '2026-08-05', '2026-08-06');  -- W-ORPHAN; W-JSON: no object

insert into decidim_comments_comments values (1, null), (2, null), (3, '2025-05-05');
insert into decidim_likes values (1), (2);
insert into decidim_follows values (1);
insert into decidim_authorizations values (1, 'census', '{"document": "b64--iv--tag"}');
insert into decidim_budgets_projects values (1, 1);

commit;
