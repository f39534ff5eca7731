//! Certificates are checked, always: a server on loopback with good and bad ones.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use url::Url;

use crate::tools::web::connector::{Connector, NetworkConnector};

const AUTHORITY: &[u8] = include_bytes!("certificates/authority.der");
const VALID: &[u8] = include_bytes!("certificates/valid.der");
const EXPIRED: &[u8] = include_bytes!("certificates/expired.der");
const SELF_SIGNED: &[u8] = include_bytes!("certificates/self-signed.der");
/// Guards nothing: it exists for these tests alone.
const KEY: &[u8] = include_bytes!("certificates/server.key.der");

/// Serves one connection; the handle answers what the client sent once it trusted the server.
fn serve(certificate: &'static [u8]) -> (SocketAddr, std::thread::JoinHandle<String>) {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(certificate)], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = Stream::new(&mut connection, &mut socket);
        let mut request = [0; 4096];
        let Ok(count) = stream.read(&mut request) else { return String::new() };
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
        drop(stream.write_all(answer));
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    (address, serving)
}

fn connector(with_authority: bool) -> NetworkConnector {
    let provider = Arc::new(ring::default_provider());
    let roots = with_authority.then(|| CertificateDer::from(AUTHORITY));
    let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(roots, provider.clone()).unwrap();
    NetworkConnector::with_verifier(Duration::from_secs(5), provider, Arc::new(verifier)).unwrap()
}

async fn get(connector: &NetworkConnector, host: &str, address: SocketAddr) -> Result<String, String> {
    let url = Url::parse(&format!("https://{host}:{}/", address.port())).unwrap();
    let response = connector.get(&url, &[address]).await?;
    Ok(response.text().await.unwrap())
}

#[tokio::test]
async fn a_server_with_a_good_certificate_is_read() {
    let (address, serving) = serve(VALID);
    assert_eq!(get(&connector(true), "secure.test", address).await.as_deref(), Ok("ok"));
    assert!(serving.join().unwrap().starts_with("GET / HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_server_with_a_bad_certificate_gets_no_request() {
    for (what, host, certificate, with_authority) in [
        ("another name", "other.test", VALID, true),
        ("expired", "secure.test", EXPIRED, true),
        ("self-signed", "secure.test", SELF_SIGNED, true),
        ("an authority that nobody knows", "secure.test", VALID, false),
    ] {
        let (address, serving) = serve(certificate);
        let reason = get(&connector(with_authority), host, address).await.unwrap_err();
        assert!(reason.contains("certificate"), "{what}: {reason}");
        assert_eq!(serving.join().unwrap(), "", "{what}");
    }
}
