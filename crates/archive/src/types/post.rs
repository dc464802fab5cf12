//! `post`: a blog post.

use super::{Import, Imported, Moment, OrganizationKind, RecordKind, members, required};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use civitas_blogs::Post;
use civitas_kernel::ComponentId;
use civitas_kernel::records::Records;
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
    updated_at: required(Moment),
}}

async fn set_author(
    import: &mut Import<'_, '_, Posts>,
    fields: &mut PostFields,
    post: &mut Post,
) -> Imported {
    import.context.refs.set_optional(import.owner, &fields.author, &mut post.author).await
}

impl OrganizationKind for Posts {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Post> {
        ports.posts()
    }
}

#[async_trait]
impl RecordKind for Posts {
    const TOGETHER: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &PostFields) -> Imported<Post> {
        let manifest = ComponentManifest::Blogs;
        let component =
            import.context.refs.component_for(import.owner, &fields.component, manifest, "posts").await?;
        let (title, body) = (required("title", &fields.title)?, required("body", &fields.body)?);
        Ok(Post::new(component, title, body, import.context.options.now))
    }
}
