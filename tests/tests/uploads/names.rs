//! Names of files that try to be something else.

use crate::uploads::place::{places, url_of};
use crate::uploads::wire::{field, file, part};

/// What the name is, the name as it is sent, and its name in the address; `None`: the form or the name is refused.
type Row = (&'static str, Vec<u8>, Option<String>);

fn rows() -> Vec<Row> {
    let row = |what, sent: &str, stored: Option<&str>| -> Row {
        (what, sent.as_bytes().to_vec(), stored.map(str::to_owned))
    };
    let mut rows = vec![
        row("above the directory", "../../../etc/passwd.txt", Some("passwd.txt")),
        row("absolute", "/etc/cron.d/evil.txt", Some("evil.txt")),
        row("a path of Windows", r"C:\\Windows\\evil.txt", Some("evil.txt")),
        row("above with backslashes", r"..\\..\\evil.txt", Some("evil.txt")),
        row("both separators", r"..\\../a/..\\evil.txt", Some("evil.txt")),
        row("an encoded path", "..%2f..%2fevil.txt", Some("..%252f..%252fevil.txt")),
        row("encoded line ends", "a%0d%0aSet-Cookie: b.txt", Some("a%250d%250aSet-Cookie%3A%20b.txt")),
        row("an encoded NUL", "a.txt%00.txt", Some("a.txt%2500.txt")),
        row("a quote", "a\\\"; x=\\\"b.txt", Some("a%22%3B%20x%3D%22b.txt")),
        row("another direction", "photo\u{202e}gpj.txt", Some("photogpj.txt")),
        row("marks without width", "a\u{200b}b\u{feff}\u{2066}.txt", Some("ab.txt")),
        row("characters of other scripts", "план é.txt", Some("%D0%BF%D0%BB%D0%B0%D0%BD%20%C3%A9.txt")),
        row("markup", "<img src=x>.txt", Some("%3Cimg%20src%3Dx%3E.txt")),
        row("a query", "a?b#c&d.txt", Some("a%3Fb%23c%26d.txt")),
        row("reserved by Windows", "CON.txt", Some("CON.txt")),
        row("reserved too", "NUL.pdf.txt", Some("NUL.pdf.txt")),
        row("a stream of Windows", "a.txt::$DATA", None),
        row("hidden", ".htaccess.txt", Some(".htaccess.txt")),
        row("capital letters", "A.TXT", Some("A.TXT")),
        row("spaces around", "  a.txt  ", Some("a.txt")),
        row("two extensions", "a.php.txt", Some("a.php.txt")),
        row("the other last", "a.txt.php", None),
        row("a dot at the end", "a.txt.", None),
        row("only an extension", ".txt", None),
        row("one dot", ".", None),
        row("two dots", "..", None),
        row("a directory", "a.txt/", None),
        row("nothing", "", None),
        row("control characters", "a\u{85}\u{9b}b.txt", Some("ab.txt")),
    ];
    let long = |letter: &str, count, kept| {
        let name = format!("{}.txt", letter.repeat(count));
        (name.into_bytes(), Some(format!("{}.txt", percent(letter).repeat(kept))))
    };
    let ((ascii, kept), (accents, kept_accents)) = (long("x", 300, 251), long("é", 300, 125));
    rows.push(("300 bytes", ascii, kept));
    rows.push(("300 characters of two bytes", accents, kept_accents));
    rows.push(("a NUL", b"a\0.txt".to_vec(), None));
    rows.push(("a line end", b"a\r\nX-Evil: 1\r\n.txt".to_vec(), None));
    rows.push(("the end of the head", b"a\r\n\r\n.txt".to_vec(), None));
    rows.push(("bytes that are no text", b"\xff\xfe.txt".to_vec(), None));
    rows
}

/// The letter in an address: an ASCII letter or `é`.
fn percent(letter: &str) -> String {
    if letter.is_ascii() { letter.to_owned() } else { "%C3%A9".to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_only_shown() {
    for place in places().await {
        for (what, sent, expected) in rows() {
            let reply = place.attach(&[file(&sent, b"some text\n")]).await;
            let Some(name) = expected else {
                assert_eq!(reply.status, 400, "{what}: {reply:?}");
                place.assert_contained(what).await;
                continue;
            };
            assert_eq!(reply.status, 201, "{what}: {reply:?}");
            let path = url_of(&reply);
            assert_eq!(path.rsplit('/').next(), Some(name.as_str()), "{what}");
            let served = place.fetch(&path).await;
            assert_eq!((served.status, served.body.as_slice()), (200, &b"some text\n"[..]), "{what}");
            let disposition = format!("attachment; filename*=UTF-8''{name}");
            assert_eq!(served.header("content-disposition"), disposition, "{what}");
            assert!(served.header("x-evil").is_empty() && served.header("set-cookie").is_empty(), "{what}");
            place.assert_contained(what).await;
        }
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extended_name_is_preferred() {
    for place in crate::uploads::place::engines(crate::uploads::place::Kind::Directory).await {
        for (names, expected) in [
            ("filename=\"a.exe\"; filename*=UTF-8''pl%C3%A4n.txt", Some("pl%C3%A4n.txt")),
            ("filename*=UTF-8''..%2F..%2Fevil.txt", Some("evil.txt")),
            ("filename*=UTF-8''a%00.txt", Some("a.txt")),
            ("filename=\"a.txt\"; filename*=UTF-8''a.exe", None),
        ] {
            let head = format!("Content-Disposition: form-data; name=\"file\"; {names}");
            let reply = place.attach(&[part(head.as_bytes(), b"some text\n")]).await;
            assert_eq!(reply.status, if expected.is_some() { 201 } else { 400 }, "{names}: {reply:?}");
            if let Some(name) = expected {
                assert_eq!(url_of(&reply).rsplit('/').next(), Some(name), "{names}");
            }
        }
        let reply = place.attach(&[field("file", "no name")]).await;
        assert_eq!((reply.status, reply.reason().as_str()), (400, "blank"));
        place.assert_sound().await;
    }
}
