//! Records that disappear take their files with them.

use crate::uploads::place::{Place, places, url_of};
use crate::uploads::staging::{put, stage};
use crate::uploads::wire::{BOUNDARY, Reply, Request, field, file, form};
use civitas_kernel::OrganizationId;
use civitas_tests::commit;
use civitas_tests::service::{BASE, Client};
use serde_json::json;

/// Nora through the client `uploader`.
async fn nora(place: &Place) -> Client {
    let asked = json!({"grant_type": "password", "auth_type": "impersonate", "username": "norablum",
        "client_id": "id_uploader", "client_secret": "key_uploader", "scope": "attachments proposals blogs"});
    place.service.anonymous().with_token(&asked).await
}

/// Attaches an image to a record as a user.
async fn attach(place: &Place, user: &Client, kind: &str, id: i64) -> Reply {
    let id = id.to_string();
    let members = [("attached_to_type", kind), ("attached_to_id", &id), ("title", "T"), ("description", "D")];
    let mut parts: Vec<_> = members.iter().map(|(name, text)| field(name, text)).collect();
    parts.push(file(b"a.png", &crate::uploads::samples::png()));
    let request = Request::new("POST", &format!("{BASE}/attachments"))
        .with("Authorization", &format!("Bearer {}", user.token.as_ref().unwrap()))
        .with("Content-Type", &format!("multipart/form-data; boundary={BOUNDARY}"));
    let reply = place.send(request.body(form(&parts))).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply
}

async fn assert_gone(place: &Place, path: &str) {
    for path in [path.to_owned(), path.replace("/a.png", "/thumbnail/a.png")] {
        assert_eq!(place.fetch(&path).await.status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_attachment_leaves_nothing() {
    for place in places().await {
        let nora = nora(&place).await;
        let reply = attach(&place, &nora, "proposals", place.service.id("proposal", "p1")).await;
        let path = url_of(&reply);
        assert_eq!(place.fetch(&path).await.status, 200);
        let id = reply.json()["data"]["id"].as_str().unwrap().to_owned();
        nora.delete(&format!("/attachments/{id}")).await.is(204);
        assert_gone(&place, &path).await;
        place.assert_sound().await;
        assert!(place.names().await.is_empty() && place.rows().await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_draft_leaves_nothing() {
    for place in places().await {
        let nora = nora(&place).await;
        let body = json!({"data": {"component_id": place.service.id("component", "ideas")}});
        let draft = nora.post("/draft_proposals/sync", &body).await.is(200);
        let id = draft.data()["id"].as_str().unwrap().parse().unwrap();
        let path = url_of(&attach(&place, &nora, "proposals", id).await);
        nora.delete(&format!("/draft_proposals/{id}/sync")).await.is(200);
        assert_gone(&place, &path).await;
        place.assert_sound().await;
        assert!(place.names().await.is_empty() && place.rows().await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_a_deleted_post_are_not_served() {
    for place in places().await {
        let nora = nora(&place).await;
        let post = place.service.id("post", "news1");
        let reply = attach(&place, &nora, "blogs", post).await;
        let path = url_of(&reply);
        assert_eq!(place.fetch(&path).await.status, 200);
        nora.delete(&format!("/blogs/{post}/sync")).await.is(200);
        assert_gone(&place, &path).await;
        nora.get(&format!("/attachments/{}", reply.json()["data"]["id"].as_str().unwrap())).await.is(404);
        place.assert_sound().await;
        // The post is marked as deleted, and so are its files: they stay with it.
        assert_eq!((place.names().await.len(), place.rows().await.len()), (2, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_organization_leaves_nothing() {
    for place in places().await {
        let nora = nora(&place).await;
        let city = OrganizationId(place.service.id("organization", "city"));
        let mut paths = Vec::new();
        for (kind, record, name) in [
            ("proposals", "proposal", "p1"),
            ("blogs", "post", "news1"),
            ("organization", "organization", "city"),
        ] {
            paths.push(url_of(&attach(&place, &nora, kind, place.service.id(record, name)).await));
        }
        let signed = stage(&place, "a.txt", b"some text\n").await;
        assert_eq!(put(&place, &signed, b"some text\n").await.status, 204);
        stage(&place, "b.txt", b"some text\n").await;
        assert_eq!(place.names().await.len(), 7);
        commit(&*place.service.store, async |tx| tx.removals().remove_organization(city).await)
            .await
            .unwrap();
        for path in paths {
            assert_gone(&place, &path).await;
        }
        assert_eq!(put(&place, &signed, b"some text\n").await.status, 404);
        while place.service.store.removals().remove_rows(100).await.unwrap() > 0 {}
        place.assert_sound().await;
        assert!(place.names().await.is_empty() && place.rows().await.is_empty());
    }
}
