use civitas_accounts::Secret;
use civitas_kernel::clock;
use civitas_tests::panel::{EMAIL, PASSWORD, PanelClient, SESSION_COOKIE, SIGN_IN};
use civitas_tests::{Service, commit};
use reqwest::Method;
use reqwest::header::SET_COOKIE;
use time::Duration;

#[tokio::test]
async fn a_wrong_password_an_unknown_address_and_a_participant_get_the_same_answer() {
    for service in Service::on_both_engines().await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let visitor = service.visitor();
        let wrong = visitor.sign_in(EMAIL, "a wrong password").await.is(422);
        assert!(wrong.content().contains("E-mail address or password is not right."));
        let form = wrong.form(SIGN_IN);
        assert_eq!(form.values("admin[email]"), [EMAIL]);
        assert_eq!(form.values("admin[password]"), [""]);
        for (email, password) in [
            ("nobody@riverton.example", PASSWORD),
            ("pass@city.example", "correct horse"),
            ("maryadmin@city.example", PASSWORD),
            (EMAIL, ""),
            ("", ""),
            ("%", "%"),
        ] {
            let refused = visitor.sign_in(email, password).await.is(422);
            assert_eq!(refused.content(), wrong.content(), "{email}");
            assert!(visitor.cookie(SESSION_COOKIE).is_none());
        }
        visitor.get("/system").await.leads_to(SIGN_IN);
        let upper = EMAIL.to_uppercase();
        visitor.sign_in(&upper, PASSWORD).await.leads_to("/system");
        visitor.get("/system").await.is(200).shows(EMAIL);
    }
}

#[tokio::test]
async fn a_cookie_of_another_program_on_the_host_may_be_of_any_bytes() {
    for service in Service::on_both_engines().await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let visitor = service.visitor();
        visitor.set_cookie("campaign", "Undersøgelse");
        visitor.sign_in(EMAIL, PASSWORD).await.leads_to("/system");
        visitor.get("/system").await.is(200).shows(EMAIL);
    }
}

#[tokio::test]
async fn an_administrator_signs_in_however_the_letters_are_composed() {
    for service in Service::on_both_engines().await {
        service.add_administrator("ada@mu\u{308}nchen.example", "cache\u{301} sous un arbre").await;
        for address in ["Ada@MÜNCHEN.example", "ada@xn--mnchen-3ya.example"] {
            for password in ["caché sous un arbre", "cache\u{301} sous un arbre"] {
                service.visitor().sign_in(address, password).await.leads_to("/system");
            }
        }
        service.visitor().sign_in("ada@munchen.example", "caché sous un arbre").await.is(422);
    }
}

#[tokio::test]
async fn an_address_that_an_older_version_stored_still_signs_in() {
    for service in Service::on_both_engines().await {
        let id = service.add_administrator(EMAIL, PASSWORD).await;
        let typed = "ada@münchen.example";
        let change = commit(&*service.store, async |tx| {
            let mut ada = tx.administrators().find_for_update(id).await?.expect("the account");
            ada.email = typed.to_owned();
            tx.administrators().save(id, &ada).await
        });
        change.await.unwrap();
        service.visitor().sign_in(typed, PASSWORD).await.leads_to("/system");
    }
}

#[tokio::test]
async fn a_hash_of_bcrypt_is_replaced_by_the_first_sign_in() {
    for service in Service::on_both_engines().await {
        let id = service.add_administrator(EMAIL, PASSWORD).await;
        let imported = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";
        let change = commit(&*service.store, async |tx| {
            let mut ada = tx.administrators().find_for_update(id).await?.expect("the account");
            ada.password = Some(imported.to_owned());
            tx.administrators().save(id, &ada).await
        });
        change.await.unwrap();
        let stored = async || service.store.administrators().find(id).await.unwrap().unwrap().password;
        service.visitor().sign_in(EMAIL, "correct horsf").await.is(422);
        assert_eq!(stored().await.as_deref(), Some(imported));
        let (one, other) = (service.visitor(), service.visitor());
        let (first, second) =
            tokio::join!(one.sign_in(EMAIL, "correct horse"), other.sign_in(EMAIL, "correct horse"));
        first.leads_to("/system");
        second.leads_to("/system");
        let replaced = stored().await.unwrap();
        assert!(replaced.starts_with("$argon2id$"));
        service.visitor().sign_in(EMAIL, "correct horse").await.leads_to("/system");
        assert_eq!(stored().await.unwrap(), replaced, "once");
    }
}

