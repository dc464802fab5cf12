use super::*;
use crate::commands::{AttachmentEdit, AttachmentSource, CollectionChoice, SentText};
use crate::{
    Attachment, AttachmentParent, ContentError, FileState, MockAttachmentStore, MockCollectionStore,
    MockFileRegistry, MockParentLookup, MockUploadStore, ParentKind, SignedId, StoredFile, Upload,
};
use civitas_kernel::{
    AttachmentId, ClientId, CollectionId, FieldError, FileId, Locale, ProposalId, UploadId,
};
use serde_json::json;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

/// All mocks, with expectations for a file 1 that is stored and an upload 7 with it.
struct Mocks {
    store: MockAttachmentStore,
    collections: MockCollectionStore,
    files: MockFileRegistry,
    uploads: MockUploadStore,
    parents: MockParentLookup,
}

fn ctx() -> Ctx {
    Ctx::for_test().with_access(&WRITE_ATTACHMENTS).with_access(&DESTROY_ATTACHMENTS).at_time(NOW)
}

fn file(state: FileState) -> StoredFile {
    StoredFile::for_test(NOW, state)
}

impl Mocks {
    fn new(file: StoredFile, upload: Upload) -> Self {
        let mut parents = MockParentLookup::new();
        parents.expect_can_see().returning(|_, parent| Ok(parent.id == 904));
        let mut files = MockFileRegistry::new();
        let locked = file.clone();
        files.expect_find().returning(move |_, _| Ok(Some(file.clone())));
        files.expect_find_for_update().returning(move |_, _| Ok(Some(locked.clone())));
        let mut uploads = MockUploadStore::new();
        let locked = upload.clone();
        uploads.expect_find().returning(move |_, id| Ok((id == UploadId(7)).then(|| upload.clone())));
        uploads
            .expect_find_for_update()
            .returning(move |_, id| Ok((id == UploadId(7)).then(|| locked.clone())));
        let mut collections = MockCollectionStore::new();
        collections.expect_is_of().returning(|_, id, _| Ok(id == CollectionId(3)));
        Self { store: MockAttachmentStore::new(), collections, files, uploads, parents }
    }

    fn ports(&self) -> AttachmentPorts<'_> {
        AttachmentPorts {
            store: &self.store,
            collections: &self.collections,
            files: &self.files,
            uploads: &self.uploads,
            parents: &self.parents,
        }
    }

    async fn check(&self, ctx: &Ctx, command: AttachFile) -> Result<()> {
        self.ports().precheck_new(ctx, command).await
    }
}

fn upload(digest: String) -> Upload {
    Upload {
        client: ctx().caller.client,
        digest,
        filename: "note.txt".to_owned(),
        content_type: "text/plain".to_owned(),
        byte_size: 1,
        checksum: String::new(),
        file: Some(FileId(1)),
        created_at: NOW - Duration::HOUR,
    }
}

fn text(text: &str) -> SentText {
    SentText::Default(text.to_owned())
}

fn attach(source: AttachmentSource) -> AttachFile {
    let edit = AttachmentEdit {
        title: Some(text("Plan")),
        description: Some(text("1:500")),
        ..AttachmentEdit::default()
    };
    AttachFile { parent: ProposalId(904).into(), source, edit }
}

fn codes(outcome: Result<()>) -> Vec<String> {
    let error = outcome.unwrap_err();
    error.details().iter().map(|error| format!("{} {}", error.field, error.code)).collect()
}

