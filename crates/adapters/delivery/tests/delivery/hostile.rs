//! Callback addresses that lead into the network of the server (contract 09 C.5): none opens a connection.

use crate::receiver::{Receiver, Reply, Seen};
use crate::{TIMEOUTS, Table, answered, attempt, loopback};
use civitas_delivery::HttpWebhookSender;
use civitas_kernel::{Error, EventName, Result, Scopes};
use civitas_webhooks::{
    CheckedRegistration, ReceiverRights, RegistrationRules, SendErrorKind, SentRegistration, TargetPolicy,
    TargetResolver,
};
use rustls::RootCertStore;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::sleep;

/// Names, and the addresses of one answer after the other.
const NAMES: &[(&str, &[&[&str]])] = &[
    ("public.example", &[&["8.8.8.8"]]),
    ("loop.example", &[&["127.0.0.1"]]),
    ("loop6.example", &[&["::1"]]),
    ("zero.example", &[&["0.0.0.0"]]),
    ("lan.example", &[&["10.0.0.1"]]),
    ("link.example", &[&["169.254.169.254"]]),
    ("link6.example", &[&["fe80::1"]]),
    ("unique.example", &[&["fd00::1"]]),
    ("mapped.example", &[&["::ffff:127.0.0.1"]]),
    ("compatible.example", &[&["::127.0.0.1"]]),
    ("translated.example", &[&["::ffff:0:127.0.0.1"]]),
    ("nat64.example", &[&["64:ff9b::7f00:1"]]),
    ("6to4.example", &[&["2002:7f00:1::1"]]),
    ("mixed.example", &[&["8.8.8.8", "127.0.0.1"]]),
    ("mixed6.example", &[&["2606:4700::1111", "8.8.8.8", "::1"]]),
    ("xn--bcher-kva.example", &[&["127.0.0.1"]]),
    ("127.0.0.1.nip.example", &[&["127.0.0.1"]]),
    ("localhost", &[&["8.8.8.8"]]),
    ("a.localhost", &[&["8.8.8.8"]]),
    ("localhost.localdomain", &[&["127.0.0.1"]]),
    ("ip6-localhost", &[&["::1"]]),
    ("printer.local", &[&["8.8.8.8"]]),
    ("metadata.internal", &[&["8.8.8.8"]]),
];

/// A change between registration and attempt, or between two attempts.
const REBINDING: &[(&str, &[&[&str]])] = &[
    ("rebind.example", &[&["8.8.8.8"], &["127.0.0.1"]]),
    ("rebind6.example", &[&["2606:4700::1111"], &["::1"]]),
    ("mixed.example", &[&["8.8.8.8"], &["8.8.8.8", "127.0.0.1"]]),
    ("new.example", &[&[], &["127.0.0.1"]]),
    ("mapped.example", &[&["8.8.8.8"], &["::ffff:127.0.0.1"]]),
];

/// Addresses whose form is not valid. `{p}` is the port of the listener.
const INVALID: &[&str] = &[
    "http://user@127.0.0.1:{p}/",
    "http://public.example@127.0.0.1:{p}/",
    "http://public.example:80@127.0.0.1:{p}/",
    "http://127.0.0.1:{p}@public.example/",
    "http://public.example%40127.0.0.1:{p}/",
    "http://public.example#@127.0.0.1:{p}/",
    "http://127.0.0.1:{p}/#x",
    "http://127.0.0.1:{p}\\@public.example/",
    "http:\\\\127.0.0.1:{p}/",
    "http:127.0.0.1:{p}/",
    "http:/127.0.0.1:{p}/",
    "http:///127.0.0.1:{p}/",
    "//127.0.0.1:{p}/",
    "ht\ntp://127.0.0.1:{p}/",
    "http://127.0.\t0.1:{p}/",
    " http://127.0.0.1:{p}/",
    "http://[fe80::1%25lo]:{p}/",
    "http://[::1%lo]:{p}/",
    "http://[::1:{p}/",
    "http://[127.0.0.1]:{p}/",
    "http://256.0.0.1:{p}/",
    "http://127.0.0.0.1:{p}/",
    "http://1.2.3.08:{p}/",
    "http://4294967296:{p}/",
    "http://0x100000000:{p}/",
    "http://public.example..:{p}/",
    "http://.public.example:{p}/",
    "http://public..example:{p}/",
    "http://loop.example%00.public.example:{p}/",
    "http://loop.example%2epublic.example%2f:{p}/",
    "http://{loop}.example:{p}/",
    "http://loop\".example:{p}/",
    "http://loop'.example:{p}/",
    "http://*.example:{p}/",
    "http://xn--:{p}/",
    "ftp://127.0.0.1:{p}/",
    "gopher://127.0.0.1:{p}/",
    "file://127.0.0.1/etc/passwd",
    "unix:/run/civitas.sock",
    "http+unix://127.0.0.1:{p}/",
    "ws://127.0.0.1:{p}/",
    "http://127.0.0.1:{p}1234/",
];

