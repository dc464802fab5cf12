//! Conditions that a list may have.

/// Adds a condition to a boxed query for each of these values that is there:
/// `filter_some!(matching; filter.from => |from| jobs::created_at.ge(from))`.
macro_rules! filter_some {
    ($rows:ident; $($value:expr => |$some:ident| $condition:expr),+ $(,)?) => {$(
        if let Some($some) = $value {
            $rows = $rows.filter($condition);
        }
    )+};
}
pub(crate) use filter_some;
