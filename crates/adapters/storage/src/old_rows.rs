//! Old rows, in batches.

/// The keys of the oldest rows of a query, at most a number of them, and the open transaction that has locked them;
/// `None` without rows. Rows that others have locked are left out. The query is given as an expression that builds it.
/// A macro, because the types of locking queries cannot be named.
macro_rules! oldest {
    ($session:expr, $old:expr, order $at:expr, key $key:expr => $Key:ty, limit $limit:expr) => {{
        // Most calls find none, and do not wait for the write lock. The order makes the planner use the index.
        let first: Option<$Key> = $old
            .order($at)
            .select($key)
            .first(&mut *$session.read().await?)
            .await
            .found()?;
        match first {
            None => None,
            Some(_) => {
                let atomic = $session.transaction().await?;
                let oldest = $old.order($at).limit($limit).select($key);
                let oldest: Vec<$Key> = $crate::engine::dialect::skip_locked!(oldest)
                    .load(&mut *atomic.connection().await?)
                    .await
                    .stored()?;
                Some((atomic, oldest))
            }
        }
    }};
}
pub(crate) use oldest;

/// Deletes the oldest rows of a query, at most a number of them; their number. `$among` is a function from their keys
/// to the condition that selects them.
macro_rules! remove_oldest {
    ($session:expr, $table:expr, $old:expr, order $at:expr, key $key:expr => $Key:ty, among $among:expr, limit $limit:expr) => {{
        match $crate::old_rows::oldest!($session, $old, order $at, key $key => $Key, limit $limit) {
            None => 0,
            Some((atomic, oldest)) => {
                let removed = diesel::delete($table.filter($among(oldest)))
                    .execute(&mut *atomic.connection().await?)
                    .await
                    .stored()?;
                atomic.commit().await?;
                removed as u64
            }
        }
    }};
}
pub(crate) use remove_oldest;
