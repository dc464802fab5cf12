//! `post`: a blog post.

use super::{
    ExportedPerson, Import, ImportResult, RecordKind, StoredRecord, Timestamp, Translated, async_trait,
    members, required,
};
use civitas_blogs::Post;
use civitas_kernel::ComponentId;
use civitas_spaces::ComponentKind;

pub(super) struct PostRecordType;

members! { PostRecordType, "post", ports.posts(), PostFields, |kind, post: Post| {
    component: parent(ComponentId),
    title: required(Translated),
    body: required(Translated),
    author: reference(author),
    published_at: optional(Timestamp),
    hidden_at: optional(Timestamp),
    deleted_at: optional(Timestamp),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

#[async_trait]
impl RecordKind for PostRecordType {
    const IN_BATCHES: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &PostFields) -> ImportResult<Post> {
        let component = import.component(&fields.component, ComponentKind::Blogs, "posts").await?;
        let (title, body) = (required("title", &fields.title)?, required("body", &fields.body)?);
        Ok(Post::new(component, title, body, import.context.options.now))
    }

    fn belongs_to_person(&self, person: &mut ExportedPerson, (id, post): &mut StoredRecord<Self>) -> bool {
        person.add_if_author(*id, post.author == Some(person.id))
    }
}
