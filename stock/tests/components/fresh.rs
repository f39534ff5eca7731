//! The stock built again from its sources: the same worlds come out.

use deputy_stock::STOCK;

use crate::component::Component;
use crate::guest_build::{cargo_guest, repository};

#[test]
fn a_fresh_build_of_each_has_the_world_of_the_committed_one() {
    let manifest = repository().join("example-agents/Cargo.toml");
    let built = cargo_guest(&manifest, &["build", "--release", "--locked"]);
    for subagent in STOCK {
        let fresh = std::fs::read(built.join(format!("{}.wasm", subagent.name))).unwrap();
        assert_eq!(Component::read(&fresh), Component::read(subagent.wasm), "{}", subagent.name);
        // Another toolchain, or a standard library built elsewhere, gives other bytes: worth knowing, no fault.
        let same = if fresh == subagent.wasm { "the same bytes" } else { "other bytes" };
        println!("{}: {same} as committed ({} and {})", subagent.name, fresh.len(), subagent.wasm.len());
    }
}