/// Addresses whose form is valid, and whose host or port is not public.
const FORBIDDEN: &[&str] = &[
    "http://127.0.0.1:{p}/",
    "HTTP://127.0.0.1:{p}/",
    "https://127.0.0.1:{p}/",
    "http://127.0.0.1.:{p}/",
    "http://127.1:{p}/",
    "http://127.0.1:{p}/",
    "http://127.255.255.254:{p}/",
    "http://2130706433:{p}/",
    "http://017700000001:{p}/",
    "http://0177.0.0.1:{p}/",
    "http://0177.0.0.0x1:{p}/",
    "http://0x7f000001:{p}/",
    "http://0X7F.0.0.1:{p}/",
    "http://0x7f.1:{p}/",
    "http://00000177.0.0.1:{p}/",
    "http://%31%32%37.0.0.1:{p}/",
    "http://127%2e0%2e0%2e1:{p}/",
    "http://%6c%6f%63%61%6c%68%6f%73%74:{p}/",
    "http://１２７.0.0.1:{p}/",
    "http://①②⑦.0.0.1:{p}/",
    "http://127。0。0。1:{p}/",
    "http://127．0．0．1:{p}/",
    "http://127｡0｡0｡1:{p}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{p}/",
    "http://ｌｏｃａｌｈｏｓｔ:{p}/",
    "http://loc\u{AD}alhost:{p}/",
    "http://0:{p}/",
    "http://0.0.0.0:{p}/",
    "http://0.1.2.3:{p}/",
    "http://[::]:{p}/",
    "http://[::1]:{p}/",
    "http://[0:0:0:0:0:0:0:1]:{p}/",
    "http://[0000:0000::0001]:{p}/",
    "http://[::ffff:127.0.0.1]:{p}/",
    "http://[::FFFF:7F00:1]:{p}/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{p}/",
    "http://[::127.0.0.1]:{p}/",
    "http://[::ffff:0:127.0.0.1]:{p}/",
    "http://[64:ff9b::127.0.0.1]:{p}/",
    "http://[64:ff9b:1::127.0.0.1]:{p}/",
    "http://[2002:7f00:1::]:{p}/",
    "http://[2001:0:7f00:1::]:{p}/",
    "http://[fe80::1]:{p}/",
    "http://[fd00::2]:{p}/",
    "http://[fec0::1]:{p}/",
    "http://[ff02::1]:{p}/",
    "http://[2001:db8::1]:{p}/",
    "http://10.0.0.1:{p}/",
    "http://172.31.255.255:{p}/",
    "http://192.168.0.1:{p}/",
    "http://100.64.0.1:{p}/",
    "http://169.254.169.254:{p}/latest/meta-data/",
    "http://192.0.2.2:{p}/",
    "http://198.18.0.1:{p}/",
    "http://224.0.0.1:{p}/",
    "http://255.255.255.255:{p}/",
    "http://localhost:{p}/",
    "http://LOCALHOST:{p}/",
    "http://localhost.:{p}/",
    "http://a.localhost:{p}/",
    "http://A.LocalHost.:{p}/",
    "http://localhost.localdomain:{p}/",
    "http://ip6-localhost:{p}/",
    "http://printer.local:{p}/",
    "http://metadata.internal:{p}/",
    "http://loop.example:{p}/",
    "http://LOOP.Example:{p}/",
    "http://loop.example.:{p}/",
    "http://loop6.example:{p}/",
    "http://zero.example:{p}/",
    "http://lan.example:{p}/",
    "http://link.example:{p}/",
    "http://link6.example:{p}/",
    "http://unique.example:{p}/",
    "http://mapped.example:{p}/",
    "http://compatible.example:{p}/",
    "http://translated.example:{p}/",
    "http://nat64.example:{p}/",
    "http://6to4.example:{p}/",
    "http://mixed.example:{p}/",
    "http://mixed6.example:{p}/",
    "http://127.0.0.1.nip.example:{p}/",
    "http://bücher.example:{p}/",
    "http://BÜCHER.example:{p}/",
    "http://xn--bcher-kva.example:{p}/",
    "http://public.example:22/",
    "http://public.example:25/",
    "http://public.example:0/",
    "http://public.example:1023/",
    "https://public.example:6/",
    "http://8.8.8.8:22/",
];