#[tokio::test]
async fn the_cookie_of_a_session_is_for_the_panel_alone_and_no_script() {
    for service in Service::on_both_engines().await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let visitor = service.visitor();
        let before = visitor.get(SIGN_IN).await.is(200);
        let signed = visitor.sign_in(EMAIL, PASSWORD).await.is(302);
        let cookies = before.headers.get_all(SET_COOKIE).iter().chain(signed.headers.get_all(SET_COOKIE));
        let cookies: Vec<&str> = cookies.map(|cookie| cookie.to_str().unwrap()).collect();
        assert_eq!(cookies.len(), 3, "{cookies:?}");
        for cookie in &cookies {
            let members: Vec<&str> = cookie.split("; ").skip(1).collect();
            for member in ["Path=/system", "HttpOnly", "Secure"] {
                assert!(members.contains(&member), "{cookie}");
            }
            assert!(!cookie.contains("Domain"), "{cookie}");
        }
        let session = cookies.iter().find(|cookie| cookie.starts_with("civitas_panel=")).unwrap();
        assert!(session.contains("; SameSite=Lax") && !session.contains("Max-Age"), "{session}");
        let value = visitor.cookie(SESSION_COOKIE).unwrap();
        assert!(value.len() >= 32, "{value}");
        let page = visitor.get("/system").await.is(200);
        assert!(!page.text.contains(&value));
    }
}

#[tokio::test]
async fn without_https_the_cookie_is_sent_all_the_same() {
    let settings = [("public_scheme", "http")];
    for service in Service::on_both_engines_with(civitas_tests::CITIES, &settings).await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let signed = service.visitor().sign_in(EMAIL, PASSWORD).await.is(302);
        assert!(!signed.header("set-cookie").contains("Secure"));
    }
}

#[tokio::test]
async fn a_session_ends_with_sign_out_for_whoever_has_its_cookie() {
    for (service, panel) in super::panels().await {
        let cookie = panel.cookie(SESSION_COOKIE).unwrap();
        let form = panel.get("/system").await.is(200).form("/system/admins/sign_out");
        panel.send(&form).await.leads_to(SIGN_IN);
        assert!(panel.cookie(SESSION_COOKIE).is_none());
        let thief = service.visitor();
        thief.set_cookie(SESSION_COOKIE, &cookie);
        thief.get("/system").await.leads_to(SIGN_IN);
    }
}

