-- What a city seeded by Decidim 0.31.8 has beside seeded-0.31.sql.xz: the organization, and rows that have no place in Civitas.
-- Load after it.

insert into decidim_organizations (id, name, description, host, secondary_hosts, available_locales, default_locale,
    reference_prefix, time_zone, badges_enabled, send_welcome_notification, tos_version, created_at, updated_at) values
(1, '{"en": "Seeded city"}', '{"en": "<p>A city that Decidim seeded.</p>"}', 'localhost', '{0.0.0.0,127.0.0.1}',
    '{ar,bg,ca,cs,da,de,el,en,eo,es,es-MX,es-PY,et,eu,fa,fi,fi-pl,fr,fr-CA,ga,gl,hr,hu,id,is,it,ja,ko,lb,lt,lv,mt,nl,no,pl,pt,pt-BR,ro,ru,sk,sl,sr,sv,tr,uk,vi,zh-CN,zh-TW}',
    'en', 'SEED', 'UTC', true, true, '2026-11-27 10:23:16.645001', '2026-11-27 10:23:16.645001', '2026-11-27 10:23:19.548083');

create table decidim_proposals_collaborative_drafts (id serial primary key);
insert into decidim_proposals_collaborative_drafts select generate_series(1, 85);
create table decidim_taxonomies (id bigserial primary key);
insert into decidim_taxonomies select generate_series(1, 16);
insert into decidim_comments_comments select generate_series(1, 1048);
insert into decidim_likes select generate_series(1, 3012);
