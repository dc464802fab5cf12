-- The shape of Decidim 0.31, made of that of 0.32 (13-decidim-import.md §2.1). Load after schema-subset.sql and the data.
alter table decidim_members rename to decidim_participatory_space_private_users;
alter table decidim_participatory_space_private_users rename participatory_space_type to privatable_to_type;
alter table decidim_participatory_space_private_users rename participatory_space_id to privatable_to_id;
alter table decidim_participatory_processes drop access_mode;
alter table decidim_assemblies drop access_mode;
-- False, as the importer has it for 0.32: the records stay the same.
alter table decidim_organizations add enable_participatory_space_filters boolean default false;
alter table decidim_organizations add user_groups_enabled boolean not null default false;
