//! Every query, once, by table.

mod clients;
mod components;
mod entries;
mod extended_data;
mod jobs;
mod list_changes;
mod meetings;
mod organizations;
mod outbox;
mod places;
mod proposals;
mod refs;
mod resources;
mod roles;
mod spaces;
mod standings;
mod states;
mod steps;
mod system_admins;
mod tokens;
mod users;
mod votes;
