//! Every query, once, by table.

mod clients;
mod jobs;
mod list_changes;
mod organizations;
mod outbox;
mod refs;
mod roles;
mod system_admins;
mod tokens;
mod users;
