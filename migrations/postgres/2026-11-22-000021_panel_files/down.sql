drop index proposals_hidden_in_component;
drop index proposals_hidden;
drop index votes_of_proposal;
drop index attachment_collections_of_parent;
drop index attachments_newest_of_type;
drop index attachments_newest_of_kind;
drop index attachments_newest;