#[tokio::test]
async fn all_that_is_wrong_is_reported_in_the_order_of_the_members() {
    let mocks = Mocks::new(file(FileState::Pending), upload(String::new()));
    let mut command = attach(AttachmentSource::Missing);
    command.edit.title = Some(text(" "));
    command.edit.description = Some(text(""));
    command.edit.collection = Some(CollectionChoice { id: Some(CollectionId(4)) });
    command.edit.errors = vec![FieldError::new("weight", "not_a_number", "Weight is not a number")];
    let expected = [
        "file blank",
        "title blank",
        "description blank",
        "weight not_a_number",
        "attachment_collection_id inclusion",
    ];
    assert_eq!(codes(mocks.check(&ctx(), command).await), expected);
    let too_large = attach(AttachmentSource::TooLarge { limit: 10_485_760 });
    let error = mocks.check(&ctx(), too_large).await.unwrap_err();
    assert_eq!(error.description(), "File must be at most 10 MB");
    let odd = mocks.check(&ctx(), attach(AttachmentSource::TooLarge { limit: 1_000 })).await.unwrap_err();
    assert_eq!(odd.description(), "File must be at most 1000 bytes");
}

#[tokio::test]
async fn a_record_that_is_not_visible_comes_before_what_is_wrong_with_the_file() {
    let mocks = Mocks::new(file(FileState::Pending), upload(String::new()));
    let elsewhere = AttachFile { parent: ProposalId(905).into(), ..attach(AttachmentSource::Missing) };
    assert!(matches!(mocks.check(&ctx(), elsewhere).await, Err(Error::NotFound)));
    let answer = AttachFile {
        parent: AttachmentParent { kind: ParentKind::Answer, id: 904 },
        ..attach(AttachmentSource::Stored(FileId(1)))
    };
    assert!(matches!(mocks.check(&ctx(), answer).await, Err(Error::NotFound)));
    let mut untitled = attach(AttachmentSource::Stored(FileId(1)));
    untitled.edit.title = None;
    assert!(matches!(mocks.check(&ctx(), untitled).await, Err(Error::MissingParameter(_))));
    let without_ability = mocks.check(&Ctx::for_test(), attach(AttachmentSource::Stored(FileId(1)))).await;
    assert!(matches!(without_ability, Err(Error::Forbidden)));
}

#[tokio::test]
async fn a_signed_id_is_for_its_client_for_a_day_and_for_a_file_that_arrived() {
    let (secret, digest) = SignedId::new_secret();
    let signed = format!("7--{secret}");
    let verdict = async |ctx: &Ctx, upload: Upload, signed: &str| {
        let mocks = Mocks::new(file(FileState::Stored), upload);
        let outcome = mocks.check(ctx, attach(AttachmentSource::Uploaded(signed.to_owned()))).await;
        if outcome.is_ok() { Vec::new() } else { codes(outcome) }
    };
    let own_upload = || upload(digest.clone());
    assert!(verdict(&ctx(), own_upload(), &signed).await.is_empty());
    let dead = ["signed_id invalid"];
    assert_eq!(verdict(&ctx(), own_upload(), "forged").await, dead);
    assert_eq!(verdict(&ctx(), own_upload(), &format!("8--{secret}")).await, dead, "unknown or used");
    assert_eq!(verdict(&ctx(), own_upload(), &format!("7--{}", SignedId::new_secret().0)).await, dead);
    let foreign = Upload { client: ClientId(99), ..own_upload() };
    assert_eq!(verdict(&ctx(), foreign, &signed).await, dead, "of another client");
    let expired = Upload { created_at: NOW - Duration::DAY, ..own_upload() };
    assert_eq!(verdict(&ctx(), expired, &signed).await, dead);
    let waiting = Upload { file: None, ..own_upload() };
    assert_eq!(verdict(&ctx(), waiting, &signed).await, ["signed_id not_uploaded"]);
}

#[tokio::test]
async fn what_the_bytes_are_is_checked_by_the_list_of_the_record() {
    let svg = StoredFile { content_type: "image/svg+xml".to_owned(), ..file(FileState::Pending) };
    let mocks = Mocks::new(svg, upload(String::new()));
    let refused = mocks.check(&ctx(), attach(AttachmentSource::Stored(FileId(1)))).await;
    assert_eq!(codes(refused), ["file content_type_not_allowed"]);
    let bomb = StoredFile {
        filename: "a.png".to_owned(),
        content_type: "image/png".to_owned(),
        fault: Some(ContentError::ImageTooBig),
        ..file(FileState::Pending)
    };
    let mocks = Mocks::new(bomb, upload(String::new()));
    assert_eq!(
        codes(mocks.check(&ctx(), attach(AttachmentSource::Stored(FileId(1)))).await),
        ["file image_too_big"]
    );
}

