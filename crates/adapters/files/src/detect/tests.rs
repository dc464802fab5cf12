use super::*;
use crate::tests::{archive, compound, content, picture};
use image::ImageFormat;
use proptest::prelude::*;

fn detected(bytes: &[u8]) -> String {
    let content = content(bytes);
    match detect(&content.file, content.byte_size).unwrap() {
        DetectedType::Image(format) => format.to_mime_type().to_owned(),
        DetectedType::Other(content_type) => content_type,
    }
}

fn content_types(main: &str) -> String {
    format!(
        r#"<?xml version="1.0"?><Types><Default Extension="xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/><Override PartName="/main.xml" ContentType="application/{main}"/></Types>"#
    )
}

#[test]
fn signatures_at_the_first_byte_decide() {
    for (bytes, expected) in [
        (&b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"[..], "application/pdf"),
        (b" %PDF-1.7\n", "application/pdf"),
        (b"\0%PDF-1.7\n", "application/pdf"),
        (b"\xef\xbb\xbf%PDF-1.7\n%\xe2\xe3\xcf\xd3\0", "application/pdf"),
        (b"\x1b%-12345X@PJL\r\n%PDF-1.4\n\0", "application/pdf"),
        (b"<script>%PDF-1.7", "text/html"),
        (b"#!/bin/sh\n%PDF-1.7", "text/x-shellscript"),
        (b"MZ\x90\0\x03\0%PDF-1.7", "application/vnd.microsoft.portable-executable"),
        (b"\xff\xd8\xff%PDF-1.7", "image/jpeg"),
        (b"GIF89a/*<script>*/", "image/gif"),
        (b"GIF is a format", "text/plain"),
        (b"BMW is a brand", "text/plain"),
        (b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0", "image/bmp"),
        (b"{\\rtf1\\ansi hello}", "application/rtf"),
        (b"\xef\xbb\xbf{\\rtf1\\ansi hello}", "application/rtf"),
        (b"\r\n{\\rtf1\\ansi hello}", "application/rtf"),
        (b"a {\\rtf1\\ansi hello}", "text/plain"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"\xff\xd8\0", UNKNOWN),
        (b"\x89PNG\r\n\x1a", UNKNOWN),
        (b"XXXX\0\0\0\0WEBP", UNKNOWN),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "application/x-executable"),
        (b"MZ\x90\0\x03\0", "application/vnd.microsoft.portable-executable"),
        (b"", UNKNOWN),
        (b"\0", UNKNOWN),
    ] {
        assert_eq!(detected(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
    }
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        assert_eq!(detected(&picture(format, 4, 4)), format.to_mime_type());
    }
}

#[test]
fn the_header_of_a_pdf_is_within_the_first_1024_bytes() {
    for (before, expected) in [(1019, "application/pdf"), (1020, "text/plain")] {
        assert_eq!(detected(&[&b"\n".repeat(before)[..], b"%PDF-1.7\n"].concat()), expected, "{before}");
    }
}

#[test]
fn text_in_utf_16_needs_its_mark() {
    let encoded = |text: &str, to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    };
    for to_bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        for (text, expected) in [
            ("\u{feff}Grüße, 𝄞\r\n\t€", "text/plain"),
            ("\u{feff}", "text/plain"),
            ("\u{feff}hello <script>alert(1)</script>", "text/html"),
            ("\u{feff}<svg/>", "application/xml"),
            ("\u{feff}a bell \u{7}", UNKNOWN),
            ("\u{feff}\0", UNKNOWN),
            ("without its mark", UNKNOWN),
        ] {
            assert_eq!(detected(&encoded(text, to_bytes)), expected, "{text:?}");
        }
        for before in 32_765..32_769 {
            let text = format!("\u{feff}{}𝄞", "a".repeat(before));
            let bytes = encoded(&text, to_bytes);
            assert_eq!(detected(&bytes), "text/plain", "{before}");
            assert_eq!(detected(&bytes[..bytes.len() - 1]), UNKNOWN, "half a unit, {before}");
            assert_eq!(detected(&bytes[..bytes.len() - 2]), UNKNOWN, "half a character, {before}");
        }
    }
}

