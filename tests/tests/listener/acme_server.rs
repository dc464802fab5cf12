//! A small CA with the interface of ACME (RFC 8555): it checks signatures, nonces and challenges (RFC 8737), and signs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use civitas_kernel::clock;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use rcgen::{
    BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData,
    SignatureAlgorithm,
};
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use x509_cert::der::{Decode, Encode};
use x509_cert::request::CertReq;

/// `id-pe-acmeIdentifier` (RFC 8737, 6.1).
const ACME_IDENTIFIER: &str = "1.3.6.1.5.5.7.1.31";
const TOKEN: &str = "a-token-of-the-tests";

/// Answers until it is dropped.
pub(super) struct AcmeServer {
    address: SocketAddr,
    state: Arc<State>,
    listener: JoinHandle<()>,
}

struct State {
    base: String,
    root: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    /// The keys of the accounts: JWK.
    accounts: Vec<Value>,
    nonces: HashSet<String>,
    issued_nonces: u64,
    orders: Vec<Order>,
    /// Where the names lead; until then challenges wait.
    server: Option<SocketAddr>,
    /// Names that lead elsewhere.
    elsewhere: HashMap<String, SocketAddr>,
    /// The validity of certificates, in days before and after now.
    days: (i64, i64),
}

#[derive(Clone)]
struct Order {
    host: String,
    status: &'static str,
    problem: Option<String>,
    certificate: Option<String>,
}

/// A public key of a request.
struct PublicKey(Vec<u8>);

impl PublicKeyData for PublicKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl Drop for AcmeServer {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl AcmeServer {
    /// One whose certificates are valid for 90 days.
    pub(super) async fn start() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap().der().clone();
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let content = Mutex::new(Content { days: (0, 90), ..Content::default() });
        let issuer = Issuer::new(params, key);
        let state = Arc::new(State { base: format!("http://{address}"), root, issuer, content });
        let shared = state.clone();
        let listener = tokio::spawn(async move {
            while let Ok((socket, _)) = socket.accept().await {
                let state = shared.clone();
                let service = service_fn(move |request| answer(state.clone(), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
            }
        });
        Self { address, state, listener }
    }

    pub(super) fn directory(&self) -> String {
        format!("http://{}/directory", self.address)
    }

    /// Its own certificate.
    pub(super) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.state.root.clone()).unwrap();
        roots
    }

    /// The same, in DER.
    pub(super) fn root(&self) -> Vec<u8> {
        self.state.root.to_vec()
    }

    /// All names lead to this server; until there is one, challenges wait.
    pub(super) fn lead_to(&self, server: Option<SocketAddr>) {
        self.state.content().server = server;
    }

    /// A name leads to a port where nothing listens.
    pub(super) fn lose(&self, host: &str) {
        self.state.content().elsewhere.insert(host.to_owned(), ([127, 0, 0, 1], 1).into());
    }

    /// The validity of further certificates, in days before and after now.
    pub(super) fn sign_for(&self, before: i64, after: i64) {
        self.state.content().days = (before, after);
    }

    /// The hosts of all orders, sorted.
    pub(super) fn ordered(&self) -> Vec<String> {
        let mut hosts: Vec<String> = self.state.content().orders.iter().map(|o| o.host.clone()).collect();
        hosts.sort_unstable();
        hosts
    }

    pub(super) fn accounts(&self) -> usize {
        self.state.content().accounts.len()
    }
}

