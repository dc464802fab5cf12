//! `/blogs` (contract 07 part A).

use crate::answers;
use crate::document::OperationDoc;
use crate::links::{BlogLinks, BlogRelationships, ComponentRecord, RecordNames};
use crate::reply::Document;
use crate::request::Request;
use crate::route::{HandlerResult, Routes, WriteRoute, delete, post, put};
use crate::shapes::{
    BlogType, CreationDate, EditionDate, TranslatedProp, iso_milliseconds, read_time, read_translated,
};
use crate::typed_body::{ClosedDataBody, NoBody, RawBody, read_at};
use civitas_application::{Ports, RenderContext};
use civitas_blogs::{
    CreatePost, DestroyPost, POST_FIELDS, PostDetail, PostNeighbours, PostWrites, Posts, Publication,
    READ_POSTS, UpdatePost,
};
use civitas_kernel::{
    ComponentId, Direction, Error, FieldError, Locales, Order, PostId, Result, Sort, SortColumn, Translated,
    Wording, integer,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::OffsetDateTime;
use utoipa::ToSchema;

/// The lists whose removals change `Last-Modified` of a list of posts.
const LISTS: &[&str] = &["posts", "components", "spaces", "roles"];
const NAMES: RecordNames = RecordNames {
    path: "blogs",
    component_kind: "blogs",
    component_type: "blog_component",
    label: "Blogs",
    neighbour: "post",
};

/// A blog post.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog)]
pub(crate) struct BlogView {
    id: String,
    r#type: BlogType,
    attributes: BlogAttributes,
    relationships: BlogRelationships,
    links: BlogLinks,
    meta: BlogMeta,
}

/// The content of a blog post.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog_attributes)]
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

/// Whether a blog post is published, and its scope.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = blog_meta)]
struct BlogMeta {
    published: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<i64>,
}

/// The content of a blog post. The title and the body need a text in the organization's default language.
#[derive(Deserialize, ToSchema)]
#[schema(as = blog_post_create_payload, title = "Blog post create payload",
    examples(json!({"data": {"component_id": 87, "attributes": {
    "title": {"en": "Works start on Mill Street"}, "body": {"en": "<p>From Monday on.</p>"},
    "published_at": "2026-03-01T08:00:00Z"}}})))]
#[serde(deny_unknown_fields)]
struct PostToCreate {
    #[serde(rename = "type")]
    _kind: Option<BlogType>,
    /// A blog component.
    #[schema(value_type = i64)]
    component_id: Option<Value>,
    #[schema(inline, value_type = CreateAttributes, required)]
    attributes: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CreateAttributes {
    #[schema(value_type = TranslatedProp)]
    title: Option<PostText>,
    #[schema(value_type = TranslatedProp)]
    body: Option<PostText>,
    /// Absent or null for a draft; a later time for a scheduled post.
    #[schema(value_type = Option<String>, format = "date-time")]
    published_at: Option<Value>,
}

/// The new content of a blog post. An absent member keeps its value; a given one replaces all languages.
#[derive(Deserialize, ToSchema)]
#[schema(as = blog_post_update_payload, examples(json!({"data": {"attributes": {
    "title": {"en": "Works start on Mill Street"}}}})))]
#[serde(deny_unknown_fields)]
struct PostToUpdate {
    #[serde(rename = "type")]
    _kind: Option<BlogType>,
    /// Optional; must be that of the path.
    #[schema(value_type = Option<String>)]
    id: Option<Value>,
    #[schema(inline, value_type = UpdateAttributes, required)]
    attributes: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UpdateAttributes {
    #[schema(value_type = Option<TranslatedProp>)]
    title: Option<PostText>,
    #[schema(value_type = Option<TranslatedProp>)]
    body: Option<PostText>,
    /// Null makes the post a draft again.
    #[schema(value_type = Option<String>, format = "date-time")]
    published_at: Option<Value>,
}

const NO_TEXTS: &str = "title and body must be objects of texts by language";

/// A text by language; null for none.
#[derive(Default, Deserialize)]
#[serde(try_from = "Value")]
struct PostText(Translated);

impl TryFrom<Value> for PostText {
    type Error = &'static str;

