//! What components list and count: each component by an index, never the records of other components.

use super::{PAGE, filled, sights, statements};
use civitas_tests::Engine;

#[tokio::test]
async fn what_components_list_and_count_is_read_by_component() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        for read_context in sights(&world) {
            let mut counts = 0;
            let sent = statements(&world, async {
                let page = world.ports().components().list(read_context, None, &[], PAGE).await.unwrap();
                counts = page.items.iter().map(|component| component.resource_count).sum();
            })
            .await;
            assert!(counts > 6_000, "{engine:?}: the records are counted: {counts}");
            for (sql, plan) in sent {
                let text = plan.join("\n");
                let scans = ["posts", "meetings", "proposals"].into_iter().any(|table| match engine {
                    Engine::Sqlite => {
                        text.lines().any(|step| step.trim_start().starts_with(&format!("SCAN {table}")))
                    }
                    // Each of the two components has half of the records: it may read the table for that.
                    Engine::Postgres => text.contains("posts_scheduled"),
                });
                assert!(!scans, "{engine:?}: {sql}\n{text}");
            }
        }
    }
}
