//! `deputy run`: one task, from the command line to its end. Must not print but through render.

mod models;
mod options;
mod record;
mod signals;
mod task;

use std::sync::Arc;
use std::time::Duration;

use deputy::agent::AgentReport;
use deputy::host::Host;
use tokio_util::sync::CancellationToken;

use crate::approve;
use crate::arguments::{Output, RunArguments};
use crate::ending::{Ending, ends};
use crate::environment::{Variables, connected};
use crate::render::{self, Live, LiveOptions};
use crate::task_records::TaskRecords;
use crate::{sessions, settings};
use options::RunOptions;
use signals::Signals;

/// How long threads that are stuck in a system call hold up the end.
const LINGER: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: RunArguments) -> anyhow::Result<Ending> {
    let output = arguments.output;
    let live = Live::new(LiveOptions {
        quiet: arguments.quiet,
        events: output == Output::Jsonl,
        trace_guest: arguments.trace_guest,
    });
    let ended =
        RunOptions::resolve(arguments, &Variables::of_process()).and_then(|options| work(&options, &live));
    live.finish();
    match ended {
        Ok(ended) => tell(output, &ended),
        Err(error) => {
            // Whoever reads JSON reads the failure there as well.
            record::tell(output, &record::of_error(&error));
            Err(error)
        }
    }
}

/// A run that ended.
struct Ended {
    ending: Ending,
    report: AgentReport,
    /// Whether its conversation can be gone on with.
    kept: bool,
}

fn work(options: &RunOptions, live: &Live) -> anyhow::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let stop = CancellationToken::new();
        let signals = Signals::watch(stop.clone(), live.clone())?;
        let host = host(options, live, &stop)?;
        let report = host.run_until(options.request.clone(), stop).await;
        let kept = host.session_store().filter(|_| report.turns > 0);
        if let Some(store) = kept {
            // An answer is worth more than tidiness.
            let tidied = sessions::keep_few(&**store, &options.setup.workspace).await;
            if let (Err(error), false) = (tidied, options.quiet) {
                render::warning(&format!("old conversations are not forgotten: {error:#}"));
            }
        }
        let kept = kept.is_some();
        anyhow::Ok(Ended { ending: Ending::of(report.status, signals.which()), report, kept })
    });
    runtime.shutdown_timeout(LINGER);
    ended
}

fn tell(output: Output, ended: &Ended) -> anyhow::Result<Ending> {
    let Ended { ending, report, kept } = ended;
    match (output, &report.answer) {
        (Output::Text, Some(answer)) => render::answer(answer),
        (Output::Text, None) => {}
        (Output::Json | Output::Jsonl, _) => record::tell(output, &record::of_report(report, *ending)),
    }
    match &report.error {
        Some(error) if *kept => {
            Err(ends(*ending, &format!("{error}\n`deputy run --continue` goes on with the conversation")))
        }
        Some(error) => Err(ends(*ending, error)),
        None => Ok(*ending),
    }
}

fn host(options: &RunOptions, live: &Live, stop: &CancellationToken) -> anyhow::Result<Host> {
    let setup = &options.setup;
    let builder = Host::builder()
        .model(connected(options.model.clone())?)
        .approver(approve::approver(live, stop))
        .web(settings::web()?)
        .sandbox(settings::sandbox(options.quiet))
        .parallel_tool_calls(options.parallel)
        .events(live.clone());
    let mut builder = setup.apply_with_subagents(builder);
    if let Some(turns) = options.max_turns {
        builder = builder.max_turns(turns);
    }
    if let Some(system) = &options.system {
        builder = builder.system(system);
    }
    if options.store {
        builder = builder.task_store_on_demand(Arc::new(TaskRecords::of(&setup.workspace)));
        match sessions::store(&setup.workspace) {
            Ok(store) => builder = builder.sessions(store),
            Err(reason) if !options.quiet => {
                render::warning(&format!("conversations are not kept: {reason}"));
            }
            Err(_) => {}
        }
    }
    builder = match settings::confinement(setup.shell)? {
        Ok(confinement) => builder.confinement(confinement),
        Err(reason) => {
            if !options.quiet {
                render::warning(&format!("no tool starts a process: {reason}"));
            }
            builder.no_confinement(reason)
        }
    };
    Ok(builder.build()?)
}
