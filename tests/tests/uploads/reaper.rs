//! What is left of uploads that nobody completes, and of faults of the store.

use crate::uploads::place::{Kind, Place, engines, places, url_of};
use crate::uploads::staging::{put, stage};
use crate::uploads::wire::{BOUNDARY, file, form};
use civitas_attachments::{FileState, PENDING_FILE_LIFETIME};
use civitas_kernel::records::Change;
use civitas_kernel::{FileId, OrganizationId, clock};
use civitas_tests::inspected;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// A row of the city with its bytes, in this state.
async fn stored(place: &Place, state: FileState) -> FileId {
    let (files, city) = (place.files(), OrganizationId(place.service.id("organization", "city")));
    let inspected = inspected(&files, b"text\n".to_vec()).await;
    let new = files.register(city, "RIVERTON", "a.txt".to_owned(), inspected, clock::now()).await.unwrap();
    let (id, before) = files.put(new).await.unwrap();
    let mut after = before.clone();
    after.state = state;
    if after != before {
        place.service.store.files().save(city, id, &Change { before, after }).await.unwrap();
    }
    id
}

async fn state(place: &Place, id: FileId) -> Option<FileState> {
    place.rows().await.into_iter().find(|(found, _)| *found == id).map(|(_, row)| row.state)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_file_is_deleted_after_an_hour_and_a_stored_one_never() {
    for place in places().await {
        let (pending, kept) =
            (stored(&place, FileState::Pending).await, stored(&place, FileState::Stored).await);
        let files = place.files();
        files.sweep(clock::now() + PENDING_FILE_LIFETIME - time::Duration::MINUTE).await.unwrap();
        assert_eq!(state(&place, pending).await, Some(FileState::Pending));
        files.sweep(clock::now() + PENDING_FILE_LIFETIME + time::Duration::MINUTE).await.unwrap();
        assert_eq!(
            (state(&place, pending).await, state(&place, kept).await),
            (None, Some(FileState::Stored))
        );
        assert_eq!(place.names().await.len(), 1);
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_pending_file_is_discarded() {
    for place in places().await {
        let city = OrganizationId(place.service.id("organization", "city"));
        let (pending, kept) =
            (stored(&place, FileState::Pending).await, stored(&place, FileState::Stored).await);
        for id in [pending, kept, FileId(i64::MAX)] {
            place.files().discard(city, id, clock::now()).await;
        }
        // A commit whose answer was lost has stored the second one.
        assert_ne!(state(&place, pending).await, Some(FileState::Pending));
        assert_eq!(state(&place, kept).await, Some(FileState::Stored));
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_not_attached_is_deleted_after_a_day() {
    for place in places().await {
        let signed = stage(&place, "a.txt", b"some text\n").await;
        assert_eq!(put(&place, &signed, b"some text\n").await.status, 204);
        stage(&place, "b.txt", b"some text\n").await;
        let files = place.files();
        files.sweep(clock::now() + time::Duration::hours(23)).await.unwrap();
        assert_eq!(place.names().await.len(), 1);
        files.sweep(clock::now() + time::Duration::hours(25)).await.unwrap();
        assert!(place.names().await.is_empty() && place.rows().await.is_empty());
        let city = OrganizationId(place.service.id("organization", "city"));
        let uploads = place.service.store.uploads().page_after(city, None, 10).await.unwrap();
        assert!(uploads.is_empty(), "{uploads:?}");
        assert_eq!(put(&place, &signed, b"some text\n").await.status, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_deletes_removed_files_by_itself() {
    for place in engines(Kind::Directory).await {
        stored(&place, FileState::Removed).await;
        for _ in 0..200 {
            if place.names().await.is_empty() && place.rows().await.is_empty() {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
        assert!(place.names().await.is_empty() && place.rows().await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_goes_away_leaves_nothing() {
    for place in places().await {
        let body = form(&[file(b"a.txt", &b"some text\n".repeat(30_000))]);
        let signed = stage(&place, "a.txt", &b"some text\n".repeat(30_000)).await;
        let token = &place.token;
        let form_head = format!(
            "POST /api/rest_full/v0.3/attachments HTTP/1.1\r\nHost: city.test\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        );
        let put_head = format!(
            "PUT /api/rest_full/v0.3/attachments/direct_upload/{signed} HTTP/1.1\r\nHost: city.test\r\n"
        );
        for (head, body) in [(form_head, body), (put_head, b"some text\n".repeat(30_000))] {
            for sent in [0, 1, body.len() / 2, body.len() - 1, body.len()] {
                let mut socket = TcpStream::connect(place.service.address).await.unwrap();
                let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
                socket.write_all(&[head.as_bytes(), &body[..sent]].concat()).await.unwrap();
                drop(socket);
            }
        }
        sleep(Duration::from_millis(500)).await;
        assert_eq!(place.fetch("/files/x/y").await.status, 404, "the server still answers");
        // The upload whose bytes all arrived may be complete.
        place.assert_sound().await;
        assert!(place.rows().await.len() <= 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_answer_is_temporary() {
    for mut place in engines(Kind::Bucket).await {
        let path = place.attach_text("a.txt").await;
        place.stop_bucket();
        let reply = place.attach_unchecked(&[file(b"b.txt", b"some text\n")]).await;
        assert_eq!((reply.status, reply.header("retry-after").is_empty()), (503, false), "{reply:?}");
        let signed = stage(&place, "c.txt", b"some text\n").await;
        let url = format!("/api/rest_full/v0.3/attachments/direct_upload/{signed}");
        let reply = crate::uploads::wire::Request::new("PUT", &url)
            .body("some text\n")
            .send(place.service.address)
            .await;
        assert_eq!(reply.status, 503, "{reply:?}");
        let reply = crate::uploads::wire::Request::new("GET", &path).send(place.service.address).await;
        assert_eq!(reply.status, 503, "{reply:?}");
        let states: Vec<_> = place.rows().await.into_iter().map(|(_, row)| row.state).collect();
        assert_eq!(states.iter().filter(|state| **state == FileState::Stored).count(), 1);
        assert!(!states.contains(&FileState::Pending), "{states:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_in_the_store_stays_when_the_prefix_changes() {
    for place in engines(Kind::Directory).await {
        let reply = place.attach(&[file(b"a.txt", b"some text\n")]).await;
        let names = place.names().await;
        place.service.database.execute("UPDATE organizations SET reference_prefix = 'OTHER'").await;
        assert_eq!(place.fetch(&url_of(&reply)).await.status, 200);
        assert_eq!(place.names().await, names);
    }
}
