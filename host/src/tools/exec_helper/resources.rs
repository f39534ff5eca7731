//! What one process of a command may use up, and the privileges that it loses. Must not know files.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use crate::tools::confinement::CommandLimits;

/// Sets the limits for this process and all that it starts. A limit that is lower already stays.
pub(super) fn limit(limits: &CommandLimits) -> Result<(), String> {
    // The kernel counts every thread of the user, so what runs already comes on top.
    let processes = threads_of_user().saturating_add(u64::from(limits.processes));
    for (resource, most) in [
        (Resource::Nproc, processes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, u64::from(limits.open_files)),
        (Resource::As, limits.address_space_bytes),
        (Resource::Data, limits.data_bytes),
        (Resource::Core, 0),
    ] {
        let lower = |given: Option<u64>| Some(given.map_or(most, |given| given.min(most)));
        let given = getrlimit(resource);
        let limit = Rlimit { current: lower(given.current), maximum: lower(given.maximum) };
        setrlimit(resource, limit).map_err(|error| format!("cannot set the limit {resource:?}: {error}"))?;
    }
    Ok(())
}

/// Gives every capability away but the one to reach files of other owners: the workspace may be somebody
/// else's, and which files can be reached at all is not its matter.
pub(super) fn drop_capabilities() -> Result<(), String> {
    let failed = |error: Errno| format!("cannot give up capabilities: {error}");
    let kept = capabilities(None).map_err(failed)?.permitted & CapabilitySet::DAC_OVERRIDE;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(failed)
}

fn threads_of_user() -> u64 {
    let user = getuid().as_raw();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == user))
        .map(|entry| fs::read_dir(entry.path().join("task")).map_or(1, |tasks| tasks.count() as u64))
        .sum()
}
