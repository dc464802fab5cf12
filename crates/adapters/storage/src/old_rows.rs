//! Old rows, in batches.

/// The keys of the oldest rows of a query, at most a number of them, and the open transaction that has locked them;
/// `None` without rows. Rows that others have locked are left out. The query is given as an expression that builds it.
/// A macro, because the types of locking queries cannot be named.
macro_rules! oldest {
    ($session:expr, $old:expr, order $at:expr, key $key:expr => $Key:ty, limit $limit:expr) => {{
        use $crate::session::LoadRowsExt as _;
        // Most calls find none, and do not wait for the write lock. The order makes the planner use the index.
        let first: Option<$Key> = $old.order($at).select($key).first_from($session.read()).await?;
        match first {
            None => None,
            Some(_) => {
                let atomic = $session.transaction().await?;
                let rows = $old.order($at).limit($limit).select($key);
                let oldest: Vec<$Key> =
                    $crate::engine::dialect::skip_locked!(rows).rows_from(atomic.connection()).await?;
                Some((atomic, oldest))
            }
        }
    }};
}
pub(crate) use oldest;

/// Deletes the oldest rows of a table, at most a number of them; their number. `remove_oldest!(self, sessions by digest,
/// expires_at < before, limit)`, or with a query: `remove_oldest!(self, jobs by uuid, query, order jobs::updated_at, limit)`.
/// The key is `id`, `uuid` (its column is `id` too), `digest`, or an expression, its type, and a function from the keys to the
/// condition that selects their rows.
macro_rules! remove_oldest {
    ($session:expr, $table:ident by id, $($old:tt)+) => {
        $crate::old_rows::remove_oldest!(
            $session,
            $table by $table::id => i64,
            |ids: Vec<i64>| $crate::columns::any_of($table::id.nullable(), &ids),
            $($old)+
        )
    };
    ($session:expr, $table:ident by uuid, $($old:tt)+) => {
        $crate::old_rows::remove_oldest!(
            $session,
            $table by $table::id => $crate::columns::UuidColumn,
            |ids: Vec<$crate::columns::UuidColumn>| {
                $crate::columns::any_uuid($table::id.nullable(), ids.into_iter().map(|id| id.0))
            },
            $($old)+
        )
    };
    ($session:expr, $table:ident by digest, $($old:tt)+) => {
        $crate::old_rows::remove_oldest!(
            $session,
            $table by $table::digest => String,
            |digests: Vec<String>| $table::digest.eq_any(digests),
            $($old)+
        )
    };
    ($session:expr, $table:ident by $key:expr => $Key:ty, $is_one_of:expr, $at:ident < $before:expr, $limit:expr) => {
        $crate::old_rows::remove_oldest!(
            $session,
            $table by $key => $Key,
            $is_one_of,
            $table::table.filter($table::$at.lt($before)),
            order $table::$at,
            $limit
        )
    };
    ($session:expr, $table:ident by $key:expr => $Key:ty, $is_one_of:expr, $old:expr, order $at:expr, $limit:expr) => {{
        use $crate::session::ExecuteExt as _;
        match $crate::old_rows::oldest!($session, $old, order $at, key $key => $Key, limit $limit) {
            None => 0,
            Some((atomic, oldest)) => {
                let is_one_of = $is_one_of;
                let these = $table::table.filter(is_one_of(oldest));
                let removed = diesel::delete(these).run_on(atomic.connection()).await?;
                atomic.commit().await?;
                removed
            }
        }
    }};
}
pub(crate) use remove_oldest;
