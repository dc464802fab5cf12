//! A small DNS server with the records of a test.

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::PTR;
use hickory_resolver::proto::rr::{Name, RData, Record};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// The time to live of an answer, in seconds.
const TTL: u32 = 60;

/// Answers over UDP until it is dropped.
pub struct NameServer {
    /// The address it listens on.
    pub address: SocketAddr,
    zone: Arc<Mutex<Zone>>,
    listener: JoinHandle<()>,
}

#[derive(Default)]
struct Zone {
    records: Vec<Record>,
    asked: usize,
}

impl NameServer {
    /// A server without records.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        let address = socket.local_addr().expect("an address");
        let zone = Arc::<Mutex<Zone>>::default();
        let listener = tokio::spawn(serve(socket, zone.clone()));
        Self { address, zone, listener }
    }

    /// Adds an address of a name.
    pub fn name(&self, name: &str, address: &str) {
        let address: IpAddr = address.parse().expect("an address");
        self.add(Record::from_rdata(full(name), TTL, address.into()));
    }

    /// Adds the PTR record of an address.
    pub fn reverse(&self, address: &str, name: &str) {
        let address: IpAddr = address.parse().expect("an address");
        self.add(Record::from_rdata(address.into(), TTL, RData::PTR(PTR(full(name)))));
    }

    /// The number of received queries.
    pub fn asked(&self) -> usize {
        self.zone.lock().unwrap_or_else(PoisonError::into_inner).asked
    }

    fn add(&self, record: Record) {
        self.zone.lock().unwrap_or_else(PoisonError::into_inner).records.push(record);
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

fn full(name: &str) -> Name {
    Name::from_ascii(format!("{name}.")).expect("a name")
}

async fn serve(socket: UdpSocket, zone: Arc<Mutex<Zone>>) {
    let mut buffer = [0; 1024];
    while let Ok((length, client)) = socket.recv_from(&mut buffer).await {
        let Ok(question) = Message::from_vec(&buffer[..length]) else { continue };
        let answer = zone.lock().unwrap_or_else(PoisonError::into_inner).answer(&question);
        if let Ok(bytes) = answer.to_vec() {
            let _ = socket.send_to(&bytes, client).await;
        }
    }
}

impl Zone {
    fn answer(&mut self, question: &Message) -> Message {
        self.asked += 1;
        let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
        answer.add_queries(question.queries.clone());
        for query in &question.queries {
            let asked = |record: &&Record| {
                record.name == *query.name() && record.data.record_type() == query.query_type()
            };
            answer.add_answers(self.records.iter().filter(asked).cloned());
        }
        let known = |name: &Name| self.records.iter().any(|record| record.name == *name);
        if !question.queries.iter().any(|query| known(query.name())) {
            answer.metadata.response_code = ResponseCode::NXDomain;
        }
        answer
    }
}
