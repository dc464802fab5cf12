//! Publishes a few suggestions in a database in memory, and prints the list.

use civitas_embedding_example::{Association, SuggestionBox, explain};
use civitas_kernel::{Result, clock};

const MESSAGES: [&str; 3] = [
    "More benches in the park\nThere are two. On Sundays people sit on the grass.",
    "\nA message whose first line is empty has no title.",
    "A second key for the tool shed",
];

#[tokio::main]
async fn main() -> Result<()> {
    let store = civitas_storage_sqlite::in_memory().await?;
    let association = Association::create(&*store, "Garden friends", clock::now()).await?;
    let nora = association.add_member(&*store, "nora", clock::now()).await?;
    let suggestions = SuggestionBox { store, component: association.component };
    for message in MESSAGES {
        match suggestions.submit(&association.member(nora, clock::now()), message).await {
            Ok(id) => println!("Published as proposal {id}."),
            Err(error) => println!("Not published: {}", explain(&error)),
        }
    }
    println!("\nThe newest suggestions:");
    for title in suggestions.titles(&association.member(nora, clock::now())).await? {
        println!("- {title}");
    }
    Ok(())
}
