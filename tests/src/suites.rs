//! Macros that run the conformance tests of the domain crates.

/// Runs conformance tests of a domain crate on each engine. A test is a function of `conformance` that takes a value
/// converted from [`crate::World`].
#[macro_export]
macro_rules! on_both_engines {
    (in a transaction $domain:ident::conformance: $($promise:ident),+ $(,)?) => {
        $crate::on_both_engines!(@ sqlite Sqlite in_transaction $domain: $($promise),+);
        $crate::on_both_engines!(@ postgres Postgres in_transaction $domain: $($promise),+);
    };
    ($domain:ident::conformance: $($promise:ident),+ $(,)?) => {
        $crate::on_both_engines!(@ sqlite Sqlite on_the_pool $domain: $($promise),+);
        $crate::on_both_engines!(@ postgres Postgres on_the_pool $domain: $($promise),+);
    };
    (@ $engine:ident $variant:ident $place:ident $domain:ident: $($promise:ident),+) => {
        mod $engine {$(
            #[tokio::test]
            async fn $promise() {
                let Some(world) = $crate::World::fresh($crate::Engine::$variant).await else { return };
                let world = world.$place().await;
                $domain::conformance::$promise((&world).into()).await.unwrap();
            }
        )+}
    };
}

/// Runs the conformance tests of `civitas_kernel::records` on each of these stores, on both engines. A name is that of
/// a function which gives the store its samples; it becomes a module.
#[macro_export]
macro_rules! records_on_both_engines {
    ($domain:ident::conformance: $($store:ident),+ $(,)?) => {$(
        mod $store {
            $crate::records_on_both_engines!(@ sqlite Sqlite $domain $store);
            $crate::records_on_both_engines!(@ postgres Postgres $domain $store);
        }
    )+};
    (@ $engine:ident $variant:ident $domain:ident $store:ident) => {
        mod $engine {
            $crate::records_on_both_engines!(@ $variant $domain $store:
                keeps_every_member,
                adds_several_together,
                isolates_organizations,
                saves_only_what_is_there,
                pages_in_order_without_gaps,
                finds_what_it_locks,
            );
        }
    };
    (@ $variant:ident $domain:ident $store:ident: $($promise:ident),+ $(,)?) => {
        $(#[tokio::test]
        async fn $promise() {
            let Some(world) = $crate::World::fresh($crate::Engine::$variant).await else { return };
            let world = world.in_transaction().await;
            let samples = $domain::conformance::$store((&world).into()).await.unwrap();
            civitas_kernel::records::conformance::$promise(samples).await.unwrap();
        })+
    };
}

/// Runs conformance tests of a domain crate on a database in memory.
#[macro_export]
macro_rules! in_memory {
    (in a transaction $domain:ident::conformance: $($promise:ident),+ $(,)?) => {
        $crate::in_memory!(@ in_transaction $domain: $($promise),+);
    };
    ($domain:ident::conformance: $($promise:ident),+ $(,)?) => {
        $crate::in_memory!(@ on_the_pool $domain: $($promise),+);
    };
    (@ $place:ident $domain:ident: $($promise:ident),+) => {$(
        #[tokio::test]
        async fn $promise() {
            let world = $crate::World::in_memory().await.$place().await;
            $domain::conformance::$promise((&world).into()).await.unwrap();
        }
    )+};
}
