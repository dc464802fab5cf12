//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

use crate::{
    ATTACHMENT_FIELDS, Attachment, AttachmentField, AttachmentParent, AttachmentReader, AttachmentSearch,
    AttachmentStore, Collection, CollectionStore, FileRegistry, FileState, FileType, NO_ORGANIZATION_YET,
    PENDING_FILE_LIFETIME, ParentLookup, StoredFile, Upload, UploadStore,
};
use civitas_kernel::conformance::check_list;
use civitas_kernel::filter::{Comparison, Filter, FilterCondition, read_filters};
use civitas_kernel::records::Change;
use civitas_kernel::records::conformance::Samples;
use civitas_kernel::testing::{ALL, text, viewer_read_context};
use civitas_kernel::{
    AttachmentId, ClientId, CollectionId, FileId, Locale, PageRequest, ReadContext, Result, SpaceRef,
    UploadId, Viewer, conformance_world,
};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The stores, two existing organizations, and records of the first.
    pub struct World {
        ports(
            attachments: AttachmentStore, collections: CollectionStore, files: FileRegistry,
            uploads: UploadStore, parents: ParentLookup,
        )
        /// A public, published process of the first.
        space: SpaceRef,
        /// A client of the first.
        client: ClientId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

impl World<'_> {
    fn reader(&self) -> AttachmentReader {
        AttachmentReader {
            read_context: viewer_read_context(self.mine, Viewer::Public),
            reads_answers: false,
            now: NOW,
        }
    }

    async fn file(&self, state: FileState) -> Result<FileId> {
        self.files.add(self.mine, &StoredFile::for_test(NOW, state)).await
    }

    fn link(parent: AttachmentParent) -> Attachment {
        let link = Some("https://maps.example/1".to_owned());
        Attachment { title: text("Map"), description: text("D"), ..Attachment::from_link(parent, link, NOW) }
    }

    async fn attached(&self, parent: AttachmentParent) -> Result<(AttachmentId, FileId)> {
        let file = StoredFile::for_test(NOW, FileState::Stored);
        let id = self.files.add(self.mine, &file).await?;
        let attachment = Attachment { title: text("File"), ..Attachment::from_file(parent, id, &file, NOW) };
        Ok((self.attachments.add(self.mine, &attachment).await?, id))
    }

    async fn state(&self, id: FileId) -> Result<Option<FileState>> {
        Ok(self.files.find(self.mine, id).await?.map(|file| file.state))
    }

    fn upload(&self) -> Upload {
        Upload {
            client: self.client,
            digest: "ab".repeat(32),
            filename: "a.txt".to_owned(),
            content_type: "text/plain".to_owned(),
            byte_size: 12,
            checksum: "b1kCrCNwJL3QwXbLkwY9xA==".to_owned(),
            file: None,
            created_at: NOW,
        }
    }
}

