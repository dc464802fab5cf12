//! A client for the administration panel: sends forms as a browser without scripts does. Each answer is checked: it has
//! the security headers, loads nothing from elsewhere, has nothing inline, and is no error of the server.

mod form;
mod html;
mod page;
mod samples;

pub use form::Form;
pub use page::Page;
pub use samples::{SamplePage, sample_pages};

use crate::KnownPasswords;
use crate::service::{Client, Service};
use crate::writes::commit;
use civitas_accounts::Secret;
use civitas_accounts::administrators::{Administrators, NewPassword};
use civitas_kernel::{AdministratorId, clock};
use reqwest::Method;
use reqwest::header::SET_COOKIE;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The address of the administrator of [`Service::administrator`].
pub const EMAIL: &str = "ines@riverton.example";
/// Their password.
pub const PASSWORD: &str = "seven green bicycles";
/// The page to sign in.
pub const SIGN_IN: &str = "/system/admins/sign_in";
/// The page that asks for the own password.
pub const CONFIRMATION: &str = "/system/account/confirmation";
/// The cookie of the session.
pub const SESSION_COOKIE: &str = "civitas_panel";

/// A visitor of the panel, with cookies. Follows no redirects.
pub struct PanelClient {
    client: Client,
    cookies: Mutex<BTreeMap<String, String>>,
    seen: Mutex<Vec<String>>,
    /// Tokens of forms that were not sent.
    tokens: Mutex<Vec<String>>,
    /// The address that a trusted proxy names.
    from: Option<String>,
    /// The password to give when a request asks for it.
    password: Option<String>,
}

impl Service {
    /// Creates a system administrator.
    ///
    /// # Panics
    /// When the address is taken or the password is too short.
    pub async fn add_administrator(&self, email: &str, password: &str) -> AdministratorId {
        let password = NewPassword::new(&KnownPasswords::default(), email, &Secret::new(password)).await;
        let password = password.expect("a password");
        let created = commit(&*self.store, async |tx| {
            let admin = Administrators { administrators: tx.administrators(), sessions: tx.panel_sessions() };
            admin.create(password, clock::now()).await
        });
        created.await.expect("an administrator")
    }

    /// Another administrator, signed in as that of [`Service::administrator`].
    ///
    /// # Panics
    /// When there is one already.
    pub async fn second_administrator(&self) -> PanelClient {
        self.add_administrator("second@riverton.example", PASSWORD).await;
        let visitor = PanelClient { password: Some(PASSWORD.to_owned()), ..self.visitor() };
        visitor.sign_in("second@riverton.example", PASSWORD).await.leads_to("/system");
        visitor
    }

    /// A visitor of the panel without a session.
    pub fn visitor(&self) -> PanelClient {
        PanelClient {
            client: self.anonymous(),
            cookies: Mutex::default(),
            seen: Mutex::default(),
            tokens: Mutex::default(),
            from: None,
            password: None,
        }
    }

    /// A visitor from this address, as a trusted proxy names it.
    pub fn visitor_from(&self, address: &str) -> PanelClient {
        PanelClient { from: Some(address.to_owned()), ..self.visitor() }
    }

    /// A new administrator with [`EMAIL`], signed in, who gives the password whenever it is asked for.
    ///
    /// # Panics
    /// When there is one already.
    pub async fn administrator(&self) -> PanelClient {
        self.add_administrator(EMAIL, PASSWORD).await;
        let visitor = PanelClient { password: Some(PASSWORD.to_owned()), ..self.visitor() };
        visitor.sign_in(EMAIL, PASSWORD).await.leads_to("/system");
        visitor.confirm(PASSWORD).await.is(302);
        visitor
    }
}

impl PanelClient {
    /// Fills the form of the sign-in page and sends it.
    pub async fn sign_in(&self, email: &str, password: &str) -> Page {
        locked(&self.tokens).clear();
        let form = self.get(SIGN_IN).await.is(200).form(SIGN_IN);
        self.send(&form.set("admin[email]", email).set("admin[password]", password)).await
    }

    /// Gives the own password, for changes of administrators.
    pub async fn confirm(&self, password: &str) -> Page {
        let page = self.exchange(Method::GET, CONFIRMATION, &[], None).await.is(200);
        let form = page.forms().into_iter().find(|form| form.action.starts_with(CONFIRMATION));
        let form = form.expect("the form").set("password", password);
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        self.exchange(Method::POST, &form.action, &kind, Some(form.body().into_bytes())).await
    }

