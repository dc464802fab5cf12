//! Ids that are assigned to new records, and id spaces that are raised.

use civitas_application::Ports;
use civitas_blogs::Post;
use civitas_kernel::testing::text;
use civitas_kernel::{ComponentId, Error, OrganizationId, PostId, Result};
use civitas_spaces::{ComponentEntry, ComponentEntryKind};
use civitas_tests::World;
use time::macros::datetime;

const NOW: time::OffsetDateTime = datetime!(2026-11-28 10:00 UTC);

fn post(component: ComponentId) -> Post {
    Post::new(component, text("Post"), text("Post"), NOW)
}

async fn page(ports: &dyn Ports, of: OrganizationId, component: ComponentId) -> Result<i64> {
    let page = ComponentEntry::new(ComponentEntryKind::Page, component, text("Page"), NOW);
    ports.entries().add(of, &page).await.map(|id| id.id)
}

#[tokio::test]
async fn new_records_get_assigned_ids_once_and_then_those_above_the_raised_one() {
    for world in World::on_both_engines().await {
        let (mine, blog) = (world.fixtures.mine, world.fixtures.blog);
        let tx = world.database.store().begin().await.unwrap();
        let ids = tx.id_spaces();
        ids.raise("post", 500).await.unwrap();
        ids.raise("post", 9).await.unwrap();
        ids.raise("page", 40).await.unwrap();
        ids.assign_next("post", vec![70]).await.unwrap();
        ids.assign_next("page", vec![7]).await.unwrap();
        let mut posts = Vec::new();
        for _ in 0..2 {
            posts.push(tx.posts().add(mine, &post(blog)).await.unwrap());
        }
        assert_eq!(posts, [PostId(70), PostId(501)]);
        assert_eq!(page(&*tx, mine, blog).await.unwrap(), 7);
        assert_eq!(page(&*tx, mine, blog).await.unwrap(), 41);
        assert_eq!(ids.taken("post", &[69, 501, 70]).await.unwrap(), Some(70));
        assert_eq!(ids.taken("page", &[7]).await.unwrap(), Some(7));
        assert_eq!(ids.taken("budget", &[7]).await.unwrap(), None, "each kind has its own numbers");
        tx.commit().await.unwrap();
        assert_eq!(page(world.ports(), mine, blog).await.unwrap(), 42);
    }
}

#[tokio::test]
async fn ids_are_assigned_in_transactions_and_in_known_id_spaces() {
    for world in World::on_both_engines().await {
        let ids = world.ports().id_spaces();
        assert!(matches!(ids.assign_next("post", vec![7]).await, Err(Error::Internal(_))));
        assert!(matches!(ids.raise("posts", 7).await, Err(Error::Rejected(_))));
        assert!(matches!(ids.taken("space", &[7]).await, Err(Error::Rejected(_))));
    }
}