#[tokio::test]
async fn an_expired_session_leads_to_sign_in() {
    for (service, panel) in super::panels().await {
        let digest = Secret::new(panel.cookie(SESSION_COOKIE).unwrap()).digest();
        let form = panel.get("/system/admins/new").await.is(200).form("/system/admins");
        let past = clock::now() - Duration::SECOND;
        service.store.panel_sessions().touch(&digest, past, past).await.unwrap();
        panel.get("/system").await.leads_to(SIGN_IN);
        let form = form.set("admin[email]", "new@riverton.example").set("admin[password]", PASSWORD);
        let ended = panel.send(&form).await.leads_to("/system/admins/sign_in?ended=1");
        panel.follow(&ended).await.is(200).shows("Your session has ended.");
        assert_eq!(service.store.administrators().count().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn twenty_failures_refuse_their_source_for_an_hour() {
    for service in Service::on_both_engines().await {
        let id = service.add_administrator(EMAIL, PASSWORD).await;
        super::fail_to_sign_in(&service, EMAIL, 19).await;
        let visitor = service.visitor();
        let administrators = service.store.administrators();
        let refused =
            async || administrators.find(id).await.unwrap().unwrap().sources.refused_until(clock::now());
        assert_eq!(refused().await, None);
        visitor.sign_in(EMAIL, "wrong").await.is(422).shows("E-mail address or password is not right.");
        let left = refused().await.unwrap() - clock::now();
        assert!(left > Duration::minutes(59) && left <= Duration::minutes(60), "{left}");
        // The right password has the same answer: guesses cannot be confirmed.
        visitor.sign_in(EMAIL, PASSWORD).await.is(422).shows("E-mail address or password is not right.");
        visitor.sign_in(EMAIL, "wrong").await.is(422).shows("E-mail address or password is not right.");
        assert!(visitor.cookie(SESSION_COOKIE).is_none());
        let mut refused = administrators.find(id).await.unwrap().unwrap();
        refused.sources.forget_failures();
        administrators.save(id, &refused).await.unwrap();
        visitor.sign_in(EMAIL, PASSWORD).await.leads_to("/system");
    }
}

async fn sign_in_at(visitor: &PanelClient, address: &str) -> String {
    let page = visitor.get(address).await.is(200);
    let form = page.forms().into_iter().next().unwrap();
    let form = form.set("admin[email]", EMAIL).set("admin[password]", PASSWORD);
    visitor.send(&form).await.is(302).header("location").to_owned()
}

#[tokio::test]
async fn sign_in_leads_back_to_the_page_that_was_asked_for_and_to_no_other_site() {
    for service in Service::on_both_engines().await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let visitor = service.visitor();
        let asked = visitor.get("/system/jobs?status=failed&page=2").await.is(302);
        let address = asked.header("location").to_owned();
        assert!(address.starts_with("/system/admins/sign_in?back=%2Fsystem"), "{address}");
        assert_eq!(sign_in_at(&visitor, &address).await, "/system/jobs?status=failed&page=2");
        for bad in [
            "https://evil.example/system",
            "//evil.example/system",
            "/system//evil.example",
            "/systematic",
            "/api/rest_full/v0.3/docs",
            "/system/\\\\evil.example",
            "/system/\r\nSet-Cookie: a=b",
            "javascript:alert(1)",
        ] {
            let visitor = service.visitor();
            let encoded: String = url::form_urlencoded::byte_serialize(bad.as_bytes()).collect();
            let back = sign_in_at(&visitor, &format!("{SIGN_IN}?back={encoded}")).await;
            assert_eq!(back, "/system", "{bad:?}");
        }
    }
}

#[tokio::test]
async fn the_sign_in_form_needs_the_cookie_of_its_visit() {
    for service in Service::on_both_engines().await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let visitor = service.visitor();
        let form = visitor.get(SIGN_IN).await.is(200).form(SIGN_IN);
        let form = form.set("admin[email]", EMAIL).set("admin[password]", PASSWORD);
        service.visitor().send(&form).await.is(403);
        visitor.send(&form.clone().without("authenticity_token")).await.is(403);
        visitor.send(&form.clone().replace("authenticity_token", "x.y")).await.is(403);
        let foreign = service.visitor().get(SIGN_IN).await.form(SIGN_IN).token().unwrap().to_owned();
        visitor.send(&form.clone().replace("authenticity_token", &foreign)).await.is(403);
        let headers =
            [("sec-fetch-site", "cross-site"), ("content-type", "application/x-www-form-urlencoded")];
        let body = form.body().into_bytes();
        visitor.request(Method::POST, SIGN_IN, &headers, Some(body)).await.is(403);
        assert!(visitor.cookie(SESSION_COOKIE).is_none());
        visitor.send(&form).await.leads_to("/system");
    }
}

#[tokio::test]
async fn the_page_has_the_language_that_was_chosen() {
    for service in Service::on_both_engines().await {
        let visitor = service.visitor();
        assert_eq!(visitor.get(SIGN_IN).await.is(200).attributes("html", "lang"), ["en"]);
        let chosen = visitor.get(&format!("{SIGN_IN}?locale=fr")).await.is(200);
        assert_eq!(chosen.attributes("html", "lang"), ["fr"]);
        assert_eq!(visitor.get(SIGN_IN).await.is(200).attributes("html", "lang"), ["fr"]);
        let spanish = [("accept-language", "es-MX,es;q=0.9")];
        let page = service.visitor().request(Method::GET, SIGN_IN, &spanish, None).await.is(200);
        assert_eq!(page.attributes("html", "lang"), ["es"]);
        let unknown = format!("{SIGN_IN}?locale=%22%3E%3Cscript%3E");
        assert_eq!(service.visitor().get(&unknown).await.is(200).attributes("html", "lang"), ["en"]);
    }
}
