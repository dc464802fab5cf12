use civitas_tests::panel::{EMAIL, PASSWORD, SIGN_IN};

const LIST: &str = "/system/admins";
const OTHER: &str = "omar@riverton.example";

#[tokio::test]
async fn an_administrator_is_created_and_signs_in() {
    for (service, panel) in super::panels().await {
        let form = panel.get(&format!("{LIST}/new")).await.is(200).form(LIST);
        let form = form.set("admin[email]", "Omar@Riverton.example").set("admin[password]", PASSWORD);
        let sent = panel.send(&form).await.leads_to(LIST);
        panel.follow(&sent).await.is(200).shows("omar@riverton.example is a system administrator.");
        let other = service.visitor();
        other.sign_in(OTHER, PASSWORD).await.leads_to("/system");
        other.get(LIST).await.is(200).shows(EMAIL);
    }
}

#[tokio::test]
async fn the_rules_of_addresses_and_passwords_are_said_beside_the_field() {
    for (service, panel) in super::panels().await {
        for (email, password, field, problem) in [
            ("", PASSWORD, "email", "Enter an e-mail address."),
            ("no address", PASSWORD, "email", "Enter an e-mail address."),
            (EMAIL, PASSWORD, "email", "Another administrator already has this e-mail address."),
            (OTHER, "", "password", "Enter at least 12 characters."),
            (OTHER, "eleven char", "password", "Enter at least 12 characters."),
            (OTHER, "              ", "password", "Enter a password that is not only spaces."),
            (OTHER, OTHER, "password", "Enter a password that is not the e-mail address."),
        ] {
            let form = panel.get(&format!("{LIST}/new")).await.is(200).form(LIST);
            let form = form.set("admin[email]", email).set("admin[password]", password);
            let refused = panel.send(&form).await.is(422).shows(problem);
            let again = refused.form(LIST);
            assert_eq!(again.values("admin[email]"), [email]);
            assert_eq!(again.values("admin[password]"), [""], "a password is never sent back");
            let beside = format!("admin-{field}-problem");
            assert!(refused.attributes("p", "id").contains(&beside), "{problem}");
        }
        assert_eq!(service.store.administrators().count().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn the_last_administrator_cannot_be_deleted() {
    for (service, panel) in super::panels().await {
        let own = service.store.administrators().find_by_email(EMAIL).await.unwrap().unwrap().0;
        let path = format!("{LIST}/{own}");
        let ask = panel.get(&format!("{path}/delete")).await.is(200);
        let refused = panel.send(&ask.form(&path)).await.is(422);
        refused.shows("The last administrator cannot be deleted.");
        panel.get("/system").await.is(200);
        let other = service.add_administrator(OTHER, PASSWORD).await;
        let other_client = service.visitor();
        other_client.sign_in(OTHER, PASSWORD).await.is(302);
        let other_path = format!("{LIST}/{other}");
        let ask = panel.get(&format!("{other_path}/delete")).await.is(200);
        panel.send(&ask.form(&other_path)).await.leads_to(LIST);
        // Its sessions end at once.
        other_client.get("/system").await.leads_to(SIGN_IN);
        panel.get(&format!("{other_path}/edit")).await.is(404);
        assert_eq!(service.store.administrators().count().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_new_password_ends_the_sessions_of_the_account() {
    for (service, panel) in super::panels().await {
        let id = service.add_administrator(OTHER, PASSWORD).await;
        let other = service.visitor();
        other.sign_in(OTHER, PASSWORD).await.is(302);
        let path = format!("{LIST}/{id}");
        let form = panel.edit(&path).await;
        let new = "another long password";
        panel.send(&form.set("admin[password]", new)).await.leads_to(LIST);
        other.get("/system").await.leads_to(SIGN_IN);
        other.sign_in(OTHER, PASSWORD).await.is(422);
        other.sign_in(OTHER, new).await.is(302);

        let second = service.visitor();
        second.sign_in(OTHER, new).await.is(302);
        other.confirm(new).await.leads_to("/system/account");
        let form = other.get("/system/account").await.is(200).form("/system/account/password");
        other.send(&form.set("new_password", PASSWORD)).await.is(302);
        other.get("/system").await.is(200);
        second.get("/system").await.leads_to(SIGN_IN);
    }
}

#[tokio::test]
async fn a_locked_administrator_is_unlocked_by_another_one() {
    for (service, panel) in super::panels().await {
        let id = service.add_administrator(OTHER, PASSWORD).await;
        super::fail_to_sign_in(&service, OTHER, 20).await;
        let other = service.visitor();
        other.sign_in(OTHER, PASSWORD).await.is(422);
        let list = panel.get(LIST).await.is(200).shows("Locked");
        panel.send(&list.form(&format!("{LIST}/{id}/unlock"))).await.leads_to(LIST);
        other.sign_in(OTHER, PASSWORD).await.is(302);
    }
}

#[tokio::test]
async fn language_and_colours_are_of_the_account() {
    for (service, panel) in super::panels().await {
        let form = panel.get("/system/account").await.is(200).form("/system/account/preferences");
        panel.send(&form.set("locale", "es").set("theme", "dark")).await.is(302);
        let again = service.visitor();
        again.sign_in(EMAIL, PASSWORD).await.is(302);
        let page = again.get("/system").await.is(200);
        assert_eq!(page.attributes("html", "lang"), ["es"]);
        assert_eq!(page.attributes("html", "data-theme"), ["dark"]);
    }
}
