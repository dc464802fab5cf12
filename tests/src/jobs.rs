//! Jobs for tests.

use civitas_jobs::{Job, JobOwner, JobPayload};
use civitas_kernel::{AnswerLanguages, ClientId, OrganizationId, TokenId, random_job_id};
use serde_json::Value;
use time::OffsetDateTime;

/// A job that is accepted from a client at this time.
pub fn job(
    organization: OrganizationId,
    client: ClientId,
    command: Value,
    created_at: OffsetDateTime,
) -> Job {
    Job {
        id: random_job_id(),
        organization,
        owner: JobOwner { client, user: None },
        token: TokenId(1),
        command_key: "votes#create".to_owned(),
        payload: JobPayload {
            name: "votes#create".to_owned(),
            command,
            languages: AnswerLanguages::default(),
        },
        attempts: 0,
        created_at,
    }
}
