//! Files that commands read and write where the operator says: links, pipes and devices, and errors with their path.

use crate::command_line::city::City;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

fn pipe_in(directory: &Path) -> PathBuf {
    let pipe = directory.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

#[tokio::test]
async fn an_export_into_a_pipe_is_read_by_another_process() {
    let city = City::with_organizations().await;
    let pipe = pipe_in(city.path());
    let path = pipe.clone();
    let read = thread::spawn(move || {
        let mut text = String::new();
        File::open(path).unwrap().read_to_string(&mut text).unwrap();
        text
    });
    city.run(&["export", "--output", &pipe.display().to_string()]).await.done();
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(read.join().unwrap(), city.run(&["export"]).await.done().out);
}

#[tokio::test]
async fn an_export_follows_links_and_leaves_them() {
    let city = City::with_organizations().await;
    let expected = city.run(&["export"]).await.done().out;
    let elsewhere = city.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("old.ndjson"), "old").unwrap();
    for (link, target) in [
        ("to-file", "elsewhere/old.ndjson"),
        ("to-link", "to-file"),
        ("to-nothing", "elsewhere/new.ndjson"),
        ("to-device", "/dev/null"),
    ] {
        let link = city.path().join(link);
        symlink(target, &link).unwrap();
        city.run(&["export", "--output", &link.display().to_string()]).await.done();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(target));
    }
    for file in ["old.ndjson", "new.ndjson"] {
        assert_eq!(fs::read_to_string(elsewhere.join(file)).unwrap(), expected);
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 2, "nothing else is left there");
    assert_eq!(city.run(&["export", "--output", "/dev/stdout"]).await.done().out, expected);
}

#[tokio::test]
async fn an_export_that_cannot_be_written_names_the_path() {
    let city = City::with_organizations().await;
    let directory = city.path().display().to_string();
    let absent = city.path().join("absent/b.ndjson").display().to_string();
    for path in [directory.as_str(), &absent] {
        let said = city.run(&["export", "--output", path]).await;
        assert_eq!((said.code, said.out.as_str()), (1, ""));
        assert!(said.err.starts_with(&format!("civitas: {path}: ")), "{}", said.err);
    }
    let full = city.path().join("full");
    symlink("/dev/full", &full).unwrap();
    let said = city.run(&["export", "--output", &full.display().to_string()]).await;
    assert!(said.code == 1 && said.err.contains("No space left"), "{}", said.err);
}

#[tokio::test]
async fn an_import_reads_a_pipe_and_a_file_with_a_byte_order_mark() {
    let city = City::with_organizations().await;
    let archive = format!("\u{feff}{}", city.run(&["export"]).await.done().out);
    let (pipe, text) = (pipe_in(city.path()), archive.clone());
    let path = pipe.clone();
    let write = thread::spawn(move || File::create(path).unwrap().write_all(text.as_bytes()).unwrap());
    let report = city.run(&["import", &pipe.display().to_string()]).await.done().json();
    write.join().unwrap();
    assert_eq!(report["unchanged"]["organization"], 2, "{report}");
    let report = city.type_in(&["import", "-"], &archive).await.done().json();
    assert_eq!(report["unchanged"]["organization"], 2, "{report}");
    let file = city.path().join("b.ndjson");
    fs::write(&file, &archive).unwrap();
    let report = city.run(&["import", &file.display().to_string()]).await.done().json();
    assert_eq!(report["unchanged"]["organization"], 2, "{report}");
}

#[tokio::test]
async fn what_keeps_a_command_from_its_data_is_named_with_its_path() {
    let city = City::unmigrated();
    let (taken, file) = (city.path().join("taken"), city.path().join("file"));
    fs::create_dir_all(taken.join("civitas.db")).unwrap();
    fs::write(&file, "").unwrap();
    let under_file = file.join("data");
    for (data, words, path) in [
        (&taken, &["serve"][..], taken.join("civitas.db")),
        (&taken, &["migrate"], taken.join("civitas.db")),
        (&taken, &["export"], taken.join("civitas.db")),
        (&under_file, &["serve"], under_file.join("secret_key")),
        (&under_file, &["migrate"], under_file.join("civitas.db")),
        (&under_file, &["backup", "--to", "file:///nowhere"], under_file.join("civitas.db")),
    ] {
        let data = data.display().to_string();
        let said = city.run(&[words, &["--data-dir", &data]].concat()).await;
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{words:?}");
        let begin = format!("civitas: {}: ", path.display());
        assert!(said.err.starts_with(&begin) && said.err.contains("os error"), "{words:?}: {}", said.err);
    }
    let sick = city.run(&["doctor", "--data-dir", &under_file.display().to_string()]).await;
    for finding in ["storage", "files", "secret key", "schema"] {
        let line = sick
            .out
            .lines()
            .find(|line| line.get(6..).is_some_and(|text| text.starts_with(finding)))
            .unwrap();
        assert!(line.contains(&under_file.display().to_string()), "{line}");
    }
}
