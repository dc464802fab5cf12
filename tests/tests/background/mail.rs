//! Mails by SMTP, with a test server.

use civitas_accounts::{Mail, MailKind, MailSender, Mailer, Secret, User};
use civitas_kernel::{Error, Locale, TaskId, clock, sortable_id};
use civitas_mail::{LogMailer, SmtpMailer, is_sender, is_server};
use civitas_tests::mail_server::MailServer;
use std::time::Duration;
use tokio::net::TcpListener;

const NORA: &str = "nora@city.example";
const LINK: &str = "https://city.example/confirmation/abc";

fn mail(locale: Locale) -> Mail {
    let nora = User::new("norablum".into(), NORA.into(), "Nora \"Blüm\"".into(), clock::now());
    let head = MailSender { organization: "Riverton", locale };
    MailKind::Confirmation.write(TaskId(sortable_id()), head, (&nora).into(), Secret::new(LINK))
}

fn smtp(mails_received: &MailServer, sender: &str) -> SmtpMailer {
    SmtpMailer::new(&mails_received.url(""), sender).unwrap()
}

#[tokio::test]
async fn a_mail_arrives_as_it_was_written() {
    let mails_received = MailServer::open().await;
    let mail = mail(Locale::ES);
    smtp(&mails_received, "no-reply@city.example").send(&mail).await.unwrap();
    let received = mails_received.wait_for(NORA, 1).await.remove(0);
    assert_eq!(received.from, "no-reply@city.example");
    assert_eq!(received.header("From"), "Riverton <no-reply@city.example>");
    assert!(received.header("To").ends_with("<nora@city.example>"), "{:?}", received.headers);
    assert!(received.header("Subject").contains("Riverton"), "{:?}", received.headers);
    assert!(!received.header("Date").is_empty());
    assert_eq!(received.header("Auto-Submitted"), "auto-generated");
    assert_eq!(received.header("Content-Type"), "text/plain; charset=utf-8");
    assert_eq!(received.text.trim_end(), mail.text().trim_end());
    assert_eq!(received.link(), LINK);
}

#[tokio::test]
async fn a_repeat_has_the_message_id_of_the_first_and_another_mail_has_its_own() {
    let mails_received = MailServer::open().await;
    let smtp = smtp(&mails_received, "City <no-reply@Mu\u{308}nchen.example>");
    let (first, other) = (mail(Locale::EN), mail(Locale::EN));
    for mail in [&first, &first, &other] {
        smtp.send(mail).await.unwrap();
    }
    let received = mails_received.wait_for(NORA, 3).await;
    let ids: Vec<&str> = received.iter().map(|mail| mail.header("Message-ID")).collect();
    assert_eq!(ids[0], format!("<{}@xn--mnchen-3ya.example>", first.id));
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
    assert!(received.iter().all(|mail| mail.header("List-Unsubscribe").is_empty()));
}

#[tokio::test]
async fn a_domain_in_another_script_is_reached_by_every_server() {
    let mails_received = MailServer::open().await;
    for to in ["nora@münchen.example", "nora@xn--mnchen-3ya.example"] {
        let mail = Mail { to: to.to_owned(), ..mail(Locale::EN) };
        smtp(&mails_received, "no-reply@münchen.example").send(&mail).await.unwrap();
    }
    let received = mails_received.wait_for("nora@xn--mnchen-3ya.example", 2).await;
    assert!(received.iter().all(|mail| mail.from == "no-reply@xn--mnchen-3ya.example"));
}

#[tokio::test]
async fn a_sender_with_a_name_keeps_it() {
    let mails_received = MailServer::open().await;
    smtp(&mails_received, "The City <no-reply@city.example>").send(&mail(Locale::EN)).await.unwrap();
    let received = mails_received.wait_for(NORA, 1).await.remove(0);
    assert_eq!(received.header("From"), "\"The City\" <no-reply@city.example>");
}

