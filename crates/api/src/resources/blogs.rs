//! `/blogs` (contract 07 part A).

use crate::body::Closed;
use crate::document::{Doc, Holds};
use crate::links::{ResourceLink, component_links};
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::resources::newest;
use crate::route::{Answer, Routes, Write};
use crate::shapes::{
    ComponentIdentifier, CreationDate, EditionDate, Identifier, ToComponent, ToOne, TranslatedProp,
    iso_milliseconds,
};
use actix_web::http::{Method, StatusCode};
use civitas_application::{Ports, Registry, RenderContext};
use civitas_blogs::{
    CreatePost, DestroyPost, PostDetail, PostNeighbours, PostQuery, PostWrites, Posts, Publication,
    READ_POSTS, UpdatePost,
};
use civitas_kernel::{ComponentId, Direction, Error, Locales, Order, PostId, Result, Translated};
use serde::Serialize;
use serde_json::{Map, Value, json};
use time::format_description::well_known::Iso8601;
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset};
use utoipa::ToSchema;

/// The lists whose losses age a list of posts.
const LISTS: &[&str] = &["posts", "components", "spaces", "roles"];

/// A blog post.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlogView {
    id: String,
    #[serde(rename = "type")]
    kind: BlogType,
    attributes: BlogAttributes,
    relationships: BlogRelationships,
    links: BlogLinks,
    meta: BlogMeta,
}

/// The type of a blog post.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog_object_type)]
#[serde(rename_all = "snake_case")]
enum BlogType {
    /// `blog`
    Blog,
}

/// What a blog post says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog_attributes)]
#[serde(deny_unknown_fields)]
struct BlogAttributes {
    created_at: CreationDate,
    updated_at: EditionDate,
    title: TranslatedProp,
    /// HTML, as it was written.
    body: TranslatedProp,
    /// With milliseconds; null for a draft.
    #[schema(format = "date-time", required)]
    published_at: Option<String>,
}

/// What a blog post belongs to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog_relationships)]
#[serde(deny_unknown_fields)]
struct BlogRelationships {
    space: ToOne,
    component: ToComponent,
}

/// Where to go on from a blog post.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog_links)]
#[serde(deny_unknown_fields)]
struct BlogLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    collection: ResourceLink,
    related: ResourceLink,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<ResourceLink>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<ResourceLink>,
}

/// Whether a blog post is published, and its scope.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog_meta)]
#[serde(deny_unknown_fields)]
struct BlogMeta {
    published: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<i64>,
}

pub(crate) fn routes(routes: &mut Routes) {
    let context = |doc: Doc| {
        let doc = doc.locales().within_space().with("component_id", Holds::Integer);
        doc.order(&["published_at", "rand"]).fails(400)
    };
    let list = context(Doc::new("Lists the blog posts", "blog_index_response").pages());
    routes.read("listBlogPosts", "/blogs", READ_POSTS, list, index);
    let show = context(Doc::new("Shows a blog post", "blog_item_response")).fails(404);
    routes.read("getBlogPost", "/blogs/{id}", READ_POSTS, show, show_one);
    routes.write(Write {
        ids: ["createBlogPostAsync", "createBlogPost"],
        method: Method::POST,
        paths: ["/blogs", "/blogs/sync"],
        status: StatusCode::CREATED,
        read: read_create,
        doc: || {
            let doc = Doc::new("Creates a blog post", "blog_item_response").locales();
            let doc = doc.with("component_id", Holds::Integer).takes("blog_post_create_payload");
            doc.fails(400).fails(404)
        },
    });
    routes.write_or_patch(Write {
        ids: ["updateBlogPostAsync", "updateBlogPost"],
        method: Method::PUT,
        paths: ["/blogs/{id}", "/blogs/{id}/sync"],
        status: StatusCode::OK,
        read: read_update,
        doc: || {
            let doc = Doc::new("Changes a blog post", "blog_item_response").locales();
            doc.takes("blog_post_update_payload").fails(400).fails(404)
        },
    });
    routes.write(Write {
        ids: ["deleteBlogPostAsync", "deleteBlogPost"],
        method: Method::DELETE,
        paths: ["/blogs/{id}", "/blogs/{id}/sync"],
        status: StatusCode::OK,
        read: |request| Ok(DestroyPost { id: PostId(request.id()?) }),
        doc: || Doc::new("Deletes a blog post", "blog_item_response").locales().fails(400).fails(404),
    });
}

pub(crate) fn commands(to: Registry) -> Registry {
    to.on::<CreatePost>(|ports| Box::new(writes(ports)), result)
        .on::<UpdatePost>(|ports| Box::new(writes(ports)), result)
        .on::<DestroyPost>(|ports| Box::new(writes(ports)), result)
}

fn writes(ports: &dyn Ports) -> PostWrites<'_> {
    PostWrites { store: ports.posts(), lookup: ports.blogs() }
}

fn read_create(request: &Request) -> Result<CreatePost> {
    let data =
        Closed::of(&request.body, "", &["data"])?.object("data", &["type", "component_id", "attributes"])?;
    data.is_type("blog")?;
    let component = match data.get("component_id") {
        Some(sent) => sent.as_i64().or_else(|| sent.as_str()?.parse().ok()),
        None => request.query.get("component_id").and_then(|text| text.parse().ok()),
    };
    let component = component.ok_or_else(|| Error::rejected("component_id required"))?;
    let attributes = data.object("attributes", ATTRIBUTES)?;
    let text = |sent| read_text(sent, request.api.locales());
    Ok(CreatePost {
        component: ComponentId(component),
        title: attributes.get("title").map(text).transpose()?.unwrap_or_default(),
        body: attributes.get("body").map(text).transpose()?.unwrap_or_default(),
        published_at: attributes.get("published_at").map(read_time).transpose()?.flatten(),
    })
}