impl State {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap()
    }

    fn order(&self, number: usize) -> Value {
        let order = self.content().orders[number].clone();
        let base = &self.base;
        let mut shown = json!({
            "status": order.status,
            "identifiers": [{"type": "dns", "value": order.host}],
            "authorizations": [format!("{base}/authorization/{number}")],
            "finalize": format!("{base}/finalize/{number}"),
        });
        if order.certificate.is_some() {
            shown["certificate"] = format!("{base}/certificate/{number}").into();
        }
        shown
    }

    fn challenge(&self, number: usize) -> Value {
        let order = self.content().orders[number].clone();
        let mut shown = json!({"type": "tls-alpn-01", "url": format!("{}/challenge/{number}", self.base),
            "token": TOKEN, "status": status_of_authorization(order.status)});
        if let Some(problem) = order.problem {
            shown["error"] = json!({"type": "urn:ietf:params:acme:error:connection", "detail": problem});
        }
        shown
    }

    fn authorization(&self, number: usize) -> Value {
        let order = self.content().orders[number].clone();
        json!({"identifier": {"type": "dns", "value": order.host},
            "status": status_of_authorization(order.status), "challenges": [self.challenge(number)]})
    }

    /// Signs the key of a request.
    fn sign(&self, number: usize, request: &[u8]) {
        let mut content = self.content();
        let (before, after) = content.days;
        let order = &mut content.orders[number];
        assert_eq!(order.status, "ready", "{}", order.host);
        let host = order.host.as_bytes();
        assert!(request.windows(host.len()).any(|part| part == host), "the request is for {}", order.host);
        let key = CertReq::from_der(request).unwrap().info.public_key.subject_public_key;
        let mut params = CertificateParams::new(vec![order.host.clone()]).unwrap();
        let now = clock::now();
        params.not_before = now - time::Duration::days(before) - time::Duration::minutes(1);
        params.not_after = now + time::Duration::days(after);
        let signed = params.signed_by(&PublicKey(key.raw_bytes().to_vec()), &self.issuer).unwrap();
        order.certificate = Some(signed.pem());
        order.status = "valid";
    }
}

fn status_of_authorization(of_order: &str) -> &'static str {
    match of_order {
        "pending" => "pending",
        "invalid" => "invalid",
        _ => "valid",
    }
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let body = body.collect().await.unwrap().to_bytes();
    let (status, location, text) = match (&head.method, path.as_str()) {
        (&Method::GET, "/directory") => {
            let at = |path: &str| format!("{}/{path}", state.base);
            let directory =
                json!({"newNonce": at("nonce"), "newAccount": at("account"), "newOrder": at("order")});
            (200, None, directory.to_string())
        }
        (&Method::HEAD, "/nonce") => (200, None, String::new()),
        (&Method::POST, _) => posted(&state, &path, &body),
        (method, path) => panic!("{method} {path}"),
    };
    let nonce = {
        let mut content = state.content();
        content.issued_nonces += 1;
        let nonce = format!("nonce-{}", content.issued_nonces);
        content.nonces.insert(nonce.clone());
        nonce
    };
    let mut response = Response::builder().status(status).header("replay-nonce", nonce);
    if let Some(location) = location {
        response = response.header("location", location);
    }
    Ok(response.body(Full::new(text.into())).unwrap())
}

/// Status, location and body of the answer to a signed request.
fn posted(state: &Arc<State>, path: &str, body: &[u8]) -> (u16, Option<String>, String) {
    let (account, payload) = verified(state, path, body);
    let (kind, number) = path[1..]
        .split_once('/')
        .map_or((&path[1..], 0), |(kind, number)| (kind, number.parse::<usize>().unwrap()));
    let here = |kind: &str, number: usize| Some(format!("{}/{kind}/{number}", state.base));
    match (kind, path.contains(&format!("/{number}"))) {
        ("account", false) => {
            assert_eq!(payload["contact"], json!(["mailto:operator@city.example"]));
            assert_eq!(payload["termsOfServiceAgreed"], true);
            (201, here("account", account), json!({"status": "valid"}).to_string())
        }
        ("order", false) => {
            let host = payload["identifiers"][0]["value"].as_str().unwrap().to_owned();
            let order = Order { host, status: "pending", problem: None, certificate: None };
            let number = {
                let mut content = state.content();
                content.orders.push(order);
                content.orders.len() - 1
            };
            (201, here("order", number), state.order(number).to_string())
        }
        ("order", true) => (200, None, state.order(number).to_string()),
        ("authorization", true) => (200, None, state.authorization(number).to_string()),
        ("challenge", true) => {
            let key = thumbprint(&state.content().accounts[account]);
            tokio::spawn(validate(state.clone(), number, format!("{TOKEN}.{key}")));
            (200, None, state.challenge(number).to_string())
        }
        ("finalize", true) => {
            state.sign(number, &decoded(&payload["csr"]));
            (200, None, state.order(number).to_string())
        }
        ("certificate", true) => (200, None, state.content().orders[number].certificate.clone().unwrap()),
        _ => panic!("{path}"),
    }
}

