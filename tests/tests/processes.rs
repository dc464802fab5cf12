//! The program as operators run it: its commands, its background work, and faults.

mod background;
mod command_line;
mod faults;
