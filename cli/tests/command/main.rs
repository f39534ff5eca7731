//! The real binary: what it prints, what it sends to model servers on loopback, and how it ends.

mod bad_input;
mod components;
mod deputy;
mod models;
mod output;
mod server;
mod signals;
mod tools;
