//! Runs one command for a tool: hands the job to the helper, waits or follows it, and says how it ended.
//! Must not start a command itself, and must not decide whether it may run.

mod helper;
mod outcome;
mod time_limit;

use super::exec_helper::message::{Identity, Job, Launch, Live};
use super::{CallContext, Confinement, ToolError};
use deputy_contract::render;

/// A command that ended by itself or by a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// None where a signal ended it.
    pub exit_code: Option<i32>,
    /// Standard output and standard error as they came, head and tail kept. Control characters are left as
    /// they came.
    pub output: String,
    /// True where a size cap cut the output.
    pub cut: bool,
    /// Anything worth knowing, in words; empty where there is nothing.
    pub note: String,
}

/// What a command tool wants run.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Name on the search path, or a path.
    pub(super) program: String,
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// The time limit that the call asks for, in milliseconds.
    pub(super) timeout_ms: Option<u64>,
    /// True where it may change the workspace.
    pub(super) write_workspace: bool,
}

/// Room for what stands beside the output in a result: exit code, mark of the cut, note.
const FRAME_BYTES: usize = 1024;

/// Runs it to its end.
///
/// # Errors
/// A [`ToolError`] where it did not run, ran into a limit, or was cancelled. An exit code other than 0 is no
/// error.
pub(super) async fn run(
    confinement: &Confinement,
    wanted: Wanted,
    context: &CallContext,
) -> Result<Finished, ToolError> {
    let Prepared { job, of } = prepare(confinement, wanted, context)?;
    let report = helper::supervise(confinement.helper(), &job, context, None).await?;
    outcome::outcome(report, &of)
}

/// Runs it to its end and hands its output on as it comes; the result has none then.
///
/// # Errors
/// As [`run`].
pub(super) async fn follow(
    confinement: &Confinement,
    prepared: Prepared,
    context: &CallContext,
    said: &mut (dyn FnMut(Live) + Send),
) -> Result<Finished, ToolError> {
    let Prepared { mut job, mut of } = prepared;
    (job.live, job.output_bytes, of.live) = (true, 0, true);
    let mut report = helper::supervise(confinement.helper(), &job, context, Some(said)).await?;
    (report.head, report.left_out, report.tail) = (String::new(), 0, String::new());
    outcome::outcome(report, &of)
}

/// A command that is sure to make sense and has yet to start.
#[derive(Debug)]
pub(super) struct Prepared {
    job: Job,
    of: outcome::Circumstances,
}

impl Prepared {
    /// How long it may run.
    pub(super) fn time_limit(&self) -> std::time::Duration {
        self.of.time.limit
    }
}

/// Checks what is wanted and shuts it in.
///
/// # Errors
/// A [`ToolError`] where it could not be run.
pub(super) fn prepare(
    confinement: &Confinement,
    wanted: Wanted,
    context: &CallContext,
) -> Result<Prepared, ToolError> {
    let time = time_limit::resolve(wanted.timeout_ms, &context.limits)?;
    if wanted.program.is_empty() {
        return Err(ToolError::InvalidArguments("the program's name is empty; name one".to_owned()));
    }
    if wanted.args.iter().chain([&wanted.program]).any(|text| text.contains('\0')) {
        return Err(ToolError::InvalidArguments(
            "a command line cannot hold a NUL character; leave it out".to_owned(),
        ));
    }
    let not_run =
        |problem: &dyn std::fmt::Display| ToolError::Failed(format!("the command was not run: {problem}"));
    let opened = context.workspace.root().dir_metadata().map_err(|error| not_run(&error))?;
    let workspace = Identity {
        device: cap_std::fs::MetadataExt::dev(&opened),
        inode: cap_std::fs::MetadataExt::ino(&opened),
    };
    let temporary = confinement.temporary();
    let environment = confinement
        .environment(temporary.to_str().ok_or_else(|| not_run(&"the path for temporary files is no UTF-8"))?);
    let job = Job {
        launch: Launch {
            program: wanted.program,
            args: wanted.args,
            workspace,
            temporary,
            environment,
            access: confinement.access(wanted.write_workspace),
            limits: confinement.command_limits(),
        },
        time_limit_ms: u64::try_from(time.limit.as_millis()).unwrap_or(u64::MAX),
        output_bytes: output_bytes(context.limits.result_bytes),
        live: false,
    };
    let of = outcome::Circumstances {
        mode: confinement.mode(),
        time,
        longest: context.limits.command_time_max,
        processes: job.launch.limits.processes,
        write_workspace: wanted.write_workspace,
        live: false,
    };
    Ok(Prepared { job, of })
}

/// A result as a model reads it.
pub(super) fn render(finished: &Finished) -> String {
    render::finished(finished.exit_code, &finished.output, &finished.note)
}

/// What of a result is for output: all but the frame, at least half.
fn output_bytes(result_bytes: usize) -> usize {
    result_bytes.saturating_sub(FRAME_BYTES).max(result_bytes / 2)
}

#[cfg(test)]
mod tests;