/// The number of the account and the payload, after the checks of RFC 8555, 6.
fn verified(state: &State, path: &str, body: &[u8]) -> (usize, Value) {
    let signed: Value = serde_json::from_slice(body).unwrap();
    let part = |name: &str| signed[name].as_str().unwrap();
    let head: Value = serde_json::from_slice(&decoded(&signed["protected"])).unwrap();
    let mut content = state.content();
    assert!(content.nonces.remove(head["nonce"].as_str().unwrap()), "a nonce is used once");
    assert_eq!(head["url"], format!("{}{path}", state.base));
    assert_eq!(head["alg"], "ES256");
    let account = if head["jwk"].is_object() {
        content.accounts.push(head["jwk"].clone());
        content.accounts.len() - 1
    } else {
        head["kid"].as_str().unwrap().rsplit('/').next().unwrap().parse().unwrap()
    };
    let key = &content.accounts[account];
    let point = [vec![4], decoded(&key["x"]), decoded(&key["y"])].concat();
    let text = format!("{}.{}", part("protected"), part("payload"));
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(text.as_bytes(), &decoded(&signed["signature"])).unwrap();
    (account, serde_json::from_slice(&decoded(&signed["payload"])).unwrap_or_default())
}

fn decoded(text: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.as_str().unwrap()).unwrap()
}

/// RFC 7638.
fn thumbprint(jwk: &Value) -> String {
    let text =
        format!("{{\"crv\":{},\"kty\":{},\"x\":{},\"y\":{}}}", jwk["crv"], jwk["kty"], jwk["x"], jwk["y"]);
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

async fn validate(state: Arc<State>, number: usize, key_authorization: String) {
    let host = state.content().orders[number].host.clone();
    let found = proof(&state, &host).await;
    let expected = digest(&SHA256, key_authorization.as_bytes());
    let mut content = state.content();
    let order = &mut content.orders[number];
    let problem = match found {
        // An octet string in DER.
        Ok(proof) if proof == [&[4, 32], expected.as_ref()].concat() => None,
        Ok(_) => Some("another key authorization".to_owned()),
        Err(problem) => Some(problem),
    };
    order.status = if problem.is_none() { "ready" } else { "invalid" };
    order.problem = problem;
}

/// The extension `acmeIdentifier` of the certificate that the server of a host shows (RFC 8737, 3).
async fn proof(state: &State, host: &str) -> Result<Vec<u8>, String> {
    let address = loop {
        let address = {
            let content = state.content();
            content.elsewhere.get(host).copied().or(content.server)
        };
        match address {
            Some(address) => break address,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate));
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"acme-tls/1".to_vec()];
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let connection = stream.get_ref().1;
    if connection.alpn_protocol() != Some(b"acme-tls/1") {
        return Err("another protocol".to_owned());
    }
    let shown = connection.peer_certificates().and_then(<[_]>::first).ok_or("no certificate")?;
    let shown = x509_cert::Certificate::from_der(shown).map_err(|error| error.to_string())?;
    let name = host.as_bytes();
    let extensions = shown.tbs_certificate.extensions.unwrap_or_default();
    let is_named = extensions
        .iter()
        .any(|extension| extension.to_der().unwrap().windows(name.len()).any(|part| part == name));
    let proof = extensions.iter().find(|e| e.extn_id.to_string() == ACME_IDENTIFIER && e.critical);
    let proof = proof.filter(|_| is_named).ok_or("no proof")?;
    Ok(proof.extn_value.as_bytes().to_vec())
}

/// Accepts the certificates of challenges, which are signed by themselves.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}
