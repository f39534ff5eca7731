//! TLS for every client of this host: the platform's trust, one provider, nothing global. Must not connect.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// A configuration that trusts what this machine trusts. Where it has no certificates and `needed` is false, it
/// trusts nobody: plain servers are still reached, and every TLS server is refused.
///
/// # Errors
/// What is wrong with this machine's certificates, where they are needed.
pub(crate) fn client_config(needed: bool) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let mut config = match builder.clone().with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        Err(_) if !needed => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
        Err(error) => return Err(format!("this machine's certificates could not be read: {error}")),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