#[tokio::test]
async fn credentials_of_the_address_are_shown() {
    let mails_received = MailServer::open().await;
    let smtp = SmtpMailer::new(&mails_received.url("city:se%20cret@"), "no-reply@city.example").unwrap();
    smtp.check_connection().await.unwrap();
    // `\0city\0se cret` in base64 (RFC 4616).
    assert_eq!(mails_received.credentials(), ["PLAIN AGNpdHkAc2UgY3JldA=="]);
    assert!(mails_received.mails_to(NORA).is_empty(), "a greeting sends nothing");
    mails_received.mistrust("535 5.7.8 who are you?");
    assert!(matches!(smtp.send(&mail(Locale::EN)).await, Err(Error::Unavailable(_))), "it may be mended");
    mails_received.mistrust("535 5.7.8 who are you?");
    assert!(smtp.check_connection().await.is_err());
}

#[tokio::test]
async fn permanent_and_transient_refusals_are_distinguished() {
    let mails_received = MailServer::open().await;
    let smtp = smtp(&mails_received, "no-reply@city.example");
    for later in ["451 4.7.1 greylisted", "452 4.2.2 full", "421 4.3.2 going down"] {
        mails_received.refuse(later);
        assert!(matches!(smtp.send(&mail(Locale::EN)).await, Err(Error::Unavailable(_))), "{later}");
    }
    for never in ["550 5.1.1 unknown", "553 5.1.3 strange", "552 5.2.2 too much"] {
        mails_received.refuse(never);
        assert!(matches!(smtp.send(&mail(Locale::EN)).await, Err(Error::Rejected(_))), "{never}");
    }
    let nowhere = SmtpMailer::new("smtp://127.0.0.1:9", "no-reply@city.example").unwrap();
    assert!(matches!(nowhere.send(&mail(Locale::EN)).await, Err(Error::Unavailable(_))));
    let broken = Mail { to: "no address".to_owned(), ..mail(Locale::EN) };
    assert!(matches!(smtp.send(&broken).await, Err(Error::Rejected(_))));
}

#[tokio::test]
async fn a_server_that_falls_silent_is_left() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", silent.local_addr().unwrap());
    let smtp = SmtpMailer::new(&url, NORA).unwrap().with_time_limit(Duration::from_millis(100));
    assert!(matches!(smtp.send(&mail(Locale::EN)).await, Err(Error::Unavailable(_))));
    assert!(matches!(smtp.check_connection().await, Err(Error::Unavailable(_))));
}

#[tokio::test]
async fn names_can_not_add_headers_or_receivers() {
    let mails_received = MailServer::open().await;
    let smtp = smtp(&mails_received, "no-reply@city.example");
    let evil = || "x\r\nBcc: all@city.example".to_owned();
    for mail in [
        Mail { from_name: evil(), ..mail(Locale::EN) },
        Mail { to_name: evil(), ..mail(Locale::EN) },
        Mail { subject: evil(), ..mail(Locale::EN) },
    ] {
        assert!(matches!(smtp.send(&mail).await, Err(Error::Rejected(_))), "{mail:?}");
    }
    assert!(mails_received.mails_to(NORA).is_empty());
    assert!(!is_sender("City\r\n <no-reply@city.example>"));
}

#[tokio::test]
async fn without_a_server_a_mail_is_taken_and_goes_nowhere() {
    LogMailer.send(&mail(Locale::FR)).await.unwrap();
}

#[test]
fn servers_and_senders_are_told_from_other_texts() {
    for server in [
        "smtps://city:secret@mail.example:465",
        "smtps://mail.example",
        "smtp://mail.example:2525",
        "smtp://mail.example?tls=required",
        "smtp://mail.example?tls=opportunistic",
    ] {
        assert!(is_server(server) && SmtpMailer::new(server, NORA).is_ok(), "{server}");
    }
    for other in ["mail.example", "http://mail.example", "smtp://", "smtp://a?tls=maybe", "smtps:mail", ""] {
        assert!(!is_server(other) && SmtpMailer::new(other, NORA).is_err(), "{other}");
    }
    assert!(is_sender(NORA) && is_sender("City <no-reply@city.example>"));
    assert!(!is_sender("City") && !is_sender("") && !is_sender("a@b, c@d"));
}
