//! `store!`: a port that adds methods to [`Records`](super::Records), and its mock.

/// Declares the store of a kind of record: an async trait on top of [`Records`](crate::records::Records). Generates its
/// mock, `Mock` and the name, with the feature `mocks` and in unit tests (`mockall::automock` does not support
/// supertraits).
///
/// ```ignore
/// store! {
///     /// Stores blog posts.
///     pub trait PostStore: Records<Post> {
///         /// The number of posts of a component.
///         async fn count(&self, organization: OrganizationId, component: ComponentId) -> Result<i64>;
///     }
/// }
/// ```
///
/// The calling crate depends on `async-trait`, and on `mockall` with the feature `mocks`.
#[macro_export]
macro_rules! store {
    (
        $(#[$doc:meta])*
        pub trait $Store:ident: $Records:ident<$Entity:ident> {
            $(
                $(#[$method_doc:meta])*
                async fn $method:ident(&self $($parameters:tt)*) -> $Output:ty;
            )*
        }
    ) => {
        $(#[$doc])*
        #[::async_trait::async_trait]
        pub trait $Store: $Records<$Entity> {
            $(
                $(#[$method_doc])*
                async fn $method(&self $($parameters)*) -> $Output;
            )*
        }

        #[cfg(any(test, feature = "mocks"))]
        ::mockall::mock! {
            pub $Store {}

            #[::async_trait::async_trait]
            impl $Records<$Entity> for $Store {
                async fn find(
                    &self,
                    organization: $crate::OrganizationId,
                    id: <$Entity as $crate::records::Entity>::Id,
                ) -> $crate::Result<Option<$Entity>>;
                async fn find_for_update(
                    &self,
                    organization: $crate::OrganizationId,
                    id: <$Entity as $crate::records::Entity>::Id,
                ) -> $crate::Result<Option<$Entity>>;
                async fn add(
                    &self,
                    organization: $crate::OrganizationId,
                    record: &$Entity,
                ) -> $crate::Result<<$Entity as $crate::records::Entity>::Id>;
                async fn save(
                    &self,
                    organization: $crate::OrganizationId,
                    id: <$Entity as $crate::records::Entity>::Id,
                    change: &$crate::records::Change<$Entity>,
                ) -> $crate::Result<()>;
                async fn page_after(
                    &self,
                    organization: $crate::OrganizationId,
                    after: Option<<$Entity as $crate::records::Entity>::Id>,
                    limit: i64,
                ) -> $crate::Result<Vec<(<$Entity as $crate::records::Entity>::Id, $Entity)>>;
            }

            #[::async_trait::async_trait]
            impl $Store for $Store {
                $(async fn $method(&self $($parameters)*) -> $Output;)*
            }
        }
    };
}
