//! `/me/magic_links` (contract 03 §3).

use crate::document::OperationDoc;
use crate::links::{self, LinkMeta, ResourceLink};
use crate::reply::{Document, Reply};
use crate::request::Request;
use crate::route::{HandlerResult, RequiredAccess, Routes, WriteRoute, post};
use crate::shapes::MagicLinkType;
use crate::typed_body::{RawBody, read_at};
use actix_web::http::{Method, StatusCode};
use civitas_accounts::magic_links::{CreateMagicLink, MagicLinkSignIn, NewMagicLink};
use civitas_accounts::{SESSION_LIFETIME, Secret};
use civitas_application::{OneTimeLinks, RenderContext, magic_links};
use civitas_kernel::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

const LABEL: &str = "My label";
/// The cookie of a participant's session. Browsers accept a name with the prefix `__Host-` only from this host and over
/// HTTPS.
const COOKIE: &str = "__Host-civitas_participant";

/// A link that signs its user in, for one use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = magic_link)]
pub(crate) struct MagicLinkView {
    id: String,
    r#type: MagicLinkType,
    attributes: MagicLinkAttributes,
    links: MagicLinkLinks,
}

/// The secret of a link, and the address it redirects to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = magic_link_attributes)]
struct MagicLinkAttributes {
    /// Returned only here.
    token: String,
    label: &'static str,
    /// The address to redirect to after signing in; the front page when null.
    #[schema(required)]
    redirect_url: Option<String>,
}

/// Links to the operation that creates a link, and to sign in with it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = magic_link_links)]
struct MagicLinkLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    sign_in: ResourceLink,
}

/// The redirect of a magic link.
#[derive(Deserialize, ToSchema)]
#[schema(as = magic_link_create_body, examples(json!({"data": {"redirect_url": "https://www.city.example/ideas"}})))]
struct LinkToCreate {
    #[schema(inline, value_type = Option<LinkData>)]
    data: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
struct LinkData {
    /// An `https` address on a host of the organization or of its allow-list; the front page when absent.
    #[schema(value_type = Option<String>, max_length = 2048)]
    redirect_url: Option<Value>,
}

pub(crate) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::item::<MagicLinkView>("Makes a link that signs the user in")
        .with_status_created()
        .with_no_store()
        .with_failure(422);
    routes.write_without_job(&WriteRoute {
        operations: post(["generateMagicLink", ""], "/me/magic_links"),
        read: create,
        use_case: |ports, _| Box::new(magic_links(ports)),
        view: |context, link| json!(Document { data: view(context, link) }),
        doc: doc.with_optional_body().with_note(
            "The link counts for 5 minutes and once; the user has one at a time. It may lead to a host of the \
             organization or of its allow-list.",
        ),
    });
    let doc = OperationDoc::without_json("Signs in with a link", StatusCode::FOUND).with_location();
    let doc = doc.with_note(
        "For browsers: sets the cookie of a participant's session and redirects. `HEAD` answers the same, and does \
         neither.",
    );
    routes.add_route(
        "signInWithMagicLink",
        Method::GET,
        "/me/magic_links/{magic_token}",
        RequiredAccess::Open,
        doc,
        sign_in,
    );
}

fn create(_: &Request, sent: RawBody<'_, LinkToCreate>) -> Result<CreateMagicLink> {
    let redirect_url = match sent.read()?.data {
        None => None,
        Some(Value::Null) => return Err(Error::rejected("data must be an object")),
        data => read_at::<LinkData>("data", data.as_ref())?.redirect_url,
    };
    Ok(CreateMagicLink { redirect_url })
}

fn view(context: &RenderContext<'_>, link: NewMagicLink) -> MagicLinkView {
    let list = links::base(context, format_args!("/me/magic_links"));
    let token = link.token.expose().to_owned();
    let sign_in = format!("{list}/{token}");
    MagicLinkView {
        id: link.id.to_string(),
        r#type: MagicLinkType,
        attributes: MagicLinkAttributes { token, label: LABEL, redirect_url: link.redirect_url },
        links: MagicLinkLinks {
            this: ResourceLink::new(list, "Generates a magic link", LinkMeta::post()),
            sign_in: ResourceLink::new(sign_in, "Sign in with magic link", LinkMeta::default()),
        },
    }
}

async fn sign_in(request: Request) -> HandlerResult {
    let links =
        OneTimeLinks { store: &**request.backend.store(), committer: request.backend.commands.committer() };
    let token = Secret::new(request.segment("magic_token"));
    if request.method == Method::HEAD {
        return Ok(found(links.find_redirect(&request.tenant, &token, request.now).await?));
    }
    let MagicLinkSignIn { session, location } = links.sign_in(&request.tenant, &token, request.now).await?;
    let lifetime = SESSION_LIFETIME.whole_seconds();
    let cookie =
        format!("{COOKIE}={}; Path=/; Max-Age={lifetime}; HttpOnly; Secure; SameSite=Lax", session.expose());
    Ok(found(location).with_header("Set-Cookie", cookie))
}

fn found(location: String) -> Reply {
    let reply = Reply::empty(StatusCode::FOUND).with_header("Location", location);
    // The address of this page has the secret of the link: no `Referer` may be sent.
    reply.with_header("Cache-Control", "no-store").with_header("Referrer-Policy", "no-referrer")
}