fn read_update(request: &Request) -> Result<UpdatePost> {
    let id = PostId(request.id()?);
    let data = Closed::of(&request.body, "", &["data"])?.object("data", &["type", "id", "attributes"])?;
    data.is_type("blog")?;
    let is_same = |sent: &Value| sent.as_str() == Some(&id.to_string()) || sent.as_i64() == Some(id.0);
    if data.get("id").is_some_and(|sent| !is_same(sent)) {
        return Err(Error::rejected("id does not match the path"));
    }
    let attributes = data.object("attributes", ATTRIBUTES)?;
    let text = |sent| read_text(sent, request.api.locales());
    let publication = |sent| Ok::<_, Error>(Publication { at: read_time(sent)? });
    Ok(UpdatePost {
        id,
        title: attributes.get("title").map(text).transpose()?,
        body: attributes.get("body").map(text).transpose()?,
        publication: attributes.get("published_at").map(publication).transpose()?,
    })
}

const ATTRIBUTES: &[&str] = &["title", "body", "published_at"];

/// A text in languages of the deployment.
fn read_text(sent: &Value, locales: &Locales) -> Result<Translated> {
    let invalid = || Error::rejected("title and body must be objects of texts by language");
    if sent.is_null() {
        return Ok(Translated::default());
    }
    let members: &Map<String, Value> = sent.as_object().ok_or_else(invalid)?;
    let texts = members.iter().map(|(name, text)| Some((locales.find(name)?, text.as_str()?.to_owned())));
    texts.collect::<Option<Translated>>().ok_or_else(invalid)
}

/// A time in ISO 8601, without an offset in UTC; null for none.
fn read_time(sent: &Value) -> Result<Option<OffsetDateTime>> {
    if sent.is_null() {
        return Ok(None);
    }
    let text = sent.as_str().unwrap_or_default();
    let zoned = OffsetDateTime::parse(text, &Iso8601::PARSING).ok();
    let at = zoned.or_else(|| Some(PrimitiveDateTime::parse(text, &Iso8601::PARSING).ok()?.assume_utc()));
    let at =
        at.and_then(|at| at.checked_to_offset(UtcOffset::UTC)).filter(|at| (0..=9999).contains(&at.year()));
    let at = at.ok_or_else(|| Error::rejected("published_at is not a valid date-time"))?;
    Ok(Some(civitas_kernel::clock::to_microseconds(at)))
}

async fn index(request: Request) -> Answer {
    let context = request.render_context()?;
    let query = PostQuery { within: request.query.within()?, order: request.query.order("published_at")? };
    let posts = Posts { store: request.ports().posts() };
    let page = posts.list(context.ctx, query, request.query.page()).await?;
    let changes = page.items.iter().map(|post| post.changed_at(request.now));
    let changed_at = newest(&request, LISTS, changes).await?;
    let page = page.map(|post| view(&context, post, PostNeighbours::default()));
    Ok(Reply::list(&request, page, query.order == Order::Random, changed_at)?)
}

async fn show_one(request: Request) -> Answer {
    let context = request.render_context()?;
    let within = request.query.within()?;
    // One post is found whatever the order; its neighbours are those of the newest first (contract 07 A.4).
    let order = match request.query.order("published_at")? {
        Order::Column(_) if request.query.get("order_direction").is_some() => {
            request.query.order("published_at")?
        }
        _ => Order::Column(Direction::Descending),
    };
    let posts = Posts { store: request.ports().posts() };
    let (id, query) = (PostId(request.id()?), PostQuery { within, order });
    let (found, beside) = posts.find(context.ctx, id, within, query).await?;
    let changed_at = newest(&request, LISTS, [found.changed_at(request.now)].into_iter()).await?;
    Ok(Reply::read(&request, &Document { data: view(&context, found, beside) }, changed_at)?)
}

/// A post as the result of a command: without neighbours.
fn result(context: &RenderContext<'_>, post: PostDetail) -> Value {
    json!(Document { data: view(context, post, PostNeighbours::default()) })
}

/// A post as its caller reads it.
fn view(context: &RenderContext<'_>, detail: PostDetail, beside: PostNeighbours) -> BlogView {
    let PostDetail { id, post, place } = detail;
    let locales = context.locales();
    let links = component_links(context, &place, "blogs", "Blogs");
    BlogView {
        id: id.to_string(),
        kind: BlogType::Blog,
        relationships: BlogRelationships {
            space: ToOne { data: Identifier::new(place.space.id, place.space.manifest.as_str()) },
            component: ToComponent { data: ComponentIdentifier::new(place.component, "blog_component") },
        },
        links: BlogLinks {
            this: links.this(id),
            collection: links.collection(id),
            related: links.related(),
            next: beside.next.map(|id| links.to(id, "Next post")),
            prev: beside.prev.map(|id| links.to(id, "Previous post")),
        },
        meta: BlogMeta { published: post.is_published(context.ctx.now), scope: place.scope_id },
        attributes: BlogAttributes {
            created_at: CreationDate(post.created_at),
            updated_at: EditionDate(post.updated_at),
            title: TranslatedProp(post.title.only(locales)),
            body: TranslatedProp(post.body.only(locales)),
            published_at: post.published_at.map(iso_milliseconds),
        },
    }
}
