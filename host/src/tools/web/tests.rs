//! Web reading against scripted resolvers, recorded connections and servers on loopback.

mod addresses;
mod exchange;
mod support;
mod text;
mod tls;
mod urls;
