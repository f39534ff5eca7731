//! The HTTP client: TLS with the platform's trust and no global provider. Must not send anything.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use reqwest::{StatusCode, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::endpoint::{is_loopback, same_origin};

/// Most redirects that are followed.
const REDIRECTS: usize = 3;

/// A client for requests to `url`, or why there is none.
pub(in crate::model) fn client(url: &Url, connect: Duration) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls(url.scheme() == "https")?)
        .connect_timeout(connect)
        .redirect(Policy::custom(follow_at_home))
        .referer(false)
        .user_agent(concat!("deputy/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        // A proxy cannot reach this machine's own servers.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.to_string())
}

/// Follows a redirect only where the body is sent again and to the same origin: the key goes nowhere else.
fn follow_at_home(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps_the_body =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let at_home = attempt.previous().first().is_some_and(|from| same_origin(from, attempt.url()));
    if keeps_the_body && at_home && attempt.previous().len() <= REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn tls(needed: bool) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let mut config = match builder.clone().with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        // A machine without certificates still reaches plain servers; with no roots, TLS trusts nobody.
        Err(_) if !needed => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
        Err(error) => return Err(format!("this machine's certificates could not be read: {error}")),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
