-- A worker goes from one client with pending deliveries to the next, and takes the registrations of each in turn.
create index webhook_registrations_in_turn on webhook_registrations (api_client_id, served_at nulls first, id)
    where due_at is not null and disabled_at is null and paused_at is null;
