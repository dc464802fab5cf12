//! Files that are not what they say.

use crate::uploads::place::{Kind, Place, engines, places, url_of};
use crate::uploads::samples::{
    SECRET, archive, docx, half, jpeg, jpeg_of, ooxml, photograph, picture, png, png_of, png_with, webp,
    webp_bomb, with_tail, zip_bomb,
};
use crate::uploads::wire::file;
use image::ImageFormat;

/// A type that browsers show, one that they only download, or the code of a refusal.
enum Outcome {
    Shown(&'static str),
    Downloaded(&'static str),
    Refused(&'static str),
}
use Outcome::{Downloaded, Refused, Shown};

/// What it is, its name, its bytes, and what becomes of it.
type Row = (&'static str, &'static str, Vec<u8>, Outcome);

const TYPE: &str = "content_type_not_allowed";
const EXTENSION: &str = "extension_not_allowed";
const SVG: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
const HTML: &[u8] = b"<!DOCTYPE html><script>alert(1)</script>";
const PDF: &[u8] = b"%PDF-1.7\n1 0 obj << >> endobj\n%%EOF\n";

/// Files for records of participants.
fn for_participants() -> Vec<Row> {
    [polyglots(), wrong_types(), images()].into_iter().flatten().collect()
}

fn polyglots() -> Vec<Row> {
    vec![
        ("plain text", "a.txt", b"plain text\n".to_vec(), Downloaded("text/plain")),
        ("a PDF", "a.pdf", PDF.to_vec(), Shown("application/pdf")),
        ("PDF with HTML", "a.pdf", with_tail(PDF, HTML), Shown("application/pdf")),
        ("PDF with HTML as a text", "a.txt", with_tail(PDF, HTML), Refused(TYPE)),
        ("PDF header after other bytes", "a.pdf", with_tail(&[b'x'; 1019], PDF), Shown("application/pdf")),
        ("PDF header after too many", "a.pdf", with_tail(&[b'x'; 1020], PDF), Refused(TYPE)),
        ("a program with a PDF header", "a.pdf", with_tail(b"MZ\x90\0\x03\0\0\0", PDF), Refused(TYPE)),
        ("HTML with a PDF header", "a.pdf", with_tail(HTML, PDF), Refused(TYPE)),
        ("JPEG with ZIP", "a.jpg", with_tail(&jpeg(), &archive(&[("EVIL", b"EVIL")])), Shown("image/jpeg")),
        ("PNG with PHP", "a.png", with_tail(&png(), b"<?php EVIL"), Shown("image/png")),
        ("PNG with PHP in a text", "a.png", png_with(*b"tEXt", b"c\0<?php EVIL"), Shown("image/png")),
        ("WebP with HTML", "a.webp", with_tail(&webp(), b"<script>EVIL"), Shown("image/webp")),
        ("GIF with JavaScript as PNG", "a.png", b"GIF89a=1;alert(1)//".to_vec(), Refused(TYPE)),
        ("GIF with JavaScript as JPEG", "a.jpg", b"GIF89a=1;alert(1)//".to_vec(), Refused(TYPE)),
        ("GIF with JavaScript as a text", "a.txt", b"GIF89a=1;alert(1)//".to_vec(), Refused(TYPE)),
        ("GIF", "a.gif", b"GIF89a\x01\0\x01\0\0\0\0;".to_vec(), Refused(EXTENSION)),
        ("JPEG signature before HTML", "a.jpg", with_tail(b"\xff\xd8\xff", HTML), Refused("invalid")),
        ("PNG signature before HTML", "a.png", with_tail(b"\x89PNG\r\n\x1a\n", HTML), Refused("invalid")),
    ]
}

fn wrong_types() -> Vec<Row> {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    vec![
        ("SVG", "a.svg", SVG.to_vec(), Refused(EXTENSION)),
        ("SVG as PNG", "a.png", SVG.to_vec(), Refused(TYPE)),
        ("SVG as a text", "a.txt", SVG.to_vec(), Refused(TYPE)),
        ("SVG after spaces", "a.txt", with_tail(&[b' '; 900], SVG), Refused(TYPE)),
        ("HTML as a text", "a.txt", HTML.to_vec(), Refused(TYPE)),
        ("HTML after a mark", "a.txt", with_tail(b"\xef\xbb\xbf\n", HTML), Refused(TYPE)),
        ("HTML as a PDF", "a.pdf", HTML.to_vec(), Refused(TYPE)),
        ("XML as a text", "a.txt", b"<?xml version=\"1.0\"?><a/>".to_vec(), Refused(TYPE)),
        ("a script as a text", "a.txt", b"#!/bin/sh\nrm -rf /\n".to_vec(), Refused(TYPE)),
        ("PHP as a text", "a.txt", b"<?php system('id');".to_vec(), Refused(TYPE)),
        ("UTF-16 without its mark", "a.txt", utf16("text"), Refused(TYPE)),
        ("UTF-16", "a.txt", utf16("\u{feff}text"), Downloaded("text/plain")),
        ("HTML in UTF-16 as a text", "a.txt", utf16("\u{feff}<script>alert(1)</script>"), Refused(TYPE)),
        ("a text as a PDF", "a.pdf", b"text".to_vec(), Refused(TYPE)),
        ("a program as a PDF", "a.pdf", with_tail(b"MZ\x90\0\x03\0\0\0", &[0; 200]), Refused(TYPE)),
        ("a program as a text", "a.txt", with_tail(b"\x7fELF\x02\x01\x01\0", &[0; 200]), Refused(TYPE)),
        ("a program", "a.exe", with_tail(b"MZ\x90\0\x03\0\0\0", &[0; 200]), Refused(EXTENSION)),
        ("a document as a PDF", "a.pdf", docx(), Refused(TYPE)),
        ("a document", "a.docx", docx(), Refused(EXTENSION)),
        ("RTF", "a.rtf", b"{\\rtf1 text}".to_vec(), Downloaded("application/rtf")),
        ("RTF after a mark", "a.rtf", b"\xef\xbb\xbf\n{\\rtf1 text}".to_vec(), Downloaded("application/rtf")),
        ("RTF as a text", "a.txt", b"{\\rtf1 text}".to_vec(), Refused(TYPE)),
        (
            "BMP as PNG",
            "a.png",
            with_tail(b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", &[0; 60]),
            Refused(TYPE),
        ),
        ("TIFF as JPEG", "a.jpg", with_tail(b"II*\0\x08\0\0\0", &[0; 60]), Refused(TYPE)),
        ("AVIF as PNG", "a.png", with_tail(b"\0\0\0\x1cftypavif\0\0\0\0avifmif1", &[0; 60]), Refused(TYPE)),
        ("HEIC as JPEG", "a.jpg", with_tail(b"\0\0\0\x18ftypheic\0\0\0\0mif1", &[0; 60]), Refused(TYPE)),
        ("an icon as PNG", "a.png", with_tail(b"\0\0\x01\0\x01\0\x10\x10\0\0", &[0; 60]), Refused(TYPE)),
        ("AVIF", "a.avif", with_tail(b"\0\0\0\x1cftypavif\0\0\0\0avifmif1", &[0; 60]), Refused(EXTENSION)),
        ("a second extension", "a.png.txt", png(), Refused(TYPE)),
    ]
}

fn images() -> Vec<Row> {
    let wide = picture(ImageFormat::Png, 8_001, 1);
    vec![
        ("PNG as JPEG", "a.jpg", png(), Refused(TYPE)),
        ("JPEG as PNG", "a.png", jpeg(), Refused(TYPE)),
        ("WebP as JPEG", "a.jpeg", webp(), Refused(TYPE)),
        ("PNG", "A.PNG", png(), Shown("image/png")),
        ("the widest PNG", "a.png", picture(ImageFormat::Png, 8_000, 1), Shown("image/png")),
        ("a PNG that is too wide", "a.png", wide, Refused("image_too_big")),
        ("PNG of 60000 pixels", "a.png", png_of(60_000, 60_000), Refused("image_too_big")),
        ("PNG of 2 billion pixels", "a.png", png_of(0x7fff_ffff, 1), Refused("image_too_big")),
        ("PNG without pixels", "a.png", png_of(0, 0), Refused("invalid")),
        ("PNG with too few pixels", "a.png", png_of(5_000, 5_000), Refused("invalid")),
        ("JPEG of 65535 pixels", "a.jpg", jpeg_of(65_535, 65_535), Refused("image_too_big")),
        ("WebP of 16384 pixels", "a.webp", webp_bomb(), Refused("image_too_big")),
        ("half a JPEG", "a.jpg", half(&jpeg()), Refused("invalid")),
        ("half a PNG", "a.png", half(&png()), Refused("invalid")),
        ("half a WebP", "a.webp", half(&webp()), Refused("invalid")),
        ("an empty file", "a.txt", Vec::new(), Refused("blank")),
    ]
}

/// Files for records of administrators.
fn for_administrators() -> Vec<Row> {
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let text = "application/vnd.oasis.opendocument.text";
    let macros = ooxml("ms-word.document.macroEnabled.main+xml");
    let odt = archive(&[("mimetype", text.as_bytes()), ("content.xml", b"<x/>")]);
    let html = archive(&[("mimetype", b"text/html"), ("index.html", HTML)]);
    vec![
        ("a document", "a.docx", docx(), Downloaded(word)),
        ("an OpenDocument text", "a.odt", odt.clone(), Downloaded(text)),
        ("an archive as a document", "a.docx", archive(&[("evil.exe", b"MZ")]), Refused(TYPE)),
        ("an archive that claims to be HTML", "a.odt", html, Refused(TYPE)),
        ("a document as an OpenDocument text", "a.odt", docx(), Refused(TYPE)),
        ("a document as a table", "a.xlsx", docx(), Refused(TYPE)),
        ("a document with macros", "a.docx", macros, Refused(TYPE)),
        ("an OpenDocument text as a document", "a.docx", odt, Refused(TYPE)),
        ("a table with macros", "a.xls", ooxml("ms-excel.sheet.macroEnabled.main+xml"), Refused(TYPE)),
        (
            "a presentation with macros",
            "a.ppt",
            ooxml("ms-powerpoint.presentation.macroEnabled.main+xml"),
            Refused(TYPE),
        ),
        ("a list that grows", "a.docx", zip_bomb(), Refused(TYPE)),
        ("an OLE signature alone", "a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), Refused(TYPE)),
        ("a text as a document", "a.doc", b"text".to_vec(), Refused(TYPE)),
        ("an archive", "a.zip", archive(&[("a", b"a")]), Refused(EXTENSION)),
        ("SVG", "a.svg", SVG.to_vec(), Refused(EXTENSION)),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_file_is_decides_and_not_what_it_says() {
    for place in places().await {
        let (proposal, city) = (place.service.id("proposal", "p1"), place.service.id("organization", "city"));
        for row in for_participants() {
            check(&place, "proposals", proposal, row).await;
        }
        for row in for_administrators() {
            check(&place, "organization", city, row).await;
        }
        place.assert_sound().await;
    }
}

async fn check(place: &Place, kind: &str, id: i64, (what, name, bytes, expected): Row) {
    let sent = bytes.len();
    let reply = place.attach_to(kind, id, &[file(name.as_bytes(), &bytes)]).await;
    let reason = format!("{what} {name}: {reply:?}");
    let (content_type, disposition) = match expected {
        Refused(code) => {
            assert_eq!((reply.status, reply.reason().as_str()), (400, code), "{reason}");
            place.assert_contained(what).await;
            return;
        }
        Shown(content_type) => (content_type, "inline"),
        Downloaded(content_type) => (content_type, "attachment"),
    };
    assert_eq!(reply.status, 201, "{reason}");
    assert_eq!(reply.json()["data"]["attributes"]["content_type"], content_type, "{reason}");
    let served = place.fetch(&url_of(&reply)).await;
    assert_eq!((served.status, served.header("content-type")), (200, content_type), "{reason}");
    assert_eq!(served.header("x-content-type-options"), "nosniff", "{reason}");
    assert_eq!(served.header("content-security-policy"), "default-src 'none'; sandbox", "{reason}");
    let expected = format!("{disposition}; filename*=UTF-8''{name}");
    assert_eq!(served.header("content-disposition"), expected, "{reason}");
    let is_image = content_type.starts_with("image/");
    assert!(is_image || (served.body == bytes && served.body.len() == sent), "{reason}");
    assert!(!is_image || !served.body.windows(4).any(|window| window == b"EVIL"), "{reason}");
    place.assert_contained(what).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photograph_is_served_without_the_place_where_it_was_taken() {
    for place in engines(Kind::Bucket).await {
        let photograph = photograph();
        assert!(String::from_utf8_lossy(&photograph).contains(SECRET));
        let reply = place.attach(&[file(b"a.jpg", &photograph)]).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        let thumbnail = crate::uploads::place::path_of(&reply.json()["data"]["attributes"]["thumbnail_url"]);
        for path in [url_of(&reply), thumbnail] {
            let served = place.fetch(&path).await;
            assert_eq!((served.status, served.header("content-type")), (200, "image/jpeg"));
            let text = String::from_utf8_lossy(&served.body);
            assert!(!text.contains(SECRET) && !text.contains("Exif"), "{path}");
            let image = image::load_from_memory(&served.body).unwrap();
            assert_eq!((image.width(), image.height()), (30, 40), "turned, as the metadata said");
        }
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thumbnail_is_at_most_237_pixels_high_and_never_larger_than_its_image() {
    for place in engines(Kind::Directory).await {
        for (format, name, sizes) in [
            (ImageFormat::Png, "a.png", ((600, 474), (300, 237))),
            (ImageFormat::Jpeg, "a.jpg", ((100, 237), (100, 237))),
            (ImageFormat::WebP, "a.webp", ((20, 10), (20, 10))),
            (ImageFormat::Png, "a.png", ((1, 4000), (1, 237))),
        ] {
            let ((width, height), expected) = sizes;
            let reply = place.attach(&[file(name.as_bytes(), &picture(format, width, height))]).await;
            let path = crate::uploads::place::path_of(&reply.json()["data"]["attributes"]["thumbnail_url"]);
            assert!(path.contains("/thumbnail/"), "{path}");
            let served = place.fetch(&path).await;
            assert_eq!((served.status, served.header("content-type")), (200, format.to_mime_type()));
            let image = image::load_from_memory_with_format(&served.body, format).unwrap();
            assert_eq!((image.width(), image.height()), expected, "{name} {width}x{height}");
        }
        let reply = place.attach(&[file(b"a.txt", b"text")]).await;
        assert!(reply.json()["data"]["attributes"]["thumbnail_url"].is_null(), "{reply:?}");
        let thumbnail = url_of(&reply).replace("/a.txt", "/thumbnail/a.txt");
        assert_eq!(place.fetch(&thumbnail).await.status, 404);
        place.assert_sound().await;
    }
}
