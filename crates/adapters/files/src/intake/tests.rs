use super::*;
use crate::tests::{bytes as bytes_of, picture as sample};
use bytes::Bytes;
use futures_util::stream;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

fn intake() -> DirectoryIntake {
    DirectoryIntake::open(std::env::temp_dir()).unwrap()
}

fn body(chunks: &[&[u8]]) -> ByteStream {
    let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    stream::iter(chunks).boxed()
}

async fn complete(body: ByteStream, limit: u64) -> ReceivedBody {
    match intake().receive(body, limit).await.unwrap() {
        ReceiveOutcome::Complete(received) => received,
        ReceiveOutcome::TooLong => panic!("too long"),
    }
}

#[tokio::test]
async fn the_checksum_is_that_of_the_contract() {
    let received = complete(body(&[b"hello ", b"", b"world\n"]), 12).await;
    assert_eq!(received.content.byte_size, 12);
    // Base64: b1kCrCNwJL3QwXbLkwY9xA==
    let expected =
        [0x6f, 0x59, 0x02, 0xac, 0x23, 0x70, 0x24, 0xbd, 0xd0, 0xc1, 0x76, 0xcb, 0x93, 0x06, 0x3d, 0xc4];
    assert_eq!(received.md5, expected);
    let inspected = intake().inspect(received, ImageBytes::WithoutMetadata).await.unwrap();
    assert_eq!((inspected.content_type.as_str(), inspected.fault), ("text/plain", None));
    assert!(inspected.thumbnail.is_none());
    assert_eq!(inspected.sha256[..4], [0xa9, 0x48, 0x90, 0x4f]);
    assert_eq!(bytes_of(inspected.content), b"hello world\n");
}

#[tokio::test]
async fn an_imported_image_is_stored_as_it_is_and_has_a_thumbnail() {
    let bytes = [sample(ImageFormat::Png, 64, 32), b"after the end".to_vec()].concat();
    for (images, is_same) in [(ImageBytes::Unchanged, true), (ImageBytes::WithoutMetadata, false)] {
        let received = complete(body(&[&bytes]), 1 << 20).await;
        let inspected = intake().inspect(received, images).await.unwrap();
        assert!(inspected.thumbnail.is_some());
        assert_eq!(bytes_of(inspected.content) == bytes, is_same, "{images:?}");
    }
}

#[tokio::test]
async fn the_limit_is_inclusive_and_reading_ends_behind_it() {
    assert_eq!(complete(body(&[b"1234", b"5678"]), 8).await.content.byte_size, 8);
    let read = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&read);
    let endless = stream::repeat_with(move || {
        counter.fetch_add(1000, Ordering::Relaxed);
        Ok(Bytes::from_static(&[7; 1000]))
    });
    assert!(matches!(intake().receive(endless.boxed(), 5_000_000).await.unwrap(), ReceiveOutcome::TooLong));
    assert_eq!(read.load(Ordering::Relaxed), 5_001_000);
}

#[tokio::test]
async fn an_error_of_the_stream_is_returned() {
    let broken = stream::iter([Ok(Bytes::from_static(b"x")), Err(Error::rejected("cut"))]).boxed();
    assert!(matches!(intake().receive(broken, 100).await, Err(Error::Rejected(_))));
}

#[tokio::test]
async fn nothing_has_a_name_in_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let intake = DirectoryIntake::open(directory.path().join("a/b")).unwrap();
    let ReceiveOutcome::Complete(received) =
        intake.receive(body(&[&vec![0; 400_000]]), 1 << 20).await.unwrap()
    else {
        panic!("too long")
    };
    assert_eq!(std::fs::read_dir(directory.path().join("a/b")).unwrap().count(), 0);
    assert_eq!(bytes_of(received.content.rewound()), vec![0; 400_000]);
}

#[test]
fn a_directory_that_cannot_be_written_is_unavailable() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(matches!(DirectoryIntake::open(file.path()), Err(Error::Unavailable(_))));
}

#[tokio::test]
async fn a_directory_that_disappears_is_unavailable() {
    let directory = tempfile::tempdir().unwrap();
    let intake = DirectoryIntake::open(directory.path()).unwrap();
    drop(directory);
    assert!(matches!(intake.receive(body(&[b"x"]), 10).await, Err(Error::Unavailable(_))));
}

trait Rewound {
    fn rewound(self) -> Self;
}

impl Rewound for FileContent {
    fn rewound(mut self) -> Self {
        self.file.rewind().unwrap();
        self
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_received_and_inspected(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3000), 0..5)) {
        let all = chunks.concat();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let inspected = runtime.block_on(async {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let received = complete(body(&chunks), 1 << 20).await;
            prop_assert_eq!(received.md5, <[u8; 16]>::from(Md5::digest(&all)));
            Ok(intake().inspect(received, ImageBytes::WithoutMetadata).await.unwrap())
        })?;
        prop_assert!(inspected.content_type.contains('/'));
        prop_assert_eq!(inspected.content.byte_size, all.len() as u64);
    }
}