    fn try_from(sent: Value) -> Result<Self, &'static str> {
        read_translated(&sent).map(Self).ok_or(NO_TEXTS)
    }
}

impl PostText {
    /// The texts, if each is in a language of the deployment.
    fn in_one_of(self, locales: &Locales) -> Result<Translated> {
        let is_known = self.0.iter().all(|(locale, _)| locales.has(locale));
        if is_known { Ok(self.0) } else { Err(Error::rejected(NO_TEXTS)) }
    }
}

pub(crate) fn routes(routes: &mut Routes) {
    let read = |doc: OperationDoc| {
        doc.with_component_read_parameters(&["published_at", "id", "created_at", "updated_at", "rand"])
    };
    let list = read(OperationDoc::page::<BlogView>("Lists the blog posts").with_page_parameters())
        .with_filters(POST_FIELDS);
    routes.read("listBlogPosts", "/blogs", READ_POSTS, list.at_replicas(), index);
    let show = read(OperationDoc::item::<BlogView>("Shows a blog post"));
    routes.read("getBlogPost", "/blogs/{id}", READ_POSTS, show.at_replicas(), show_one);
    routes.write(&WriteRoute {
        operations: post(["createBlogPostAsync", "createBlogPost"], "/blogs"),
        read: create,
        use_case: |ports, _| Box::new(writes(ports)),
        view: result,
        doc: OperationDoc::item::<BlogView>("Creates a blog post")
            .with_locales()
            .with_component_id()
            .with_status_created()
            .with_failure(404),
    });
    routes.write_or_patch(&WriteRoute {
        operations: put(["updateBlogPostAsync", "updateBlogPost"], "/blogs/{id}"),
        read: update,
        use_case: |ports, _| Box::new(writes(ports)),
        view: result,
        doc: OperationDoc::item::<BlogView>("Changes a blog post").with_locales(),
    });
    routes.write(&WriteRoute {
        operations: delete(["deleteBlogPostAsync", "deleteBlogPost"], "/blogs/{id}"),
        read: |request, _: RawBody<'_, NoBody>| Ok(DestroyPost { id: PostId(request.id()?) }),
        use_case: |ports, _| Box::new(writes(ports)),
        view: result,
        doc: OperationDoc::item::<BlogView>("Deletes a blog post").with_locales(),
    });
}

fn writes(ports: &dyn Ports) -> PostWrites<'_> {
    PostWrites { store: ports.posts(), lookup: ports.blogs() }
}

fn create(request: &Request, sent: RawBody<'_, ClosedDataBody<PostToCreate>>) -> Result<CreatePost> {
    let is_sync = sent.is_sync;
    let PostToCreate { component_id, attributes, .. } = sent.read()?.data;
    let component = match component_id {
        Some(sent) => integer(&sent),
        None => request.query.get("component_id").and_then(|text| text.parse().ok()),
    };
    let component = ComponentId(component.ok_or_else(|| Error::rejected("component_id required"))?);
    let CreateAttributes { title, body, published_at } = read_at("data.attributes", attributes.as_ref())?;
    if !is_sync {
        check_texts(attributes.as_ref())?;
    }
    let locales = request.backend.locales();
    let [title, body] = [title, body].map(|text| text.unwrap_or_default().in_one_of(locales));
    let published_at = published_at.map(|sent| publication(&sent)).transpose()?.flatten();
    Ok(CreatePost { component, title: title?, body: body?, published_at })
}

/// Checks that both texts are sent. Whether they are blank is found by the job (contract 01 §9, 07 A.6).
///
/// # Errors
/// `Invalid` with `blank` for each text that is missing, as of the synchronous write.
fn check_texts(attributes: Option<&Value>) -> Result<()> {
    let is_missing = |name: &str| attributes.and_then(|members| members.get(name)).is_none_or(Value::is_null);
    let missing = [("title", "Title"), ("body", "Body")].into_iter().filter(|(name, _)| is_missing(name));
    let missing = missing.map(|(name, label)| FieldError::blank(name, label)).collect();
    Error::unless_valid(Wording::InvalidRequest, missing)
}

