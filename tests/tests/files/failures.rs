//! What fails leaves nothing behind.

use crate::files::{bucket, content, directory, listed, places, sample, whole};
use civitas_attachments::{FileContent, FileStore};
use civitas_files::FileStorage;
use civitas_kernel::Error;
use civitas_tests::ObjectServer;
use std::time::Duration;

const MIB: usize = 1 << 20;

/// Waits until the server has no part of an incomplete upload.
async fn without_parts(server: &ObjectServer) {
    for _ in 0..200 {
        if server.parts().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("parts of an incomplete upload: {:?}", server.parts());
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_could_leave_the_store_are_refused() {
    for place in places().await {
        for name in ["../a", "/a", "a/../../b", ".staging/a", "", "a b", "a\0"] {
            let put = place.store.put(name, content(b"x")).await;
            assert!(matches!(put, Err(Error::Internal(_))), "{} {name:?}", place.name);
            assert!(matches!(place.store.read(name, 0..1).await, Err(Error::Internal(_))));
            assert!(matches!(place.store.delete(name).await, Err(Error::Internal(_))));
        }
        assert!(listed(&place.store, "").await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_too_short_is_not_stored() {
    for place in places().await {
        for (length, claimed) in [(10, 20), (9 * MIB, 20 * MIB as u64)] {
            let short = FileContent { byte_size: claimed, ..content(&sample(length, 0)) };
            assert!(place.store.put("a", short).await.is_err(), "{}", place.name);
            assert!(whole(&place.store, "a").await.is_none());
        }
        assert!(listed(&place.store, "").await.is_empty());
        if let Some(server) = &place.server {
            without_parts(server).await;
        }
        if let Some(directory) = &place.directory {
            let staged = std::fs::read_dir(directory.path().join("objects/.staging")).unwrap();
            assert_eq!(staged.count(), 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_replacement_keeps_the_old_object() {
    for place in places().await {
        place.store.put("a", content(b"old")).await.unwrap();
        let short = FileContent { byte_size: 20 * MIB as u64, ..content(&sample(9 * MIB, 0)) };
        assert!(place.store.put("a", short).await.is_err());
        assert_eq!(whole(&place.store, "a").await.unwrap(), b"old", "{}", place.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_upload_is_aborted() {
    let place = bucket().await;
    let server = place.server.as_ref().unwrap();
    let upload = place.store.put("a", content(&sample(60 * MIB, 0)));
    tokio::select! {
        _ = upload => panic!("the upload ended before it was cancelled"),
        () = async { while server.parts().is_empty() { tokio::time::sleep(Duration::from_millis(1)).await } } => {}
    }
    without_parts(server).await;
    assert!(whole(&place.store, "a").await.is_none());
}

#[tokio::test]
async fn what_a_killed_process_left_is_removed() {
    let place = directory();
    let staging = place.directory.as_ref().unwrap().path().join("objects/.staging");
    std::fs::write(staging.join("left"), b"incomplete").unwrap();
    place.store.put("a", content(b"x")).await.unwrap();
    assert_eq!(listed(&place.store, "").await, [("a".to_owned(), 1)]);
    assert_eq!(place.store.remove_incomplete(Duration::from_hours(1)).await.unwrap(), 0);
    assert_eq!(place.store.remove_incomplete(Duration::ZERO).await.unwrap(), 1);
    assert_eq!(std::fs::read_dir(staging).unwrap().count(), 0);
    assert_eq!(whole(&place.store, "a").await.unwrap(), b"x");
    assert_eq!(bucket().await.store.remove_incomplete(Duration::ZERO).await.unwrap(), 0);
}

async fn is_unavailable(store: &FileStorage, reason: &str) {
    assert!(matches!(store.ready().await, Err(Error::Unavailable(_))), "{reason}");
    assert!(matches!(store.put("a", content(b"x")).await, Err(Error::Unavailable(_))), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_is_unavailable() {
    let server = ObjectServer::start().await;
    let with = |name: &str, value: &str| {
        let mut settings = server.settings();
        settings.push((name.to_owned(), value.to_owned()));
        FileStorage::open(&server.url("x"), settings).unwrap()
    };
    is_unavailable(&with("AWS_SECRET_ACCESS_KEY", "another"), "wrong secret").await;
    is_unavailable(&with("AWS_ALLOW_HTTP", "false"), "no TLS").await;
    let settings = server.settings();
    drop(server);
    is_unavailable(&FileStorage::open("s3://files/x", settings).unwrap(), "no server").await;
}

#[tokio::test]
async fn a_directory_that_disappears_is_unavailable() {
    let place = directory();
    std::fs::remove_dir_all(place.directory.as_ref().unwrap().path().join("objects")).unwrap();
    is_unavailable(&place.store, "no directory").await;
}
