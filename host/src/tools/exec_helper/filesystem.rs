//! What a confined command may read, write and execute, held by Landlock; also, where the kernel has it,
//! that no signal leaves the confinement. Must not know which command it is.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};

use super::message::FileAccess;

/// Below this a file outside could still be emptied, so nothing less counts as confinement (Linux 6.2).
const REQUIRED: ABI = ABI::V3;

/// Up to here each right is asked for where the kernel knows it (Linux 6.15).
const WANTED: ABI = ABI::V7;

/// Programs and what they need to run: read and execute.
const PROGRAMS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];

/// Facts of the machine and configuration without secrets: read only.
const FACTS: &[&str] = &[
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/manpath.config",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/etc/xattr.conf",
];

/// Devices that hold nothing: read and write.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Confines this thread and all that it starts. Gives the Landlock ABI in use.
///
/// # Errors
/// In words, where the kernel does not enforce what is required: nothing may be run then.
pub(super) fn confine(access: &FileAccess, temporary: Option<&Path>) -> Result<u32, String> {
    let failed = |error: &dyn std::error::Error| format!("Landlock refused: {}", chain(error));
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute = read | AccessFs::Execute;
    let all = AccessFs::from_all(WANTED);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;

    let workspace = PathFd::new(".").map_err(|error| failed(&error))?;
    let in_workspace = if access.write_workspace { all } else { execute };
    let temporary = temporary.map(PathFd::new).transpose().map_err(|error| failed(&error))?;

    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(REQUIRED))
        .map_err(|error| failed(&error))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|rules| rules.handle_access(AccessNet::from_all(WANTED)))
        .and_then(|rules| rules.scope(Scope::from_all(WANTED)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(PROGRAMS, execute)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&access.readable, execute)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(FACTS, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, device)))
        .and_then(|rules| rules.add_rule(PathBeneath::new(workspace, in_workspace)))
        .and_then(|rules| rules.add_rules(temporary.map(|fd| Ok(PathBeneath::new(fd, all)))))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|error| failed(&error))?;
    match (status.ruleset, status.landlock) {
        (
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced,
            LandlockStatus::Available { effective_abi, .. },
        ) => Ok(effective_abi as u32),
        (_, landlock) => Err(format!("Landlock is not enforced: {landlock:?}")),
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
