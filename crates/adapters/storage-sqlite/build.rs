//! Builds the package again when a migration comes, goes or changes: they are part of it.

fn main() {
    println!("cargo::rerun-if-changed=../../../migrations/sqlite");
}
