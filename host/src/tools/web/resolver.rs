//! Names to addresses. Must not judge them.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Turns a name into addresses. A client asks once for each request and connects to nothing but what came
/// back, after it has checked every address.
#[async_trait]
pub trait Resolver: Send + Sync + std::fmt::Debug {
    /// Every address of `host`.
    ///
    /// # Errors
    /// What the system said where the name has none.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver.
#[derive(Debug)]
pub(super) struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The port plays no part in the look-up.
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}