#[test]
fn text_is_plain_unless_it_is_markup_or_a_script() {
    for (text, expected) in [
        (&b"hello world\n"[..], "text/plain"),
        ("Grüße,\r\n\tein Text\x0c".as_bytes(), "text/plain"),
        (b"\xef\xbb\xbfwith a mark", "text/plain"),
        (b"Gr\xfc\xdfe in Latin-1, \x80 100", "text/plain"),
        (b"1 < 2 and a <b> in the text", "text/plain"),
        (b"a;b\n1;2\n", "text/plain"),
        (b"undefined \x81 character", UNKNOWN),
        (b"a bell \x07", UNKNOWN),
        (b"an escape \x1b[0m", UNKNOWN),
        (b"#!/bin/sh\n", "text/x-shellscript"),
        (b"\n  <!DOCTYPE html><p>x", "text/html"),
        (b"hello <ScRiPt>alert(1)</script>", "text/html"),
        (b"<p >x", "text/html"),
        (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "application/xml"),
        (b"<?xml version=\"1.0\"?><svg/>", "application/xml"),
        (b"\xef\xbb\xbf <?xml version=\"1.0\"?><a/>", "application/xml"),
        (b"<!-- x --><svg/>", "text/html"),
        (b"text, then <svg onload=x>", "application/xml"),
        (b"%!PS-Adobe-3.0", "application/postscript"),
    ] {
        assert_eq!(detected(text), expected, "{:?}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_character_may_be_cut_by_a_block() {
    for begin in 65_530..65_540 {
        let mut text = vec![b'a'; begin];
        text.extend("€𝄞ä\u{81}".as_bytes());
        assert_eq!(detected(&text), "text/plain", "{begin}");
        text.truncate(text.len() - 1);
        assert_eq!(detected(&[&text[..], b"\x81\x81"].concat()), UNKNOWN, "{begin}");
        text.push(0);
        assert_eq!(detected(&text), UNKNOWN, "{begin}");
    }
}

#[test]
fn office_documents_are_detected_by_their_main_part() {
    let standard = "vnd.openxmlformats-officedocument.";
    for (main, expected) in [
        ("wordprocessingml.document", "wordprocessingml.document"),
        ("wordprocessingml.template", "wordprocessingml.template"),
        ("spreadsheetml.sheet", "spreadsheetml.sheet"),
        ("spreadsheetml.template", "spreadsheetml.template"),
        ("presentationml.presentation", "presentationml.presentation"),
        ("presentationml.slideshow", "presentationml.slideshow"),
    ] {
        let types = content_types(&format!("{standard}{main}.main+xml"));
        let bytes = archive(&[("[Content_Types].xml", types.as_bytes()), ("main.xml", b"<a/>")]);
        assert_eq!(detected(&bytes), format!("application/{standard}{expected}"));
    }
    let types = content_types("vnd.ms-word.document.macroEnabled.main+xml");
    let bytes = archive(&[("[Content_Types].xml", types.as_bytes())]);
    assert_eq!(detected(&bytes), "application/vnd.ms-word.document.macroenabled.12");
    let types = content_types("vnd.ms-word.template.macroEnabledTemplate.main+xml");
    let bytes = archive(&[("[Content_Types].xml", types.as_bytes())]);
    assert_eq!(detected(&bytes), "application/vnd.ms-word.template.macroenabled.12");
    assert_eq!(detected(&archive(&[("[Content_Types].xml", b"<Types/>")])), "application/zip");
    assert_eq!(detected(&archive(&[("word/document.xml", b"<a/>")])), "application/zip");
}

#[test]
fn open_documents_are_detected_by_their_mimetype() {
    for kind in
        ["text", "text-template", "formula", "graphics", "graphics-template", "spreadsheet", "presentation"]
    {
        let named = format!("application/vnd.oasis.opendocument.{kind}");
        assert_eq!(detected(&archive(&[("mimetype", named.as_bytes()), ("content.xml", b"<a/>")])), named);
    }
    for other in
        ["image/png", "application/vnd.oasis.opendocument.", "application/vnd.oasis.opendocument.a/b", ""]
    {
        assert_eq!(detected(&archive(&[("mimetype", other.as_bytes())])), "application/zip", "{other}");
    }
}

#[test]
fn bombs_and_damaged_archives_are_plain_archives() {
    let zeros = vec![0; 8 << 20];
    let inside_list = archive(&[("[Content_Types].xml", &zeros)]);
    assert!(inside_list.len() < 100_000);
    assert_eq!(detected(&inside_list), "application/zip");
    assert_eq!(detected(&archive(&[("mimetype", &zeros)])), "application/zip");
    let names: Vec<String> = (0..9000).map(|n| n.to_string()).collect();
    let many: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), &b""[..]))
        .chain([("mimetype", &b"application/epub+zip"[..])])
        .collect();
    assert_eq!(detected(&archive(&many)), "application/zip");
    assert_eq!(detected(&archive(&many[8990..])), "application/epub+zip");
    assert_eq!(detected(b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "application/zip");
    assert_eq!(detected(&archive(&[])), "application/zip");
    let epub = archive(&[("mimetype", b"application/epub+zip")]);
    for length in 4..epub.len() {
        assert_eq!(detected(&epub[..length]), "application/zip", "{length}");
    }
    assert_eq!(detected(&[b"PK\x03\x04", &epub[..]].concat()), "application/zip");
}

