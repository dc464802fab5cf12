//! The shapes of answers (contract 01 §1 and §7, 09 A.2).

use crate::error::{Error, ErrorDetail, Result};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LINK};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use uuid::Uuid;

/// A successful answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status: 200, 201, 202 or 204.
    pub status: StatusCode,
    /// The headers. After a 304 those of the stored answer.
    pub headers: HeaderMap,
    /// The body; empty with 204.
    pub body: Arc<[u8]>,
}

impl Response {
    /// Decodes the body. An empty body is null: `()`, `Option` and `Value` accept it.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        let body: &[u8] = if self.body.is_empty() { b"null" } else { &self.body };
        serde_json::from_slice(body).map_err(Error::Decode)
    }

    /// The number of all rows of a list, from the header `Total`. `None` unless the request has the header
    /// `Prefer: count=exact` (contract 01 §7).
    pub fn total(&self) -> Option<u64> {
        self.headers.get("total")?.to_str().ok()?.parse().ok()
    }

    /// The address of the next page of a list, from the header `Link` (RFC 8288). `None` on the last page.
    pub fn next_page(&self) -> Option<&str> {
        let links = self.headers.get_all(LINK).into_iter().filter_map(|value| value.to_str().ok());
        let mut links = links.flat_map(|value| value.split('<').filter_map(|link| link.split_once('>')));
        links.find(|(_, parameters)| is_next(parameters)).map(|(address, _)| address)
    }
}

/// Whether these parameters of a link have the relation `next`.
fn is_next(parameters: &str) -> bool {
    let mut parameters = parameters.split([';', ',']).filter_map(|parameter| parameter.split_once('='));
    parameters.any(|(name, value)| {
        let mut relations = value.trim().trim_matches('"').split(' ');
        name.trim().eq_ignore_ascii_case("rel") && relations.any(|relation| relation == "next")
    })
}

/// `{"data": …}`: one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document<T> {
    /// The record.
    pub data: T,
}

/// A record of any type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The id, unique among the records of a type.
    pub id: String,
    /// The type: `proposal`, `blog`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The values.
    #[serde(default)]
    pub attributes: Map<String, Value>,
    /// Other records, by name.
    #[serde(default)]
    pub relationships: Map<String, Value>,
    /// Addresses, by name.
    #[serde(default)]
    pub links: Map<String, Value>,
    /// What depends on the caller: locales, the own vote.
    #[serde(default)]
    pub meta: Map<String, Value>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The records.
    pub data: Vec<T>,
    /// The position in the list.
    pub meta: PageMeta,
}

/// The position of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMeta {
    /// The number of the page, from 1.
    pub page: u64,
    /// The most records of a page.
    pub per_page: u64,
    /// Whether another page follows. Always true in random order.
    pub has_more: bool,
    /// The address of the next page.
    pub next: Option<String>,
    /// The address of the previous page.
    pub prev: Option<String>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobStatus {
    /// It waits.
    Pending,
    /// It runs.
    Processing,
    /// It succeeded; `data` is its result.
    Completed,
    /// It failed; `error_class` and `error_message` say why. Nothing was stored.
    Failed,
}

/// An asynchronous write.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Job {
    /// The id.
    pub id: Uuid,
    /// The state.
    pub status: JobStatus,
    /// The operation: `votes#create`.
    pub command_key: String,
    /// What the synchronous endpoint returns; null unless completed.
    #[serde(default)]
    pub data: Value,
    /// A stable name of the error: `BadRequest`, `Forbidden`, `ValidationError`, … `None` unless failed.
    pub error_class: Option<String>,
    /// The `error_description` of the synchronous endpoint. `None` unless failed.
    pub error_message: Option<String>,
    /// Which values are invalid.
    #[serde(default)]
    pub error_details: Vec<ErrorDetail>,
}

/// The answer of an asynchronous endpoint.
#[derive(Deserialize)]
pub(crate) struct JobReceipt {
    pub(crate) job_id: Uuid,
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn next_of(links: &[&'static str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for &link in links {
            headers.append(LINK, HeaderValue::from_static(link));
        }
        let response = Response { status: StatusCode::OK, headers, body: Arc::from(&b""[..]) };
        response.next_page().map(str::to_owned)
    }

    #[test]
    fn the_next_page_is_a_link_among_others() {
        for links in [
            &["<https://a.example/x?page=1>; rel=\"first\", <https://a.example/x?page=3>; rel=\"next\""][..],
            &["<?page=1>; rel=prev", "<https://a.example/x?page=3>; title=\"a, b\"; rel=\"last next\""],
            &["<https://a.example/x?page=3>;rel=next,<?page=9>;rel=last"],
        ] {
            assert_eq!(next_of(links).as_deref(), Some("https://a.example/x?page=3"), "{links:?}");
        }
        for links in [&["<?page=1>; rel=\"first\""][..], &[], &["?page=2; rel=next"], &["<?page=2"]] {
            assert_eq!(next_of(links), None, "{links:?}");
        }
    }
}
