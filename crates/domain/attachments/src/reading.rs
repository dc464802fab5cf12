//! Reading attachments (contract 07 B.4, B.7).

use crate::{
    ATTACHMENT_FIELDS, AttachmentDetail, AttachmentField, AttachmentFilter, AttachmentReader,
    AttachmentStore, ParentKind,
};
use civitas_kernel::filter::{FilterCondition, RawFilter, read_filters};
use civitas_kernel::{Ability, Access, AttachmentId, Ctx, Error, Page, PageRequest, Result, Scope};

/// The rights to read attachments.
pub const READ_ATTACHMENTS: Access = Access::either(Scope::Attachments, &[Ability::AttachmentsRead]);
/// The rights to read files of answers to questionnaires, in addition.
const READ_ANSWERS: Access = Access::either(Scope::Surveys, &[Ability::AnswersRead]);

/// The reader of attachments that a caller is.
pub fn reader(ctx: &Ctx) -> AttachmentReader {
    let reads_answers = ctx.require(&READ_ANSWERS).is_ok();
    AttachmentReader { read_context: ctx.read_context(), reads_answers, now: ctx.now }
}

/// Reads attachments.
pub struct Attachments<'a> {
    /// The store of attachments.
    pub store: &'a dyn AttachmentStore,
}

impl Attachments<'_> {
    /// The visible attachments, by weight and id.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<AttachmentDetail>> {
        ctx.require(&READ_ATTACHMENTS)?;
        let filters: Vec<_> = read_filters(ATTACHMENT_FIELDS, filter)?.into_iter().map(by_class).collect();
        self.store.list(reader(ctx), &filters, page).await
    }

    /// One visible attachment.
    ///
    /// # Errors
    /// `Forbidden`, `NotFound`.
    pub async fn find(&self, ctx: &Ctx, id: AttachmentId) -> Result<AttachmentDetail> {
        ctx.require(&READ_ATTACHMENTS)?;
        self.store.find_visible(reader(ctx), id).await?.ok_or(Error::NotFound)
    }
}

/// Replaces the short names of kinds of records by class names.
fn by_class(mut filter: AttachmentFilter) -> AttachmentFilter {
    if let (AttachmentField::ParentKind, FilterCondition::Text(is)) = (filter.field, &mut filter.condition) {
        for name in is.equated_mut() {
            if let Some(kind) = ParentKind::from_name(name) {
                kind.as_str().clone_into(name);
            }
        }
    }
    filter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockAttachmentStore;
    use civitas_kernel::filter::{Comparison, RawValue};

    #[tokio::test]
    async fn without_the_ability_nothing_is_read() {
        let (ctx, store) = (Ctx::for_test(), MockAttachmentStore::new());
        let attachments = Attachments { store: &store };
        let listed = attachments.list(&ctx, &RawFilter::default(), PageRequest::default()).await;
        assert!(matches!(listed, Err(Error::Forbidden)));
        assert!(matches!(attachments.find(&ctx, AttachmentId(1)).await, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn files_of_answers_need_the_right_to_read_answers_too() {
        for (ctx, expected) in [
            (Ctx::for_test().with_access(&READ_ATTACHMENTS), false),
            (Ctx::for_test().with_access(&READ_ATTACHMENTS).with_access(&READ_ANSWERS), true),
        ] {
            let mut store = MockAttachmentStore::new();
            store
                .expect_find_visible()
                .once()
                .withf(move |reader, _| reader.reads_answers == expected)
                .returning(|_, _| Ok(None));
            let found = Attachments { store: &store }.find(&ctx, AttachmentId(1)).await;
            assert!(matches!(found, Err(Error::NotFound)));
        }
    }

    #[tokio::test]
    async fn short_names_of_records_are_compared_as_class_names() {
        let ctx = Ctx::for_test().with_access(&READ_ATTACHMENTS);
        let mut store = MockAttachmentStore::new();
        let class = |name: &str| name.to_owned();
        store
            .expect_list()
            .once()
            .withf(move |_, filters, _| {
                let conditions: Vec<_> = filters.iter().map(|filter| filter.condition.clone()).collect();
                conditions
                    == [
                        FilterCondition::Text(Comparison::Eq(class("Platform::Proposals::Proposal"))),
                        FilterCondition::Text(Comparison::In(vec![
                            class("Platform::Assembly"),
                            class("Platform::Blogs::Post"),
                        ])),
                        FilterCondition::Start("proposals".to_owned()),
                    ]
            })
            .returning(|_, _, _| Ok(Page::new(Vec::new(), false)));
        let many = RawValue::Many(vec!["assemblies".to_owned(), "blogs".to_owned()]);
        let one = |text: &str| RawValue::One(text.to_owned());
        let filter = RawFilter::new(vec![
            ("attached_to_type".to_owned(), one("proposals")),
            ("attached_to_type_in".to_owned(), many),
            ("attached_to_type_start".to_owned(), one("proposals")),
        ]);
        Attachments { store: &store }.list(&ctx, &filter, PageRequest::default()).await.unwrap();
        let unknown = RawFilter::new(vec![("attached_to_type_eq".to_owned(), one("Kernel"))]);
        let refused = Attachments { store: &store }.list(&ctx, &unknown, PageRequest::default()).await;
        assert_eq!(refused.unwrap_err().description(), "Invalid value for filter attached_to_type_eq");
    }
}