/// A listener on all IPv4 addresses of this machine and on `[::1]`, with one port.
async fn listen() -> (u16, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let reply = Reply::status(204, "", b"");
    let first = Receiver::on("0.0.0.0:0", reply.clone(), seen.clone()).await;
    let port = first.address.port();
    assert!(port >= 1024, "only the rule of addresses stops a connection");
    Receiver::on(&format!("[::1]:{port}"), reply, seen.clone()).await;
    (port, seen)
}

async fn nothing_arrived(seen: &Seen) {
    sleep(Duration::from_millis(100)).await;
    assert_eq!(seen.connections.load(Ordering::SeqCst), 0);
}

fn with(policy: TargetPolicy, resolver: Arc<dyn TargetResolver>) -> HttpWebhookSender {
    HttpWebhookSender::with_timeouts(policy, resolver, TIMEOUTS, RootCertStore::empty()).unwrap()
}

async fn register(
    policy: &TargetPolicy,
    resolver: &dyn TargetResolver,
    url: &str,
) -> Result<CheckedRegistration> {
    let rights = ReceiverRights {
        scopes: Scopes::read("oauth"),
        permissions: [EventName::UserCreated].into_iter().collect(),
    };
    let sent = SentRegistration { url: Some(json!(url)), subscriptions: Some(json!(["user.created"])) };
    RegistrationRules { policy, resolver }.check(rights, &sent, async |_| Ok(false)).await
}

/// The code with which a registration is refused.
async fn refusal(resolver: &dyn TargetResolver, url: &str) -> String {
    let checked = register(&TargetPolicy::default(), resolver, url).await;
    let Err(Error::Invalid { fields, .. }) = checked else { panic!("{url}: {checked:?}") };
    assert_eq!((fields.len(), fields[0].field.as_ref()), (1, "url"), "{url}");
    fields[0].code.to_string()
}

/// The error of an attempt.
async fn kind(sender: &HttpWebhookSender, url: &str) -> Option<SendErrorKind> {
    attempt(sender, url).await.result.err().map(|error| error.kind)
}

#[tokio::test]
async fn hostile_addresses_are_refused_at_registration_and_at_an_attempt() {
    let (port, seen) = listen().await;
    let resolver = Table::of(NAMES);
    let sender = with(TargetPolicy::default(), resolver.clone());
    let (mut refused, mut wrong) = (0, Vec::new());
    for (urls, code) in [(INVALID, "invalid"), (FORBIDDEN, "forbidden")] {
        for url in urls {
            let url = url.replace("{p}", &port.to_string());
            let at_registration = refusal(&*resolver, &url).await;
            let at_attempt = kind(&sender, &url).await;
            if (at_registration.as_str(), at_attempt) == (code, Some(SendErrorKind::Refused)) {
                refused += 1;
            } else {
                wrong.push((url, at_registration, at_attempt));
            }
        }
    }
    assert!(wrong.is_empty() && refused >= 120, "{refused} refused, but: {wrong:#?}");
    nothing_arrived(&seen).await;
}

