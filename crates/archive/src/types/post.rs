//! `post`: a blog post.

use super::{
    Import, Imported, Moment, Person, RecordKind, StoredRecord, Translated, async_trait, members, required,
};
use civitas_blogs::Post;
use civitas_kernel::ComponentId;
use civitas_spaces::ComponentManifest;

pub(super) struct Posts;

members! { Posts, "post", ports.posts(), PostFields, |kind, post: Post| {
    component: parent(ComponentId),
    title: required(Translated),
    body: required(Translated),
    author: reference(author),
    published_at: optional(Moment),
    hidden_at: optional(Moment),
    deleted_at: optional(Moment),
    created_at: required(Moment),
    updated_at: required(Moment),
}}

#[async_trait]
impl RecordKind for Posts {
    const TOGETHER: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &PostFields) -> Imported<Post> {
        let component = import.component(&fields.component, ComponentManifest::Blogs, "posts").await?;
        let (title, body) = (required("title", &fields.title)?, required("body", &fields.body)?);
        Ok(Post::new(component, title, body, import.context.options.now))
    }

    fn is_of_person(&self, person: &mut Person, (id, post): &mut StoredRecord<Self>) -> bool {
        person.has_written(*id, post.author == Some(person.id))
    }
}