    /// Reads a page.
    pub async fn get(&self, path: &str) -> Page {
        self.request(Method::GET, path, &[], None).await
    }

    /// Sends a form.
    pub async fn send(&self, form: &Form) -> Page {
        self.post(&form.action, form.body().into_bytes()).await
    }

    /// The form of the page on which a record is edited.
    pub async fn edit(&self, path: &str) -> Form {
        self.get(&format!("{path}/edit")).await.is(200).form(path)
    }

    /// Sends the form of a new record. The path of its page, without `/edit`.
    pub async fn create(&self, form: &Form) -> String {
        let sent = self.send(form).await.is(302);
        self.follow(&sent).await.is(200);
        sent.header("location").strip_suffix("/edit").expect("the page of the record").to_owned()
    }

    /// Sends a form without fields to a path below that of a record. The page that the redirect leads to.
    pub async fn press(&self, path: &str, act: &str) -> Page {
        let sent = self.act("POST", &format!("{path}/{act}"), &[]).await;
        self.follow(&sent).await.is(200)
    }

    /// Sends the body of a form.
    pub async fn post(&self, path: &str, body: Vec<u8>) -> Page {
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        self.request(Method::POST, path, &kind, Some(body)).await
    }

    /// Sends a form with a file.
    pub async fn send_file(&self, form: &Form, file: Option<(&str, &[u8])>) -> Page {
        const BOUNDARY: &str = "boundary-of-the-panel";
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let body = form.parts(BOUNDARY, file);
        self.request(Method::POST, &form.action, &[("content-type", &kind)], Some(body)).await
    }

    /// Sends a form without a page, with a valid token.
    pub async fn act(&self, method: &str, path: &str, fields: &[(&str, &str)]) -> Page {
        let mut form = Form::to(path).with("authenticity_token", &self.token().await);
        if method != "POST" {
            form = form.with("_method", &method.to_lowercase());
        }
        for (name, value) in fields {
            form = form.with(name, value);
        }
        self.send(&form).await
    }

    /// A token that was not used yet.
    pub async fn token(&self) -> String {
        let spare = locked(&self.tokens).pop();
        if let Some(token) = spare {
            return token;
        }
        let page = self.get("/system/account").await.is(200);
        let mut tokens: Vec<String> =
            page.forms().iter().filter_map(Form::token).map(str::to_owned).collect();
        let token = tokens.pop().expect("a form with a token");
        locked(&self.tokens).extend(tokens);
        token
    }

    /// The page that a redirect leads to.
    pub async fn follow(&self, page: &Page) -> Page {
        assert_eq!(page.status, 302, "{}", page.text);
        self.get(page.header("location")).await
    }

    /// Any request. A client with a password gives it when it is asked for, and repeats the request.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Page {
        let page = self.exchange(method.clone(), path, headers, body.clone()).await;
        let is_asked = page.status == 302 && page.header("location").starts_with(CONFIRMATION);
        let Some(password) = self.password.as_ref().filter(|_| is_asked) else { return page };
        self.confirm(password).await.is(302);
        self.exchange(method, path, headers, body).await
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Page {
        let cookies = self.cookie_header();
        let mut all = headers.to_vec();
        if !cookies.is_empty() {
            all.push(("cookie", &cookies));
        }
        if let Some(address) = &self.from {
            all.push(("x-forwarded-for", address));
        }
        let answer = self.client.raw(method, path, &all, body).await;
        for cookie in answer.headers.get_all(SET_COOKIE) {
            self.keep(cookie.to_str().expect("a text"));
        }
        let page = Page::read(path, answer);
        page.check();
        locked(&self.seen).push(page.text.clone());
        page
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<String> {
        locked(&self.cookies).get(name).cloned()
    }

    /// Sets a cookie.
    pub fn set_cookie(&self, name: &str, value: &str) {
        locked(&self.cookies).insert(name.to_owned(), value.to_owned());
    }

    /// In how many answers a text was.
    pub fn times_seen(&self, text: &str) -> usize {
        locked(&self.seen).iter().filter(|body| body.contains(text)).count()
    }

    fn cookie_header(&self) -> String {
        let cookies = locked(&self.cookies);
        cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    fn keep(&self, cookie: &str) {
        let (name, value) = cookie.split(';').next().and_then(|pair| pair.split_once('=')).expect("a pair");
        let mut cookies = locked(&self.cookies);
        if cookie.contains("Max-Age=0") {
            cookies.remove(name);
        } else {
            cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
