//! The last step before a command: shuts this process in, then becomes the command.
//! Anything that fails here fails the call; a command never runs less confined than it was to be.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin};
use rustix::thread::set_no_new_privs;

use super::message::{Launch, StartError};
use super::{descriptors, filesystem, resources, system_calls};

/// Becomes the command that standard input names. Comes back only where that fails.
///
/// Standard error is the supervisor's own pipe at first: an error goes there as one line of JSON; it is
/// closed by the command's start, so its end without a line means that the command runs.
pub(super) fn run() -> ExitCode {
    let status = fcntl_dupfd_cloexec(io::stderr(), 3);
    let error = prepare().map_or_else(|error| error, |mut command| started_not(&command.exec(), &command));
    if let (Ok(status), Ok(line)) = (status, serde_json::to_vec(&error)) {
        // Without a reader there is nobody to tell.
        let _ = fs::File::from(status).write_all(&line);
    }
    ExitCode::FAILURE
}

fn prepare() -> Result<Command, StartError> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: &dyn std::fmt::Display| StartError::Failed(format!("{what}: {error}"))
    };
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| failed("cannot read the job")(&error))?;
    let launch: Launch =
        serde_json::from_str(&text).map_err(|error| failed("cannot understand the job")(&error))?;

    let streams = || -> io::Result<()> {
        dup2_stdin(fs::File::open("/dev/null")?)?;
        dup2_stderr(io::stdout())?;
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        Ok(())
    };
    streams().map_err(|error| failed("cannot set up the command's streams and session")(&error))?;

    let here = fs::metadata(".").map_err(|error| failed("cannot see the workspace")(&error))?;
    if (here.dev(), here.ino()) != (launch.workspace.device, launch.workspace.inode) {
        return Err(StartError::Failed(
            "the workspace is not the directory that was opened: something was put in its place".to_owned(),
        ));
    }
    // What a shell or a build left open for its children is none of the command's.
    close_fds::set_fds_cloexec(3, &[]);
    if let Some((number, target)) =
        descriptors::inherited().map_err(|error| failed("cannot list open descriptors")(&error))?
    {
        return Err(StartError::Failed(format!(
            "the command would inherit descriptor {number} (`{}`) from the host; start the host without it, or open it with close-on-exec",
            target.display()
        )));
    }
    let program = find(&launch)?;
    shut_in(&launch).map_err(StartError::Failed)?;

    let mut command = Command::new(program);
    command.args(launch.args).env_clear().envs(launch.environment);
    Ok(command)
}

/// Everything here is inherited by all that the command starts and can be undone by none of it.
fn shut_in(launch: &Launch) -> Result<(), String> {
    resources::limit(&launch.limits)?;
    set_no_new_privs(true).map_err(|error| format!("cannot rule out new privileges: {error}"))?;
    if let Some(access) = &launch.access {
        filesystem::confine(access, Some(&launch.temporary))?;
        resources::drop_capabilities()?;
        system_calls::confine()?;
    }
    Ok(())
}

/// A bare name on the search path, anything else as a path.
fn find(launch: &Launch) -> Result<PathBuf, StartError> {
    let program = &launch.program;
    if program.contains('/') {
        let path = PathBuf::from(program);
        return match fs::metadata(&path) {
            Ok(_) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StartError::NotFound(format!("there is no `{program}` in the workspace")))
            }
            Err(error) => Err(StartError::Failed(format!("cannot run `{program}`: {error}"))),
        };
    }
    let path = launch.environment.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
    let found = path.split(':').map(|directory| Path::new(directory).join(program)).find(|path| runs(path));
    found.ok_or_else(|| {
        let hint = if runs(Path::new(program)) {
            format!("; for the file in the workspace say `./{program}`")
        } else {
            String::new()
        };
        StartError::NotFound(format!("there is no program `{program}` on PATH ({path}){hint}"))
    })
}

fn runs(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn started_not(error: &io::Error, command: &Command) -> StartError {
    let program = OsString::from(command.get_program());
    let program = program.display();
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; is it executable, and is it in the workspace or a system directory?"
        }
        io::ErrorKind::NotFound => "; the interpreter in its first line may be missing",
        io::ErrorKind::ArgumentListTooLong => "; write long input to a file in the workspace instead",
        _ => "",
    };
    StartError::Failed(format!("cannot run `{program}`: {error}{hint}"))
}
