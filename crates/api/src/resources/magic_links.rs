//! `/me/magic_links` (contract 03 §3).

use crate::document::Doc;
use crate::links::{self, LinkMeta, ResourceLink};
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::route::{self, Answer, Gate, Routes};
use actix_web::http::{Method, StatusCode};
use civitas_accounts::magic_links::{CreateMagicLink, MagicLinks, NewMagicLink, SignedIn};
use civitas_accounts::{SESSION_LIFETIME, Secret};
use civitas_application::{OneTimeLinks, Registry, RenderContext};
use civitas_kernel::{Command, Error, Result};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What every link is called.
const LABEL: &str = "My label";
/// The cookie of a participant's session. A browser takes a name that begins so from this host only, over HTTPS.
const COOKIE: &str = "__Host-civitas_participant";

/// A link that signs its user in once.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = magic_link)]
#[serde(deny_unknown_fields)]
pub(crate) struct MagicLinkView {
    id: String,
    #[serde(rename = "type")]
    kind: MagicLinkType,
    attributes: MagicLinkAttributes,
    links: MagicLinkLinks,
}

/// The type of a link.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = magic_link_object_type)]
#[serde(rename_all = "snake_case")]
enum MagicLinkType {
    /// `magic_link`
    MagicLink,
}

/// What opens a link, and where it leads.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = magic_link_attributes)]
#[serde(deny_unknown_fields)]
struct MagicLinkAttributes {
    /// Told here, and never again.
    token: String,
    label: &'static str,
    /// Where to go after signing in; the front page when null.
    #[schema(required)]
    redirect_url: Option<String>,
}

/// How a link was made, and how it is followed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = magic_link_links)]
#[serde(deny_unknown_fields)]
struct MagicLinkLinks {
    #[serde(rename = "self")]
    own: ResourceLink,
    sign_in: ResourceLink,
}

pub(crate) fn routes(routes: &mut Routes) {
    let doc = Doc::new("Makes a link that signs the user in", "magic_link_item_response");
    let doc = Doc { status: StatusCode::CREATED, ..doc.may_take("magic_link_create_body").fails(422) };
    let doc = doc.noting(
        "The link counts for 5 minutes and once; the user has one at a time. It may lead to a host of the \
         organization or of its allow-list.",
    );
    let gate = Gate::Needs(CreateMagicLink::ACCESS);
    routes.on("generateMagicLink", Method::POST, "/me/magic_links", gate, doc, create);
    let doc = Doc::silent("Signs in with a link", StatusCode::FOUND);
    let doc = doc.noting(
        "For browsers: sets the cookie of a participant's session and redirects. `HEAD` answers the same, and does \
         neither.",
    );
    routes.on("signInWithMagicLink", Method::GET, "/me/magic_links/{magic_token}", Gate::Open, doc, sign_in);
}

pub(crate) fn commands(to: Registry) -> Registry {
    to.on::<CreateMagicLink>(
        |p| {
            Box::new(MagicLinks {
                links: p.magic_links(),
                users: p.users(),
                organizations: p.organization_lookup(),
            })
        },
        |context, link| serde_json::json!(Document { data: view(context, link) }),
    )
}

async fn create(request: Request) -> Answer {
    Ok(route::now(request, read, false, StatusCode::CREATED).await?.with("Cache-Control", "no-store"))
}

fn read(request: &Request) -> Result<CreateMagicLink> {
    let redirect_url = match request.body.get("data") {
        None | Some(Value::Null) => None,
        Some(Value::Object(data)) => data.get("redirect_url").cloned(),
        Some(_) => return Err(Error::rejected("data must be an object")),
    };
    Ok(CreateMagicLink { redirect_url })
}

fn view(context: &RenderContext<'_>, link: NewMagicLink) -> MagicLinkView {
    let list = links::base(context, format_args!("/me/magic_links"));
    let token = link.token.expose().to_owned();
    let sign_in = format!("{list}/{token}");
    MagicLinkView {
        id: link.id.to_string(),
        kind: MagicLinkType::MagicLink,
        attributes: MagicLinkAttributes { token, label: LABEL, redirect_url: link.redirect_url },
        links: MagicLinkLinks {
            own: ResourceLink::new(list, "Generates a magic link", LinkMeta::post()),
            sign_in: ResourceLink::new(sign_in, "Sign in with magic link", LinkMeta::default()),
        },
    }
}

async fn sign_in(request: Request) -> Answer {
    let links = OneTimeLinks { store: &**request.api.store(), announcer: request.api.commands().announcer() };
    let token = Secret::new(request.segment("magic_token"));
    if request.method == Method::HEAD {
        return Ok(found(links.look(&request.tenant, &token, request.now).await?));
    }
    let SignedIn { session, location } = links.sign_in(&request.tenant, &token, request.now).await?;
    let lifetime = SESSION_LIFETIME.whole_seconds();
    let cookie =
        format!("{COOKIE}={}; Path=/; Max-Age={lifetime}; HttpOnly; Secure; SameSite=Lax", session.expose());
    Ok(found(location).with("Set-Cookie", cookie))
}

fn found(location: String) -> Reply {
    let reply = Reply::empty(StatusCode::FOUND).with("Location", location);
    // The address of this page is the link: nobody need be told where the browser comes from.
    reply.with("Cache-Control", "no-store").with("Referrer-Policy", "no-referrer")
}