#[tokio::test]
async fn attaching_stores_the_file_and_uses_the_upload_up() {
    let (secret, digest) = SignedId::new_secret();
    let mut mocks = Mocks::new(file(FileState::Pending), upload(digest));
    mocks.store.expect_add().once().returning(|_, _| Ok(AttachmentId(58)));
    mocks
        .files
        .expect_save()
        .once()
        .withf(|_, id, change| *id == FileId(1) && change.after.state == FileState::Stored)
        .returning(|_, _, _| Ok(()));
    mocks.uploads.expect_remove().once().returning(|_, _| Ok(()));
    let writes = mocks.ports();
    let made =
        writes.handle(&ctx(), attach(AttachmentSource::Uploaded(format!("7--{secret}")))).await.unwrap();
    assert_eq!((made.id, made.attachment.title.get(Locale::EN)), (AttachmentId(58), Some("Plan")));
}

#[tokio::test]
async fn a_text_replaces_the_default_language_and_an_object_all_languages() {
    let before = || Attachment {
        title: [(Locale::EN, "A".to_owned()), (Locale::FR, "B".to_owned())].into(),
        description: [(Locale::EN, "C".to_owned())].into(),
        collection: Some(CollectionId(3)),
        ..Attachment::from_file(
            ProposalId(904).into(),
            FileId(1),
            &file(FileState::Stored),
            NOW - Duration::DAY,
        )
    };
    let update = async |edit: AttachmentEdit, saves: usize| {
        let mut mocks = Mocks::new(file(FileState::Stored), upload(String::new()));
        mocks.store.expect_find_visible().returning(move |_, id| {
            Ok(Some(AttachmentDetail { id, attachment: before(), file: Some(file(FileState::Stored)) }))
        });
        mocks.store.expect_find_for_update().returning(move |_, _| Ok(Some(before())));
        mocks.store.expect_save().times(saves).returning(|_, _, _| Ok(()));
        let writes = mocks.ports();
        writes.handle(&ctx(), UpdateAttachment { id: AttachmentId(58), edit }).await
    };
    let edit = AttachmentEdit { title: Some(text("Z")), ..AttachmentEdit::default() };
    let one = update(edit, 1).await.unwrap().attachment;
    assert_eq!((one.title.get(Locale::EN), one.title.get(Locale::FR)), (Some("Z"), Some("B")));
    assert_eq!(one.updated_at, NOW);
    let each = SentText::Each([(Locale::EN, "Y".to_owned())].into());
    let all = update(AttachmentEdit { title: Some(each), ..AttachmentEdit::default() }, 1).await.unwrap();
    assert_eq!(
        (all.attachment.title.get(Locale::EN), all.attachment.title.get(Locale::FR)),
        (Some("Y"), None)
    );
    let cleared =
        AttachmentEdit { collection: Some(CollectionChoice { id: None }), ..AttachmentEdit::default() };
    assert_eq!(update(cleared, 1).await.unwrap().attachment.collection, None);
    let same =
        update(AttachmentEdit { title: Some(text("A")), weight: Some(0), ..AttachmentEdit::default() }, 0)
            .await;
    assert_eq!(same.unwrap().attachment, before(), "nothing changes");
    let blank = update(AttachmentEdit { title: Some(text(" ")), ..AttachmentEdit::default() }, 0).await;
    assert_eq!(blank.unwrap_err().description(), "Title cannot be blank");
}

#[test]
fn absent_null_and_given_collections_survive_serialization() {
    for collection in
        [None, Some(CollectionChoice { id: None }), Some(CollectionChoice { id: Some(CollectionId(3)) })]
    {
        let edit = AttachmentEdit { collection, ..AttachmentEdit::default() };
        let read: AttachmentEdit = serde_json::from_value(json!(edit)).unwrap();
        assert_eq!(read, edit);
    }
}