#[test]
fn old_office_documents_are_detected_by_the_streams_of_the_root() {
    for (streams, expected) in [
        (&["/WordDocument", "/1Table"][..], "application/msword"),
        (&["/Workbook"], "application/vnd.ms-excel"),
        (&["/Book"], "application/vnd.ms-excel"),
        (&["/PowerPoint Document", "/Pictures"], "application/vnd.ms-powerpoint"),
        (&["/Other"], "application/x-ole-storage"),
        (&[], "application/x-ole-storage"),
    ] {
        assert_eq!(detected(&compound(&[], streams)), expected, "{streams:?}");
    }
    let embedded = compound(&["/ObjectPool", "/ObjectPool/1"], &["/ObjectPool/1/WordDocument", "/Workbook"]);
    assert_eq!(detected(&embedded), "application/vnd.ms-excel");
    assert_eq!(detected(&compound(&["/a"], &["/a/WordDocument"])), "application/x-ole-storage");
    let many: Vec<String> = (0..300).map(|n| format!("/s{n}")).chain(["/WordDocument".to_owned()]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(detected(&compound(&[], &many)), "application/msword");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_have_a_type(begin in 0usize..6, bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let begins: [&[u8]; 6] = [b"", ole::SIGNATURE, b"PK\x03\x04", b"%PDF-", b"<", b"RIFF"];
        let found = detected(&[begins[begin], &bytes].concat());
        prop_assert!(found.len() <= 100 && found.contains('/') && found == found.to_ascii_lowercase());
    }

    #[test]
    fn damaged_documents_have_a_type(which in 0usize..3, changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..12)) {
        let samples = [
            compound(&["/a"], &["/WordDocument", "/a/b"]),
            archive(&[("mimetype", b"application/vnd.oasis.opendocument.text"), ("b", b"x")]),
            archive(&[("[Content_Types].xml", content_types("x").as_bytes())]),
        ];
        let mut bytes = samples[which].clone();
        for (at, value) in changes {
            let length = bytes.len();
            bytes[usize::from(at) % length] = value;
        }
        prop_assert!(detected(&bytes).contains('/'));
    }
}
