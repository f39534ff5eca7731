//! Why a page was not read. No message repeats a query string or credentials, and what a server sent is
//! shortened with its control characters written out.

use std::net::IpAddr;
use std::time::Duration;

use super::target::UrlRefusal;
use crate::tools::ToolError;

/// Why a page was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WebFault {
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    #[error("port {port} is not one that web pages may be read from; use another address")]
    Port { port: u16 },
    #[error(
        "`{host}` is a {kind} address ({address}), not a public one; use a public page (the operator can name `{host}:{port}` in `allow_private`)"
    )]
    NotPublic { host: String, port: u16, address: IpAddr, kind: &'static str },
    #[error(
        "`{host}` is a name of this machine, not a public one; use a public page (the operator can name `{host}:{port}` in `allow_private`)"
    )]
    LocalName { host: String, port: u16 },
    #[error("the name `{host}` has no address ({reason}); check the spelling")]
    NoAddress { host: String, reason: String },
    #[error("no answer from {target}: {reason}; try another address or later")]
    NoAnswer { target: String, reason: String },
    #[error("the answer of {target} broke off after {bytes} bytes: {reason}; try again")]
    BrokeOff { target: String, bytes: usize, reason: String },
    #[error("{target} was not read within {} ms; it is too slow or too large", limit.as_millis())]
    Deadline { target: String, limit: Duration },
    #[error("more than {limit} redirects, the last to {target}; use the address that they lead to")]
    Redirects { limit: usize, target: String },
    #[error("redirect {hop} cannot be followed: {fault}")]
    Redirect { hop: usize, fault: Box<WebFault> },
    #[error(
        "{target} redirects from https to http; an unprotected page is not read in place of a protected one"
    )]
    Downgrade { target: String },
    #[error("{target} answered {status} without a usable `Location`; use another address")]
    Location { target: String, status: u16 },
    #[error(
        "{target} answered with the encoding `{encoding}` although none was asked for; it cannot be read"
    )]
    Encoding { target: String, encoding: String },
    #[error(
        "{target} is `{content_type}` ({size}), not text; only HTML, XML, JSON and other text can be read"
    )]
    NotText { target: String, content_type: String, size: String },
    #[error("the text of {target} could not be made: {reason}")]
    Conversion { target: String, reason: String },
    #[error("cancelled")]
    Cancelled,
}

impl From<WebFault> for ToolError {
    fn from(fault: WebFault) -> Self {
        match fault {
            WebFault::Cancelled => Self::Cancelled,
            WebFault::Deadline { .. } => Self::TimedOut(fault.to_string()),
            WebFault::Url(_) => Self::InvalidArguments(fault.to_string()),
            _ => Self::Failed(fault.to_string()),
        }
    }
}
