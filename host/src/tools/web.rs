//! Reading public web pages: which addresses may be reached, how, and how an answer becomes text.
//! Must not know permits or runs.

mod address;
mod client;
mod connector;
mod fault;
mod html;
mod limits;
mod media;
mod resolver;
mod shown;
mod target;

#[cfg(test)]
mod tests;

pub(super) use client::ReadPage;
pub use client::{WebClient, WebClientError};
pub use limits::WebLimits;
pub use resolver::Resolver;
pub(super) use shown::cut_at;
