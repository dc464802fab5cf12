//! `post`: a blog post.

use super::{Field, OrganizationId, Ports, Result, Translated, async_trait};
use super::{Found, Import, Imported, Moment, PAGE, RecordKind, Rows, members, required};
use civitas_blogs::Post;
use civitas_kernel::{ComponentId, PostId};
use civitas_spaces::ComponentManifest;

pub(super) struct Posts;

members! { Posts, "post", OrganizationId, PostFields, |kind, post: Post| {
    component: parent(ComponentId),
    title: required(Translated),
    body: required(Translated),
    author: resolved(String, set_author, optional(post.author.map(|author| author.to_string()))),
    published_at: optional(Moment),
    deleted_at: optional(Moment),
    created_at: required(Moment),
    updated_at: updated(Moment),
}}

async fn set_author(
    import: &mut Import<'_, '_, Posts>,
    fields: &mut PostFields,
    post: &mut Post,
) -> Imported {
    match &fields.author {
        Field::Absent => {}
        Field::Null => post.author = None,
        Field::Value(author) => post.author = Some(import.context.refs.resolve(import.owner, author).await?),
    }
    Ok(())
}

#[async_trait]
impl RecordKind for Posts {
    type Id = PostId;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: PostId) -> Result<Option<Post>> {
        ports.posts().find(of, id).await
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<PostId>) -> Rows<Self> {
        ports.posts().page_after(of, after, PAGE).await
    }

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &PostFields) -> Imported<Post> {
        let manifest = ComponentManifest::Blogs;
        let component =
            import.context.refs.component_for(import.owner, &fields.component, manifest, "posts").await?;
        let (title, body) = (required("title", &fields.title)?, required("body", &fields.body)?);
        Ok(Post::new(component, title, body, import.context.options.now))
    }

    async fn add(&mut self, import: &Import<'_, '_, Self>, post: &Post) -> Imported<PostId> {
        Ok(import.context.ports.posts().add(import.owner, post).await?)
    }

    async fn save(&self, import: &Import<'_, '_, Self>, (id, old): &Found<Self>, post: Post) -> Imported {
        let change = civitas_kernel::records::Change::new(old.clone(), post);
        Ok(import.context.ports.posts().save(import.owner, *id, &change).await?)
    }
}
