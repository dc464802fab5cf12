//! The resolver with a name server of the test.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use civitas_dns::DnsResolver;
use civitas_kernel::Error;
use civitas_organizations::HostResolver;
use civitas_tests::NameServer;
use std::net::IpAddr;
use tokio::net::UdpSocket;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[tokio::test]
async fn a_name_has_the_addresses_of_both_families() {
    let server = NameServer::start().await;
    server.name("new.example", "192.0.2.1");
    server.name("new.example", "2001:db8::1");
    server.name("four.example", "192.0.2.4");
    let names = DnsResolver::with_server(Some(server.address)).unwrap();
    let mut found = names.addresses("new.example").await.unwrap();
    found.sort();
    assert_eq!(found, [ip("192.0.2.1"), ip("2001:db8::1")]);
    assert_eq!(names.addresses("four.example").await.unwrap(), [ip("192.0.2.4")]);
    assert_eq!(names.addresses("nowhere.example").await.unwrap(), [] as [IpAddr; 0]);
}

#[tokio::test]
async fn an_address_has_names_in_lower_case() {
    let server = NameServer::start().await;
    server.reverse("192.0.2.1", "New.Example");
    server.reverse("192.0.2.1", "other.example");
    server.reverse("2001:db8::1", "six.example");
    let names = DnsResolver::with_server(Some(server.address)).unwrap();
    assert_eq!(names.names(ip("192.0.2.1")).await.unwrap(), ["new.example", "other.example"]);
    assert_eq!(names.names(ip("2001:db8::1")).await.unwrap(), ["six.example"]);
    assert_eq!(names.names(ip("192.0.2.9")).await.unwrap(), [] as [String; 0]);
}

#[tokio::test]
async fn every_question_is_asked_again() {
    let server = NameServer::start().await;
    let names = DnsResolver::with_server(Some(server.address)).unwrap();
    assert!(names.addresses("late.example").await.unwrap().is_empty());
    server.name("late.example", "192.0.2.1");
    assert_eq!(names.addresses("late.example").await.unwrap(), [ip("192.0.2.1")]);
}

#[tokio::test]
async fn a_server_that_is_silent_is_unavailable() {
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    drop(silent);
    let names = DnsResolver::with_server(Some(address)).unwrap();
    assert!(matches!(names.addresses("new.example").await, Err(Error::Unavailable(_))));
}
