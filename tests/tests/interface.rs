//! The interface and its listener, files and archives, through the real server. One binary: each has all of Civitas in it.

mod api;
mod archive;
mod configuration;
mod document;
mod files;
mod listener;
mod names;
mod uploads;