#[tokio::test]
async fn a_name_that_changes_its_address_after_registration_is_refused() {
    let (port, seen) = listen().await;
    for (name, _) in REBINDING {
        let resolver = Table::of(REBINDING);
        let url = format!("http://{name}:{port}/");
        assert!(register(&TargetPolicy::default(), &*resolver, &url).await.is_ok(), "{url}");
        let sender = with(TargetPolicy::default(), resolver);
        for _ in 0..3 {
            assert_eq!(kind(&sender, &url).await, Some(SendErrorKind::Refused), "{url}");
        }
    }
    nothing_arrived(&seen).await;
}

#[tokio::test]
async fn a_name_is_resolved_once_for_a_connection_and_the_checked_address_is_used() {
    let (port, seen) = listen().await;
    let policy = TargetPolicy { allowed: vec!["127.0.0.2/32".parse().unwrap()] };
    let resolver = Table::of(&[("hooks.example", &[&["127.0.0.2"], &["127.0.0.1"]])]);
    let sender = with(policy, resolver);
    let url = format!("http://hooks.example:{port}/");
    assert_eq!(answered(&sender, &url).await.status, 204);
    assert_eq!(seen.requests.lock().unwrap().len(), 1);
    // Another port is another connection: the name has another address now.
    let url = format!("http://hooks.example:{}/", port ^ 1);
    assert_eq!(kind(&sender, &url).await, Some(SendErrorKind::Refused));
    assert_eq!(seen.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_redirect_to_this_machine_is_not_followed() {
    let (port, seen) = listen().await;
    // The receiver that redirects is in an allowed network, the target of the redirect is not.
    let location = format!("Location: http://127.0.0.1:{port}/\r\n");
    let receiver = Receiver::on("127.0.0.3:0", Reply::status(307, &location, b""), Arc::default()).await;
    let policy = TargetPolicy { allowed: vec!["127.0.0.3/32".parse().unwrap()] };
    let sender = with(policy, Table::of(&[]));
    assert_eq!(answered(&sender, &receiver.url()).await.status, 307);
    nothing_arrived(&seen).await;
}

#[tokio::test]
async fn an_allowed_network_is_reached_in_every_notation() {
    let (port, seen) = listen().await;
    let resolver = Table::of(&[
        ("localhost", &[&["127.0.0.1"]]),
        ("db.internal", &[&["127.0.0.1"]]),
        ("loop.example", &[&["127.0.0.1"]]),
        ("mapped.example", &[&["::ffff:127.0.0.1"]]),
        ("both.example", &[&["127.0.0.1", "::1"]]),
        ("mixed.example", &[&["127.0.0.1", "10.0.0.1"]]),
    ]);
    let sender = with(loopback(), resolver.clone());
    let mut count = 0;
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "db.internal",
        "loop.example",
        "LOOP.example.",
        "mapped.example",
        "both.example",
    ] {
        let url = format!("http://{host}:{port}/");
        assert!(register(&loopback(), &*resolver, &url).await.is_ok(), "{url}");
        assert_eq!(answered(&sender, &url).await.status, 204, "{url}");
        count += 1;
        assert_eq!(seen.requests.lock().unwrap().len(), count, "{url}");
    }
    for host in ["mixed.example", "10.0.0.1", "0.0.0.0", "[64:ff9b::7f00:1]", "[::127.0.0.1]"] {
        let url = format!("http://{host}:{port}/");
        assert!(register(&loopback(), &*resolver, &url).await.is_err(), "{url}");
        assert_eq!(kind(&sender, &url).await, Some(SendErrorKind::Refused), "{url}");
    }
    assert_eq!(seen.requests.lock().unwrap().len(), count);
}

#[tokio::test]
async fn an_allowed_network_lifts_the_rule_of_ports() {
    // No server of this machine listens on port 1, so that an attempt gets to the connection.
    let sender = with(loopback(), Table::of(&[("loop.example", &[&["127.0.0.1"]])]));
    for url in ["http://127.0.0.1:1/", "http://loop.example:1/"] {
        assert_eq!(kind(&sender, url).await, Some(SendErrorKind::Connection), "{url}");
    }
}
