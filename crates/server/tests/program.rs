//! The program as a process of its own: demo, TLS, signals, traces, and kills in the middle of writes.

mod crash;
mod process;
mod traces;
mod uploads;
mod webhooks;
