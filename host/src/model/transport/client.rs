//! The HTTP client of model servers. Must not send anything.

use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use reqwest::{StatusCode, Url};

use super::endpoint::{is_loopback, same_origin};
use crate::tls::client_config;

/// Most redirects that are followed.
const REDIRECTS: usize = 3;

/// A client for requests to `url`, or why there is none.
pub(in crate::model) fn client(url: &Url, connect: Duration) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(client_config(url.scheme() == "https")?)
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