fn update(request: &Request, sent: RawBody<'_, ClosedDataBody<PostToUpdate>>) -> Result<UpdatePost> {
    let id = PostId(request.id()?);
    let PostToUpdate { id: sent_id, attributes, .. } = sent.read()?.data;
    let is_same = |sent: Value| {
        sent.as_str() == Some(&id.to_string()) || (sent.is_number() && integer(&sent) == Some(id.0))
    };
    if !sent_id.is_none_or(is_same) {
        return Err(Error::rejected("id does not match the path"));
    }
    let UpdateAttributes { title, body, published_at } = read_at("data.attributes", attributes.as_ref())?;
    let locales = request.backend.locales();
    let [title, body] = [title, body].map(|text| text.map(|text| text.in_one_of(locales)).transpose());
    let publication = |sent: &Value| publication(sent).map(|at| Publication { at });
    let publication = published_at.as_ref().map(publication).transpose()?;
    Ok(UpdatePost { id, title: title?, body: body?, publication })
}

/// When a post is published; null for a draft.
fn publication(sent: &Value) -> Result<Option<OffsetDateTime>> {
    let at = sent.as_str().and_then(read_time);
    if at.is_none() && !sent.is_null() {
        return Err(Error::rejected("published_at is not a valid date-time"));
    }
    Ok(at)
}

async fn index(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let within = request.query.within()?;
    let order = request.query.order("published_at", &SortColumn::COMMON)?;
    let posts = Posts { store: request.ports().posts() };
    let (filter, page) = (request.filter()?, request.page_in_own_order());
    let page = posts.list(context.ctx, within, &filter, order, page).await?;
    let shuffled = order == Order::Random;
    let changed_at = |post: &PostDetail| post.changed_at(request.now);
    let view = |post| view(&context, post, PostNeighbours::default());
    answers::page_reply(&request, LISTS, page, shuffled, changed_at, view).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let within = request.query.within()?;
    // The order does not affect the post itself. By default its neighbours are in the order newest first (contract 07
    // A.4).
    let order = match request.query.order("published_at", &SortColumn::COMMON)? {
        asked @ (Order::Column(_) | Order::By(_)) if request.query.get("order_direction").is_some() => asked,
        Order::By(sort) => Order::By(Sort { direction: Direction::Descending, ..sort }),
        Order::Column(_) | Order::Random => Order::Column(Direction::Descending),
    };
    let posts = Posts { store: request.ports().posts() };
    let (found, beside) = posts.find(context.ctx, PostId(request.id()?), within, order).await?;
    answers::record_reply(&request, LISTS, found.changed_at(request.now), view(&context, found, beside)).await
}

/// A post as the result of a command: without neighbours.
fn result(context: &RenderContext<'_>, post: PostDetail) -> Value {
    json!(Document { data: view(context, post, PostNeighbours::default()) })
}

/// A post as visible to the caller.
fn view(context: &RenderContext<'_>, detail: PostDetail, beside: PostNeighbours) -> BlogView {
    let PostDetail { id, post, context: component_context } = detail;
    let locales = context.locales();
    let (space, component, component_name) =
        (component_context.space, component_context.component, &component_context.name);
    let record = ComponentRecord { context, names: NAMES, id: id.0, space, component, component_name };
    BlogView {
        id: id.to_string(),
        r#type: BlogType,
        relationships: BlogRelationships(record.relationships()),
        links: BlogLinks(
            record.links_with_neighbours(beside.next.map(|id| id.0), beside.prev.map(|id| id.0)),
        ),
        meta: BlogMeta { published: post.is_published(context.ctx.now), scope: component_context.scope_id },
        attributes: BlogAttributes {
            created_at: CreationDate(post.created_at),
            updated_at: EditionDate(post.updated_at),
            title: TranslatedProp(post.title.in_locales(locales)),
            body: TranslatedProp(post.body.in_locales(locales)),
            published_at: post.published_at.map(iso_milliseconds),
        },
    }
}
