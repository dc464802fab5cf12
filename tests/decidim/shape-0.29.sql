-- The shape of Decidim 0.29, made of that of 0.30. It has no bin: binned rows are removed.
delete from decidim_participatory_processes where deleted_at is not null;
delete from decidim_components where deleted_at is not null;
delete from decidim_proposals_proposals where deleted_at is not null;
delete from decidim_meetings_meetings where deleted_at is not null;
delete from decidim_blogs_posts where deleted_at is not null;
delete from decidim_surveys_surveys where deleted_at is not null;
delete from decidim_budgets_budgets where deleted_at is not null;
alter table decidim_participatory_processes drop deleted_at;
alter table decidim_assemblies drop deleted_at;
alter table decidim_conferences drop deleted_at;
alter table decidim_components drop deleted_at;
alter table decidim_proposals_proposals drop deleted_at;
alter table decidim_meetings_meetings drop deleted_at;
alter table decidim_blogs_posts drop deleted_at;
alter table decidim_surveys_surveys drop deleted_at;
alter table decidim_pages_pages drop deleted_at;
alter table decidim_budgets_budgets drop deleted_at;
alter table decidim_accountability_results drop deleted_at;
alter table decidim_debates_debates drop deleted_at;
drop table if exists decidim_taxonomies;
alter table decidim_components drop visible;
-- Surveys have no settings of their own.
alter table decidim_surveys_surveys drop starts_at, drop ends_at, drop allow_answers, drop allow_unregistered, drop published_at;
update decidim_components set settings = '{"global": {"ends_at": "2099-01-01T00:00:00Z"},
    "steps": {"2": {"allow_answers": true, "allow_unregistered": true}}}' where id = 7;
update decidim_components set settings = replace(settings::text, '"edit_time": ["2", "hours"]', '"proposal_edit_before_minutes": "120"')::jsonb;
alter table decidim_attachments add file varchar;
