//! Rebuilds the package when migrations change: they are compiled in.

fn main() {
    println!("cargo::rerun-if-changed=../../../migrations/sqlite");
}
