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
                    // Half of the records are in each of the two components.
                    Engine::Postgres => {
                        text.contains("posts_scheduled") || text.contains(&format!("Seq Scan on {table}"))
                    }
                });
                let sorts = text.contains("TEMP B-TREE") || text.contains("Sort");
                // The other tables are empty.
                let is_large =
                    ["posts", "meetings", "proposals"].iter().any(|of| sql.contains(&format!("FROM {of}")));
                let sorts = is_large && sql.contains("updated_at DESC") && sorts;
                assert!(!scans && !sorts, "{engine:?}: {sql}\n{text}");
            }
        }
    }
}
