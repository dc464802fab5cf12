//! Objects are stored, read, listed and deleted.

use crate::files::{all, content, directory, listed, places, sample, whole};
use civitas_attachments::FileStore;
use civitas_files::FileStorage;
use civitas_kernel::Error;
use civitas_tests::ObjectServer;
use futures_util::{StreamExt, TryStreamExt};
use std::os::unix::fs::PermissionsExt;

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stored_is_read() {
    for place in places().await {
        for length in [0, 1, 100_000, 8 * MIB, 8 * MIB + 1, 20 * MIB + 7] {
            let bytes = sample(length, 1);
            place.store.put("CITY/key", content(&bytes)).await.unwrap();
            if length > 0 {
                let read = whole(&place.store, "CITY/key").await.unwrap();
                assert!(read == bytes, "{} {length}: {} bytes", place.name, read.len());
            }
            assert_eq!(
                listed(&place.store, "").await,
                [("CITY/key".to_owned(), length as u64)],
                "{}",
                place.name
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_the_file_is_read_from_its_first_byte() {
    for place in places().await {
        let mut sent = content(&sample(1000, 0));
        std::io::copy(&mut &sent.file, &mut std::io::sink()).unwrap();
        sent.byte_size = 600;
        place.store.put("a", sent).await.unwrap();
        assert_eq!(whole(&place.store, "a").await.unwrap(), sample(600, 0), "{}", place.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ranges_are_read() {
    for place in places().await {
        let (bytes, length) = (sample(300_000, 2), 300_000);
        place.store.put("a/b", content(&bytes)).await.unwrap();
        for (start, end) in [
            (0, 1),
            (0, 300_000),
            (1, 2),
            (131_071, 131_073),
            (299_999, 300_000),
            (5, 5),
            (0, 0),
            (299_000, 400_000),
        ] {
            let read = all(place.store.read("a/b", start as u64..end as u64).await.unwrap().unwrap()).await;
            assert!(read == bytes[start..end.min(length)], "{} {start}..{end}: {}", place.name, read.len());
        }
        let beyond = place.store.read("a/b", 300_000..300_001).await;
        assert!(matches!(beyond, Err(Error::Unavailable(_))), "{}", place.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absent_object_is_none_and_its_deletion_succeeds() {
    for place in places().await {
        for range in [0..1, 0..0, 5..10] {
            assert!(place.store.read("a/b", range).await.unwrap().is_none(), "{}", place.name);
        }
        place.store.delete("a/b").await.unwrap();
        place.store.put("a/b", content(b"x")).await.unwrap();
        place.store.delete("a/b").await.unwrap();
        place.store.delete("a/b").await.unwrap();
        assert!(whole(&place.store, "a/b").await.is_none());
        assert!(place.store.read("a/b/c", 0..1).await.unwrap().is_none());
        assert!(listed(&place.store, "").await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_one_version_as_a_whole() {
    for place in places().await {
        let store = &place.store;
        store.put("a", content(&sample(MIB, 0))).await.unwrap();
        let mut old = store.read("a", 0..MIB as u64).await.unwrap().unwrap();
        let first = old.next().await.unwrap().unwrap();
        store.put("a", content(&sample(MIB, 1))).await.unwrap();
        let rest: Vec<_> = old.try_collect().await.unwrap();
        assert!([&first[..], &rest.concat()].concat() == sample(MIB, 0), "{}", place.name);
        let writers = (0..6).map(|seed| store.put("a", content(&sample(MIB, seed))));
        let readers = (0..6).map(|_| async {
            let read = whole(store, "a").await.unwrap();
            assert!((0..6).any(|seed| read == sample(MIB, seed)), "{}", place.name);
        });
        let (written, _) = tokio::join!(
            futures_util::future::try_join_all(writers),
            futures_util::future::join_all(readers)
        );
        written.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_listed_below_a_prefix() {
    for place in places().await {
        for (name, length) in [("CITY/a", 1), ("CITY/b/c", 2), ("CITYX/a", 3), ("d", 4)] {
            place.store.put(name, content(&sample(length, 0))).await.unwrap();
        }
        let of_city = [("CITY/a".to_owned(), 1), ("CITY/b/c".to_owned(), 2)];
        assert_eq!(listed(&place.store, "CITY").await, of_city, "{}", place.name);
        assert_eq!(listed(&place.store, "").await.len(), 4);
        assert!(listed(&place.store, "absent").await.is_empty());
        assert!(matches!(place.store.list("../x").next().await, Some(Err(Error::Internal(_)))));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_objects_than_one_page_are_listed() {
    for place in places().await {
        let names: Vec<String> = (0..1050).map(|n| format!("CITY/{n:04}")).collect();
        for chunk in names.chunks(50) {
            let puts = chunk.iter().map(|name| place.store.put(name, content(b"x")));
            futures_util::future::try_join_all(puts).await.unwrap();
        }
        let listed = listed(&place.store, "CITY").await;
        assert_eq!(listed.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names, "{}", place.name);
        // A list that is not read to its end ends.
        drop(place.store.list("CITY").take(3).collect::<Vec<_>>().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_prefixes_of_a_bucket_are_apart() {
    let server = ObjectServer::start().await;
    let [one, two] =
        ["one", ""].map(|prefix| FileStorage::open(&server.url(prefix), server.settings()).unwrap());
    one.put("a", content(b"x")).await.unwrap();
    assert!(whole(&two, "a").await.is_none());
    assert_eq!(listed(&one, "").await, [("a".to_owned(), 1)]);
    assert_eq!(listed(&two, "").await, [("one/a".to_owned(), 1)]);
}

#[tokio::test]
async fn files_are_for_their_owner_only() {
    let place = directory();
    place.store.put("CITY/key", content(b"x")).await.unwrap();
    let root = place.directory.as_ref().unwrap().path().join("objects");
    let mode = |path: &str| std::fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("CITY"), mode("CITY/key"), mode(".staging")), (0o700, 0o600, 0o700));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_works_is_ready() {
    for place in places().await {
        place.store.ready().await.unwrap();
        assert!(listed(&place.store, "").await.is_empty(), "{}", place.name);
    }
}
