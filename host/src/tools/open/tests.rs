use std::io::Read;
use std::path::Path;

use super::read_capped;
use crate::tools::testing::Place;
use crate::tools::{ToolError, ToolLimits};

#[test]
fn a_file_that_grows_while_it_is_read_stops_at_the_cap() {
    let place = Place::with(ToolLimits { file_bytes: 3_000_000, ..ToolLimits::default() });
    let content = read_capped(&place.context, std::io::repeat(b'x'), 0, Path::new("grows")).unwrap();
    assert_eq!((content.bytes.len(), content.whole), (3_000_000, false));
}

#[test]
fn what_claims_no_size_is_read_all_the_same() {
    let place = Place::with(ToolLimits { file_bytes: 3, ..ToolLimits::default() });
    let content = read_capped(&place.context, &b"abc"[..], 0, Path::new("generated")).unwrap();
    assert_eq!((content.bytes.as_slice(), content.whole), (&b"abc"[..], true));
}

#[test]
fn reading_ends_when_the_run_is_stopped() {
    let place = Place::new();
    let cancel = place.context.cancel.clone();
    struct Stops<F>(F);
    impl<F: FnMut()> Read for Stops<F> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            (self.0)();
            into.fill(b'x');
            Ok(into.len())
        }
    }
    let ended = read_capped(&place.context, Stops(|| cancel.cancel()), 0, Path::new("endless"));
    assert_eq!(ended.unwrap_err(), ToolError::Cancelled);
}
