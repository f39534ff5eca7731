//! A resolver that follows a script, a connector that records, and a server on loopback.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::tools::web::client::{ReadPage, WebClient};
use crate::tools::web::connector::{Connector, NetworkConnector};
use crate::tools::web::fault::WebFault;
use crate::tools::web::limits::WebLimits;
use crate::tools::web::resolver::Resolver;

pub(super) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Answers from a script: each look-up of a name takes the next answer, the last one stays.
#[derive(Debug, Default)]
pub(super) struct Script {
    answers: BTreeMap<String, Vec<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Script {
    pub(super) fn with(mut self, name: &str, answers: &[&[IpAddr]]) -> Self {
        self.answers.insert(name.to_owned(), answers.iter().map(|answer| answer.to_vec()).collect());
        self
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for Script {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = self.asked.lock().unwrap();
        let before = asked.iter().filter(|name| *name == host).count();
        asked.push(host.to_owned());
        let answers = self.answers.get(host).ok_or_else(|| io::Error::other("not in the script"))?;
        Ok(answers[before.min(answers.len() - 1)].clone())
    }
}

/// Records every attempt. What is not on loopback goes to the stand-in server or nowhere.
#[derive(Debug)]
pub(super) struct Recorder {
    inner: NetworkConnector,
    stand_in: Option<SocketAddr>,
    attempts: Mutex<Vec<SocketAddr>>,
}

impl Recorder {
    pub(super) fn new(stand_in: Option<SocketAddr>) -> Self {
        let inner = NetworkConnector::new(Duration::from_secs(5)).unwrap();
        Self { inner, stand_in, attempts: Mutex::default() }
    }

    pub(super) fn attempts(&self) -> Vec<SocketAddr> {
        self.attempts.lock().unwrap().clone()
    }
}

#[async_trait]
impl Connector for Recorder {
    async fn get(&self, url: &Url, addresses: &[SocketAddr]) -> Result<reqwest::Response, String> {
        self.attempts.lock().unwrap().extend(addresses);
        let all_here = addresses.iter().all(|address| address.ip().is_loopback());
        match self.stand_in {
            _ if all_here => self.inner.get(url, addresses).await,
            Some(stand_in) if url.domain().is_some() => self.inner.get(url, &[stand_in]).await,
            _ => Err("recorded, not sent".to_owned()),
        }
    }
}

/// A client with its parts at hand.
pub(super) struct Bench {
    pub(super) client: Arc<WebClient>,
    pub(super) script: Arc<Script>,
    pub(super) recorder: Arc<Recorder>,
}

impl Bench {
    pub(super) fn new(limits: WebLimits, script: Script, stand_in: Option<SocketAddr>) -> Self {
        let (script, recorder) = (Arc::new(script), Arc::new(Recorder::new(stand_in)));
        let client = Arc::new(WebClient::with_parts(limits, script.clone(), recorder.clone()).unwrap());
        Self { client, script, recorder }
    }

    /// A client for which `page.test` is the server.
    pub(super) fn with_page(server: &Server, limits: WebLimits) -> Self {
        let allow_private = vec![format!("page.test:{}", server.address.port())];
        let script = Script::default().with("page.test", &[&[LOOPBACK]]);
        Self::new(WebLimits { allow_private, ..limits }, script, None)
    }

    pub(super) async fn read(&self, url: &str) -> Result<ReadPage, WebFault> {
        self.client.read(url, 64 * 1024, &CancellationToken::new()).await
    }
}

/// What a server does with one connection.
#[derive(Clone)]
pub(super) enum Reply {
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends the first, then the second again and again, at this interval.
    Endless(Vec<u8>, Vec<u8>, Duration),
    /// Sends these bytes and then nothing.
    Silent(Vec<u8>),
}

impl Reply {
    pub(super) fn page(content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self::with_headers(&format!("Content-Type: {content_type}\r\n"), body)
    }

    pub(super) fn with_headers(headers: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        Self::Bytes([head.as_bytes(), body].concat())
    }

    pub(super) fn redirect(location: &str) -> Self {
        Self::Bytes(
            format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into_bytes(),
        )
    }
}

/// A server on loopback that answers each request line by a function and keeps what was sent to it.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, reply) = (requests.clone(), Arc::new(reply));
        let serving = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let (kept, reply) = (kept.clone(), reply.clone());
                connections.spawn(async move {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        let mut buffer = [0; 4096];
                        match stream.read(&mut buffer).await {
                            Ok(count) if count > 0 => request.extend(&buffer[..count]),
                            _ => return,
                        }
                    }
                    let request = String::from_utf8(request).unwrap();
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    kept.lock().unwrap().push(request);
                    match reply(&path) {
                        Reply::Bytes(bytes) => drop(stream.write_all(&bytes).await),
                        Reply::Silent(bytes) => {
                            drop(stream.write_all(&bytes).await);
                            std::future::pending::<()>().await;
                        }
                        Reply::Endless(first, then, every) => {
                            let mut turns = tokio::time::interval(every.max(Duration::from_micros(1)));
                            let mut sent = stream.write_all(&first).await;
                            while sent.is_ok() {
                                turns.tick().await;
                                sent = stream.write_all(&then).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, requests, serving }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://page.test:{}{path}", self.address.port())
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
