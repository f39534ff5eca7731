//! From a base URL, as people write it, to the URL of a request. Must not connect to anything.

use reqwest::Url;

/// The two kinds of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum Endpoint {
    /// `{base}/chat/completions`, where a base without a path gets `/v1`.
    ChatCompletions,
    /// `{base}/v1/messages`.
    Messages,
}

/// The URL to send requests to, or what is wrong with `base`. A base that is the whole URL stays.
pub(in crate::model) fn endpoint(base: &str, kind: Endpoint) -> Result<Url, String> {
    let base = base.trim();
    let mut url = Url::parse(base).map_err(|error| match error.to_string() {
        reason if reason.contains("without a base") => format!("it has no scheme, try `https://{base}`"),
        reason => reason,
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme();
        return Err(match base.split_once("://") {
            Some(_) => format!("its scheme is `{scheme}`"),
            None => format!("it has no scheme, try `http://{base}`"),
        });
    }
    let path = url.path().trim_end_matches('/');
    let path = match kind {
        Endpoint::ChatCompletions if path.ends_with("/chat/completions") => path.to_owned(),
        Endpoint::ChatCompletions if path.is_empty() => "/v1/chat/completions".to_owned(),
        Endpoint::ChatCompletions => format!("{path}/chat/completions"),
        Endpoint::Messages if path.ends_with("/v1/messages") => path.to_owned(),
        Endpoint::Messages if path.ends_with("/v1") => format!("{path}/messages"),
        Endpoint::Messages => format!("{path}/v1/messages"),
    };
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// The URL as it is shown: without credentials, query and fragment.
pub(in crate::model) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have credentials in the first place.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// Whether two URLs have scheme, host and port in common.
pub(in crate::model) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Whether the URL's host is this machine.
pub(in crate::model) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
