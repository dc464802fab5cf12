//! The panel: its pages, and a browser that opens them.

mod browser;
mod panel;
