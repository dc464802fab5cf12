//! The program as a process of its own: demo, TLS, signals, traces, uploads, and kills while webhooks are sent.

mod process;
mod traces;
mod uploads;
mod webhooks;