/// Attachments for the conformance tests of [`Records`](civitas_kernel::records::Records).
pub async fn attachments(world: World<'_>) -> Result<Samples<'_, Attachment>> {
    let collection = Collection { parent: world.space.into(), name: text("Plans"), weight: 2 };
    let collection = Some(world.collections.add(world.mine, &collection).await?);
    let of_space = Attachment { collection, weight: -3, ..World::link(world.space.into()) };
    let id = world.file(FileState::Stored).await?;
    let file = StoredFile::for_test(NOW, FileState::Stored);
    let of_file = Attachment {
        title: [(Locale::EN, "A".to_owned()), (Locale::FR, "B".to_owned())].into(),
        updated_at: NOW + Duration::DAY,
        ..Attachment::from_file(world.mine.into(), id, &file, NOW)
    };
    let samples = [of_space, of_file, World::link(world.mine.into())];
    Ok(Samples::new(world.attachments, [world.mine, world.other], samples, AttachmentId(987_654)))
}

/// Collections for the same.
#[expect(clippy::unused_async, reason = "the samples of other stores are added first")]
pub async fn collections(world: World<'_>) -> Result<Samples<'_, Collection>> {
    let collection = |name, weight| Collection { parent: world.space.into(), name: text(name), weight };
    let samples = [collection("A", 0), collection("B", -1), collection("C", i64::MAX)];
    Ok(Samples::new(world.collections, [world.mine, world.other], samples, CollectionId(987_654)))
}

/// Files for the same.
#[expect(clippy::unused_async, reason = "the samples of other stores are added first")]
pub async fn files(world: World<'_>) -> Result<Samples<'_, StoredFile>> {
    let bad = StoredFile {
        fault: Some(crate::ContentError::ImageTooBig),
        content_type: "image/png".to_owned(),
        ..StoredFile::for_test(NOW, FileState::Stored)
    };
    let thumbnail = StoredFile { thumbnail_bytes: Some(7), ..StoredFile::for_test(NOW, FileState::Removed) };
    let samples = [bad, thumbnail, StoredFile::for_test(NOW, FileState::Pending)];
    Ok(Samples::new(world.files, [world.mine, world.other], samples, FileId(987_654)))
}

/// Uploads for the same.
pub async fn uploads(world: World<'_>) -> Result<Samples<'_, Upload>> {
    let file = Some(world.file(FileState::Stored).await?);
    let samples = [
        world.upload(),
        Upload { file, ..world.upload() },
        Upload { byte_size: 1, created_at: NOW + Duration::DAY, ..world.upload() },
    ];
    Ok(Samples::new(world.uploads, [world.mine, world.other], samples, UploadId(987_654)))
}

/// A file is removed with its attachment, and with its upload unless it is attached.
pub async fn marks_files_that_nothing_refers_to(world: World<'_>) -> Result<()> {
    let (id, file) = world.attached(world.space.into()).await?;
    let upload = world.uploads.add(world.mine, &Upload { file: Some(file), ..world.upload() }).await?;
    world.uploads.remove(world.mine, upload).await?;
    assert_eq!(world.state(file).await?, Some(FileState::Stored), "it is attached");
    assert!(world.attachments.remove(world.other, id).await.is_err(), "of another organization");
    world.attachments.remove(world.mine, id).await?;
    assert_eq!(world.state(file).await?, Some(FileState::Removed));
    assert!(world.attachments.remove(world.mine, id).await.is_err(), "once");
    let file = world.file(FileState::Stored).await?;
    let old = Upload { file: Some(file), created_at: NOW - Duration::DAY, ..world.upload() };
    world.uploads.add(world.mine, &old).await?;
    let young = world.uploads.add(world.mine, &world.upload()).await?;
    assert_eq!(world.uploads.remove_requested_before(NOW, 10).await?, 1);
    assert_eq!(world.uploads.remove_requested_before(NOW, 10).await?, 0);
    assert!(world.uploads.find(world.mine, young).await?.is_some());
    assert_eq!(world.state(file).await?, Some(FileState::Removed));
    Ok(())
}

/// Removed files, and pending ones of the past, are found and forgotten; others are not.
pub async fn finds_files_to_delete(world: World<'_>) -> Result<()> {
    let old = StoredFile {
        created_at: NOW - PENDING_FILE_LIFETIME - Duration::SECOND,
        ..StoredFile::for_test(NOW, FileState::Pending)
    };
    let old = world.files.add(world.mine, &old).await?;
    let young = world.file(FileState::Pending).await?;
    let removed = world.file(FileState::Removed).await?;
    let stored = world.file(FileState::Stored).await?;
    let found = world.files.removed(NOW - PENDING_FILE_LIFETIME, 100).await?;
    let ids: Vec<FileId> = found.iter().map(|(id, _)| *id).collect();
    assert!(ids.contains(&old) && ids.contains(&removed), "{ids:?}");
    assert!(!ids.contains(&young) && !ids.contains(&stored), "{ids:?}");
    assert_eq!(world.files.removed(NOW - PENDING_FILE_LIFETIME, 1).await?.len(), 1);
    world.files.forget(&[old, removed, young, stored]).await?;
    for (id, stays) in [(old, false), (removed, false), (young, true), (stored, true)] {
        assert_eq!(world.state(id).await?.is_some(), stays, "{id}");
    }
    let after = world.files.stored_after(None, 100).await?;
    assert!(after.iter().any(|(id, _)| *id == stored) && after.iter().all(|(id, _)| *id != young));
    assert!(world.files.stored_after(Some(stored), 100).await?.iter().all(|(id, _)| *id > stored));
    Ok(())
}

/// A file that was stored before its organization existed becomes one of the organization once, while it is pending.
pub async fn adopts_pending_files(world: World<'_>) -> Result<()> {
    let later = NOW + Duration::DAY;
    let pending = StoredFile::for_test(NOW, FileState::Pending);
    let id = world.files.add(NO_ORGANIZATION_YET, &pending).await?;
    assert_eq!(world.files.find(world.mine, id).await?, None);
    assert!(world.files.adopt(world.mine, id, later).await?);
    let stored = StoredFile { state: FileState::Stored, created_at: later, ..pending };
    assert_eq!(world.files.find(world.mine, id).await?, Some(stored));
    assert!(!world.files.adopt(world.other, id, later).await?, "once");
    let removed =
        world.files.add(NO_ORGANIZATION_YET, &StoredFile::for_test(NOW, FileState::Removed)).await?;
    assert!(!world.files.adopt(world.mine, removed, later).await?, "its bytes may be gone");
    let own = world.file(FileState::Pending).await?;
    assert!(!world.files.adopt(world.other, own, later).await?, "another organization has it");
    Ok(())
}

/// A key gives the file of an attachment, in its organization only.
pub async fn serves_attached_files(world: World<'_>) -> Result<()> {
    let (attachment, id) = world.attached(world.space.into()).await?;
    let file = world.files.find(world.mine, id).await?.expect("it was added");
    assert_eq!(world.files.find_served(world.mine, &file.key).await?, Some(file.clone()));
    assert_eq!(world.files.find_served(world.other, &file.key).await?, None);
    assert_eq!(world.files.find_served(world.mine, "unknown").await?, None);
    assert_eq!(
        world.files.known_objects(&[file.object.clone(), "x".to_owned()]).await?,
        std::slice::from_ref(&file.object)
    );
    assert_eq!(world.files.find_many(world.mine, &[id]).await?.len(), 1);
    assert_eq!(world.files.find_many(world.other, &[id]).await?, []);
    let pending = StoredFile::for_test(NOW, FileState::Pending);
    world.files.add(world.mine, &pending).await?;
    assert_eq!(world.files.find_served(world.mine, &pending.key).await?, None);
    world.attachments.remove(world.mine, attachment).await?;
    assert_eq!(world.files.find_served(world.mine, &file.key).await?, None);
    Ok(())
}

/// Lists are in order of weight and id, and have every filter; links have no file.
pub async fn lists_and_filters(world: World<'_>) -> Result<()> {
    let add = async |weight, parent| {
        world.attachments.add(world.mine, &Attachment { weight, ..World::link(parent) }).await
    };
    let (space, own): (AttachmentParent, AttachmentParent) = (world.space.into(), world.mine.into());
    let heavy = add(5, space).await?;
    let first = add(-1, own).await?;
    let second = add(-1, space).await?;
    let (file, _) = world.attached(space).await?;
    let collection = Collection { parent: space, name: text("Plans"), weight: 0 };
    let collection = world.collections.add(world.mine, &collection).await?;
    let before = world.attachments.find(world.mine, heavy).await?.expect("it was added");
    let after = Attachment { collection: Some(collection), ..before.clone() };
    world.attachments.save(world.mine, heavy, &Change::new(before, after)).await?;
    let listed = async |filters: Vec<Filter<AttachmentField>>, page| {
        let page = world.attachments.list(world.reader(), &filters, page).await?;
        Ok::<_, civitas_kernel::Error>((
            page.items.iter().map(|found| found.id).collect::<Vec<_>>(),
            page.has_more,
        ))
    };
    assert_eq!(listed(vec![], ALL).await?, (vec![first, second, file, heavy], false));
    assert_eq!(listed(vec![], PageRequest::new(2, 1)).await?, (vec![second], true));
    check_list(async |raw, page| {
        let page =
            world.attachments.list(world.reader(), &read_filters(ATTACHMENT_FIELDS, &raw)?, page).await?;
        Ok(page.map(|found| (found.id, found.attachment.created_at, found.attachment.updated_at)))
    })
    .await?;
    let by = |field, condition| vec![Filter { field, condition }];
    let class = |kind: crate::ParentKind| FilterCondition::Text(Comparison::Eq(kind.as_str().to_owned()));
    let of_space = by(AttachmentField::ParentKind, class(space.kind));
    assert_eq!(listed(of_space, ALL).await?.0, [second, file, heavy]);
    let start = by(AttachmentField::ParentKind, FilterCondition::Start("platform::org".to_owned()));
    assert_eq!(listed(start, ALL).await?.0, [first]);
    let id = by(AttachmentField::ParentId, FilterCondition::Integer(Comparison::Eq(own.id)));
    assert!(listed(id, ALL).await?.0.contains(&first));
    let grouped = by(AttachmentField::Collection, FilterCondition::Integer(Comparison::Eq(collection.0)));
    assert_eq!(listed(grouped, ALL).await?.0, [heavy]);
    let alone = by(AttachmentField::Collection, FilterCondition::Integer(Comparison::Blank(true)));
    assert_eq!(listed(alone, ALL).await?.0, [first, second, file]);
    let documents =
        by(AttachmentField::FileType, FilterCondition::Text(Comparison::Eq("document".to_owned())));
    assert_eq!(listed(documents, ALL).await?.0, [file]);
    let found = world.attachments.find_visible(world.reader(), file).await?.expect("it is visible");
    assert_eq!((found.attachment.file_type, found.file.is_some()), (FileType::Document, true));
    let found = world.attachments.find_visible(world.reader(), first).await?.expect("it is visible");
    assert_eq!(found.file, None);
    let exported = world.attachments.page_of_records_after(world.mine, Some(heavy), 10).await?;
    assert_eq!(exported.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [first, second, file]);
    assert!(world.collections.is_of(world.mine, collection, space).await?);
    assert!(!world.collections.is_of(world.mine, collection, own).await?);
    assert!(!world.collections.is_of(world.other, collection, space).await?);
    Ok(())
}

/// No organization sees another's attachments; a record is seen by those who may.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let id = world.attachments.add(world.mine, &World::link(world.space.into())).await?;
    let elsewhere = AttachmentReader {
        read_context: ReadContext { organization: world.other, ..world.reader().read_context },
        ..world.reader()
    };
    assert_eq!(world.attachments.find_visible(elsewhere, id).await?, None);
    assert!(world.attachments.list(elsewhere, &[], ALL).await?.items.is_empty());
    for (parent, sees) in [
        (AttachmentParent::from(world.space), true),
        (world.mine.into(), true),
        (world.other.into(), false),
        (AttachmentParent { id: 987_654, ..world.space.into() }, false),
        (AttachmentParent { kind: crate::ParentKind::Proposal, id: 987_654 }, false),
        (AttachmentParent { kind: crate::ParentKind::Answer, id: 1 }, false),
    ] {
        assert_eq!(world.parents.can_see(world.reader(), parent).await?, sees, "{parent:?}");
        if sees {
            assert!(!world.parents.can_see(elsewhere, parent).await?, "{parent:?}");
        }
    }
    Ok(())
}

/// An administrator finds attachments of all records by kind, type and text, and those of one record in their order.
pub async fn finds_attachments_for_administrators(world: World<'_>) -> Result<()> {
    let (space, own): (AttachmentParent, AttachmentParent) = (world.space.into(), world.mine.into());
    let add = async |title: &str, weight, parent| {
        let link = Attachment { title: text(title), weight, ..World::link(parent) };
        world.attachments.add(world.mine, &link).await
    };
    let plan = add("Plan of the PARK", 5, space).await?;
    let map = add("Übersicht, große", 0, own).await?;
    let (file, _) = world.attached(space).await?;
    let found = async |search: AttachmentSearch, page| {
        let page = world.attachments.search(world.mine, &search, page).await?;
        let ids: Vec<AttachmentId> = page.items.iter().map(|found| found.id).collect();
        assert!(page.items.iter().all(|found| found.file.is_some() == (found.id == file)));
        Ok::<_, civitas_kernel::Error>((ids, page.has_more))
    };
    let all = AttachmentSearch::default;
    assert_eq!(found(all(), ALL).await?, (vec![file, map, plan], false));
    assert_eq!(found(all(), PageRequest::new(2, 1)).await?, (vec![map], true));
    let oldest = AttachmentSearch { oldest_first: true, ..all() };
    assert_eq!(found(oldest, ALL).await?.0, [plan, map, file]);
    let of_space = AttachmentSearch { parent: Some(space), ..all() };
    assert_eq!(found(of_space, ALL).await?.0, [file, plan], "by weight");
    let kind = AttachmentSearch { kind: Some(space.kind), ..all() };
    assert_eq!(found(kind, ALL).await?.0, [file, plan]);
    let links = AttachmentSearch { file_type: Some(FileType::Link), ..all() };
    assert_eq!(found(links, ALL).await?.0, [map, plan]);
    let name = StoredFile::for_test(NOW, FileState::Stored).filename.to_uppercase();
    for (text, expected) in [
        ("pàrk", vec![plan]),
        ("ubersicht, GROSSE", vec![map]),
        ("MAPS.example", vec![map, plan]),
        (name.as_str(), vec![file]),
        ("%", vec![]),
        ("nothing", vec![]),
    ] {
        let search = AttachmentSearch { text: Some(text.to_owned()), ..all() };
        assert_eq!(found(search, ALL).await?.0, expected, "{text}");
    }
    assert!(world.attachments.search(world.other, &all(), ALL).await?.items.is_empty());
    Ok(())
}

/// The records of an organization have titles; others are left out.
pub async fn names_the_records_of_attachments(world: World<'_>) -> Result<()> {
    let (space, own): (AttachmentParent, AttachmentParent) = (world.space.into(), world.mine.into());
    let unknown = [
        AttachmentParent { id: 987_654, ..space },
        world.other.into(),
        AttachmentParent { kind: crate::ParentKind::Proposal, id: 987_654 },
        AttachmentParent { kind: crate::ParentKind::Meeting, id: 987_654 },
        AttachmentParent { kind: crate::ParentKind::Post, id: 987_654 },
        AttachmentParent { kind: crate::ParentKind::Answer, id: 1 },
    ];
    let asked: Vec<AttachmentParent> = [own, space].into_iter().chain(unknown).collect();
    let titles = world.parents.titles(world.mine, &asked).await?;
    let named: Vec<(AttachmentParent, bool)> =
        titles.iter().map(|(parent, title)| (*parent, title.is_empty())).collect();
    assert_eq!(named, [(own, true), (space, false)]);
    assert_eq!(world.parents.titles(world.mine, &[]).await?, []);
    assert_eq!(world.parents.titles(world.other, &[own, space]).await?, []);
    Ok(())
}

/// The collections of a record are listed by weight.
pub async fn lists_collections_of_a_record(world: World<'_>) -> Result<()> {
    let (space, own): (AttachmentParent, AttachmentParent) = (world.space.into(), world.mine.into());
    let add = async |name, weight, parent| {
        world.collections.add(world.mine, &Collection { parent, name: text(name), weight }).await
    };
    let (heavy, light) = (add("Heavy", 5, space).await?, add("Light", 1, space).await?);
    add("Other", 0, own).await?;
    let listed = async |organization, limit| {
        let listed = world.collections.list_of_parent(organization, space, limit).await?;
        Ok::<_, civitas_kernel::Error>(listed.iter().map(|(id, _)| *id).collect::<Vec<_>>())
    };
    assert_eq!(listed(world.mine, 10).await?, [light, heavy]);
    assert_eq!(listed(world.mine, 1).await?, [light]);
    assert_eq!(listed(world.other, 10).await?, []);
    Ok(())
}
