//! Pages of logs.

/// The rows of a boxed query that are on a page of a log, in the order in which they are read. By time and id:
/// `log_page!(rows, page, [jobs::created_at, jobs::id], |id| UuidColumn(id.0))`; by id: with `[jobs::id]`. The last argument
/// makes the value of the column from an id.
macro_rules! log_page {
    ($rows:expr, $page:expr, [$at:expr, $id:expr], |$key:ident| $value:expr) => {{
        let rows = $rows.limit($page.rows_to_fetch());
        // The first condition is a range of the index; the second one decides between rows of one moment.
        match $page.start {
            ::civitas_kernel::LogStart::Newest => rows.order(($at.desc(), $id.desc())),
            ::civitas_kernel::LogStart::OlderThan(at, $key) => {
                rows.filter($at.le(at)).filter($at.lt(at).or($id.lt($value))).order(($at.desc(), $id.desc()))
            }
            ::civitas_kernel::LogStart::NewerThan(at, $key) => {
                rows.filter($at.ge(at)).filter($at.gt(at).or($id.gt($value))).order(($at.asc(), $id.asc()))
            }
        }
    }};
    ($rows:expr, $page:expr, [$id:expr], |$key:ident| $value:expr) => {{
        let rows = $rows.limit($page.rows_to_fetch());
        match $page.start {
            ::civitas_kernel::LogStart::Newest => rows.order($id.desc()),
            ::civitas_kernel::LogStart::OlderThan(_, $key) => rows.filter($id.lt($value)).order($id.desc()),
            ::civitas_kernel::LogStart::NewerThan(_, $key) => rows.filter($id.gt($value)).order($id.asc()),
        }
    }};
}
pub(crate) use log_page;
