//! `scoped!`: the only way to a table whose rows belong to organizations.

use civitas_kernel::OrganizationId;

/// The column of an organization that is part of a key, which has no nulls: 0 for the deployment.
pub(crate) fn organization_key(organization: Option<OrganizationId>) -> i64 {
    organization.map_or(0, |id| id.0)
}

/// `scoped! { posts }` gives `rows_of(organization)`, the rows of one organization, and `Scoped`, its type.
macro_rules! scoped {
    ($visible:vis $table:ident) => {
        $visible type Scoped =
            ::diesel::dsl::Filter<$table::table, ::diesel::dsl::Eq<$table::organization_id, i64>>;

        /// The rows of one organization.
        $visible fn rows_of(organization: ::civitas_kernel::OrganizationId) -> Scoped {
            let is_own = ::diesel::ExpressionMethods::eq($table::organization_id, organization.0);
            ::diesel::QueryDsl::filter($table::table, is_own)
        }
    };
}
pub(crate) use scoped;
