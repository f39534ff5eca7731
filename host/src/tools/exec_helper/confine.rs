//! The process that confines itself and becomes the command: no terminal, limits, no new privileges, files by
//! Landlock, system calls by seccomp. Where any of it cannot be had, nothing is run.

use std::io::{BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::seccomp;
use super::spec::{Probed, Spec, Start};

/// Exit code where the command could not be started; the shell's own for "not found".
const NOT_STARTED: u8 = 127;

/// Directories of the system that every command may read and run from.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];
/// Files of the system that common programs do not start without. Nothing in them is secret.
const FILES: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/os-release",
    "/etc/mime.types",
    "/etc/protocols",
    "/etc/services",
    "/etc/python3",
    "/etc/perl",
    "/etc/java",
    "/etc/gitconfig",
    "/proc",
    "/sys/devices/system/cpu",
];
/// Devices.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Most processes and threads of the user.
const PROCESSES: u64 = 4096;
/// Most bytes of one file.
const FILE_BYTES: u64 = 4 << 30;
/// Most open files of a process.
const OPEN_FILES: u64 = 4096;

/// Becomes the command. Returns only where that failed.
pub(super) fn main() -> ExitCode {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let spec = read
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str::<Spec>(&line).map_err(|error| error.to_string()));
    let error = match spec {
        Ok(spec) => match prepare(&spec) {
            Ok(()) => format!("cannot run {}: {}", shown(&spec.start), command(&spec.start).exec()),
            Err(error) => format!("not run, since it could not be confined: {error}"),
        },
        Err(error) => format!("the helper was not told what to run: {error}"),
    };
    let _ = writeln!(std::io::stdout(), "deputy: {error}");
    ExitCode::from(NOT_STARTED)
}

/// Says what this machine enforces, having tried it on itself.
pub(super) fn probe() -> ExitCode {
    let enforced = files(&[PathBuf::from("/")], &[]).and_then(|files| {
        seccomp::apply()?;
        Ok(format!("{files}; system calls by seccomp"))
    });
    let told = serde_json::to_string(&Probed { enforced }).unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{told}");
    ExitCode::SUCCESS
}

fn prepare(spec: &Spec) -> Result<(), String> {
    let system = |what: &str, error: rustix::io::Errno| format!("{what}: {error}");
    // A session of its own: one group to kill, and no terminal.
    rustix::process::setsid().map_err(|error| system("setsid", error))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| system("parent death signal", error))?;
    // What a shell or a build left open for its children is none of the command's.
    close_fds::set_fds_cloexec(3, &[]);
    let null = std::fs::File::open("/dev/null").map_err(|error| format!("/dev/null: {error}"))?;
    rustix::stdio::dup2_stdin(&null).map_err(|error| system("standard input", error))?;
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Nproc, PROCESSES),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Nofile, OPEN_FILES),
    ] {
        limit(resource, most).map_err(|error| system("resource limit", error))?;
    }
    rustix::thread::set_no_new_privs(true).map_err(|error| system("no new privileges", error))?;
    if !spec.confined {
        return Ok(());
    }
    drop_capabilities().map_err(|error| system("capabilities", error))?;
    let mut read: Vec<PathBuf> = SYSTEM.iter().chain(FILES).map(PathBuf::from).collect();
    read.extend(spec.readable.iter().cloned());
    let mut write: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    write.push(spec.temporary.clone());
    if spec.writable { &mut write } else { &mut read }.push(spec.workspace.clone());
    files(&read, &write)?;
    seccomp::apply()
}

/// Gives up what root can do beside reaching files, which Landlock bounds: a command of root's could otherwise
/// read the environment of any process, past Landlock.
fn drop_capabilities() -> rustix::io::Result<()> {
    let held = rustix::thread::capabilities(None)?;
    let kept = held.permitted & (CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER);
    rustix::thread::clear_ambient_capability_set()?;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets)
}

/// Lowers a limit; one that is lower already stays.
fn limit(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let lower = |value: Option<u64>| Some(value.map_or(most, |value| value.min(most)));
    rustix::process::setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) })
}

/// Confines this process to these files, what it may do to them, and, where the kernel can, to no TCP, no
/// abstract sockets and no signals to others. Says in words what is in force.
fn files(read: &[PathBuf], write: &[PathBuf]) -> Result<String, String> {
    let abi = ABI::V6;
    let restrict = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            // Below this a file outside could still be emptied, so nothing less counts (Linux 6.2).
            .handle_access(AccessFs::from_all(ABI::V3))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .scope(Scope::from_all(abi))?
            .create()?
            .add_rules(path_beneath_rules(read, AccessFs::from_read(abi)))?
            .add_rules(path_beneath_rules(write, AccessFs::from_all(abi)))?
            .restrict_self()
    };
    let status = restrict().map_err(|error| format!("Landlock: {error}"))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok("files, TCP, signals and abstract sockets by Landlock".to_owned()),
        RulesetStatus::PartiallyEnforced => {
            Ok("files by Landlock (the kernel is too old for its newer parts)".to_owned())
        }
        RulesetStatus::NotEnforced => Err("Landlock: the kernel does not enforce it".to_owned()),
    }
}

fn command(start: &Start) -> Command {
    match start {
        Start::Shell(line) => {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(line);
            command
        }
        Start::Program(program, arguments) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    }
}

fn shown(start: &Start) -> String {
    match start {
        Start::Shell(_) => "`/bin/sh`".to_owned(),
        Start::Program(program, _) => format!("`{program}`"),
    }
}
