-- The order of the list of roles, alone and below an equality of each field it is filtered by (contract 03 s. 4.2). The
-- expressions are those of the statement, to the letter.
create index roles_in_order on roles (
    organization_id,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_user on roles (
    organization_id, user_id,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_resource on roles (
    organization_id, space_id,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_class on roles (
    organization_id, (case space_manifest when 'participatory_processes' then 'Platform::ParticipatoryProcess'
        when 'assemblies' then 'Platform::Assembly' else 'Platform::Conference' end),
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index roles_in_order_of_kind on roles (
    organization_id, kind,
    (case space_manifest when 'participatory_processes' then 1
        when 'assemblies' then case kind when 'space_private_member' then 3 else 2 end else 4 end),
    created_at, id);
create index users_general_admins on users (organization_id, created_at, id) where admin and deleted_at is null;

-- Nicknames as written (contract 03 s. 2.1).
create index users_by_written_nickname on users (organization_id, nickname, id) where deleted_at is null;
