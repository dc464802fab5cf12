//! Time limits of SQLite statements. SQLite calls a progress handler of a connection during a statement; a statement
//! whose time is over, or that was cancelled, ends with the error `interrupted` (`SQLITE_INTERRUPT`).
//!
//! Diesel has no access to this function of SQLite. Each connection that is opened after [`install`] gets the handler.
//! The handler reads the limit from the thread that runs the statement: [`run`] sets it.

use libsqlite3_sys::{
    SQLITE_OK, sqlite3, sqlite3_api_routines, sqlite3_auto_extension, sqlite3_progress_handler,
};
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

/// The number of instructions of SQLite's virtual machine between two calls of the handler: about 20 microseconds.
const INSTRUCTIONS: c_int = 1000;

thread_local! {
    /// The limit of the statement that runs on this thread.
    static CURRENT: RefCell<Option<Limit>> = const { RefCell::new(None) };
}

struct Limit {
    deadline: Instant,
    cancelled: Cancellation,
}

/// Ends a statement from another thread.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Ends the statements that run with this cancellation, and those that will.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Adds the handler to every connection that this process opens from now on.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: `prepare` has the signature of an entry point, and exists as long as the process. The function
        // initializes SQLite if needed.
        #[expect(unsafe_code, reason = "a function of SQLite without a safe wrapper")]
        let registered = unsafe { sqlite3_auto_extension(Some(prepare)) };
        assert_eq!(registered, SQLITE_OK, "out of memory");
    });
}

/// Runs statements on this thread. Each that is still running after `limit`, or after the cancellation, ends with the
/// error `interrupted`.
pub fn run<R>(limit: Duration, cancelled: Cancellation, statements: impl FnOnce() -> R) -> R {
    struct Restore(Option<Limit>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(Some(Limit { deadline: Instant::now() + limit, cancelled })));
    statements()
}

/// SQLite calls it for each new connection.
#[expect(unsafe_code, reason = "called by SQLite, with a connection it has just opened")]
unsafe extern "C" fn prepare(
    connection: *mut sqlite3,
    _: *mut *mut c_char,
    _: *const sqlite3_api_routines,
) -> c_int {
    // SAFETY: the connection is open, and the handler uses no argument.
    unsafe { sqlite3_progress_handler(connection, INSTRUCTIONS, Some(is_over), null_mut()) };
    SQLITE_OK
}

/// SQLite calls it during statements; not 0 ends the statement. Does not panic.
#[expect(unsafe_code, reason = "the signature that SQLite calls")]
unsafe extern "C" fn is_over(_: *mut c_void) -> c_int {
    let over = CURRENT.try_with(|current| {
        let current = current.try_borrow();
        current.is_ok_and(|limit| {
            limit.as_ref().is_some_and(|l| l.cancelled.is_cancelled() || Instant::now() >= l.deadline)
        })
    });
    c_int::from(over.unwrap_or(false))
}
