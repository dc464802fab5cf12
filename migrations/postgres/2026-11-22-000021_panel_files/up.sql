-- Lists of administrators: all attachments but files of answers by id, of one kind of record, of one type.
create index attachments_newest on attachments (organization_id, id) where answer_id is null;
create index attachments_newest_of_kind on attachments (organization_id, attached_to_type, id) where answer_id is null;
create index attachments_newest_of_type on attachments (organization_id, file_type, id) where answer_id is null;
-- The collections of one record.
create index attachment_collections_of_parent on attachment_collections
    (organization_id, attached_to_type, attached_to_id, weight, id);

-- The votes on one proposal by time.
create index votes_of_proposal on votes (proposal_id, created_at, id);

-- Hidden proposals, of all components and of one.
create index proposals_hidden on proposals (organization_id, hidden_at, id)
    where hidden_at is not null and deleted_at is null;
create index proposals_hidden_in_component on proposals (component_id, hidden_at, id)
    where hidden_at is not null and deleted_at is null;
