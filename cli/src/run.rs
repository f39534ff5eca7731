//! `deputy run`: one task, from the command line to its end. Must not print but through render.

use std::io::Read as _;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use deputy::agent::AgentReport;
use deputy::governance::Policy;
use deputy::host::Host;
use deputy::sandbox::SandboxOptions;
use deputy::tools::{WebClient, WebLimits};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Output, RuleArguments, RunArguments};
use crate::ending::{Ending, ends};
use crate::environment::{confinement, model};
use crate::render::{self, Live, LiveOptions};
use crate::subagents::{plugin, stock};
use crate::{approve, cache};

pub(crate) fn run(arguments: RunArguments) -> anyhow::Result<Ending> {
    let output = arguments.output;
    match whole(arguments) {
        Ok(ending) => Ok(ending),
        // Whoever reads JSON reads the failure there as well.
        Err(error) if output != Output::Text => {
            let ending = Ending::of_error(&error);
            let object = json!({
                "answer": null, "status": ending.status(), "turns": 0, "usage": deputy::usage::Usage::default(),
                "handoffs": [], "error": format!("{error:#}"),
            });
            tell(output, object);
            render::error(&format!("{error:#}"));
            Ok(ending)
        }
        Err(error) => Err(error),
    }
}

fn whole(arguments: RunArguments) -> anyhow::Result<Ending> {
    let task = task(&arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (ending, report) = runtime.block_on(async {
        let host = host(&arguments)?;
        let stop = CancellationToken::new();
        let signal = Signals::watch(stop.clone())?;
        let report = host.run_until(&task, stop).await;
        render::finish_live();
        anyhow::Ok((Ending::of(report.status, signal.which()), report))
    })?;
    // A thread that is stuck in a system call holds up nobody.
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    match arguments.output {
        Output::Text => {
            if let Some(answer) = &report.answer {
                render::answer(answer);
            }
            match &report.error {
                Some(error) => Err(ends(ending, error)),
                None => Ok(ending),
            }
        }
        output => {
            tell(output, object(&report, ending));
            if let Some(error) = &report.error {
                render::error(error);
            }
            Ok(ending)
        }
    }
}

/// The one object at the end of a run.
fn object(report: &AgentReport, ending: Ending) -> Value {
    json!({
        "answer": report.answer,
        "status": ending.status(),
        "turns": report.turns,
        "usage": report.usage,
        "handoffs": report.handoffs,
        "error": report.error,
    })
}

fn tell(output: Output, mut object: Value) {
    if output == Output::Jsonl {
        // The last line is told apart from the events by its name.
        let mut line = json!({"event": "result"});
        if let (Some(line), Some(object)) = (line.as_object_mut(), object.as_object_mut()) {
            line.append(object);
        }
        render::json_line(&line);
    } else {
        render::json_line(&object);
    }
}

fn task(arguments: &RunArguments) -> anyhow::Result<String> {
    let task = match (&arguments.task, &arguments.file) {
        (Some(task), None) if task == "-" => {
            let mut task = String::new();
            std::io::stdin().read_to_string(&mut task).context("cannot read the task from standard input")?;
            task
        }
        (Some(task), None) => task.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the task from {}", file.display()))?,
        _ => bail!("no task: give it as an argument, with --file FILE, or with `-` on standard input"),
    };
    if task.trim().is_empty() {
        bail!("the task is empty: say what to do");
    }
    Ok(task.trim_end().to_owned())
}

fn host(arguments: &RunArguments) -> anyhow::Result<Host> {
    let confinement = confinement(arguments.shell)?;
    let live = Live::new(LiveOptions {
        quiet: arguments.quiet,
        events: arguments.output == Output::Jsonl,
        trace_guest: arguments.trace_guest,
    });
    let mut builder = Host::builder()
        .workspace(&arguments.workspace)
        .model(model(arguments)?)
        .policy(policy(&arguments.rules, arguments.yes))
        .approver(approve::approver())
        .web(web()?)
        .sandbox(sandbox())
        .max_turns(arguments.max_turns)
        .parallel_tool_calls(!arguments.no_parallel)
        .events(live);
    if let Some(system) = &arguments.system {
        builder = builder.system(system);
    }
    for subagent in stock()? {
        builder = builder.subagent(subagent);
    }
    for path in &arguments.subagent {
        builder = builder.subagent(plugin(path)?);
    }
    match confinement {
        Ok(confinement) => builder = builder.confinement(confinement),
        Err(reason) => {
            if !arguments.quiet {
                render::warning(&format!("no tool starts a process: {reason}"));
            }
            builder = builder.no_confinement(reason);
        }
    }
    Ok(builder.build()?)
}

/// The rules of the flags.
pub(crate) fn policy(rules: &RuleArguments, yes: bool) -> Policy {
    let mut policy = Policy::default();
    for tool in rules.allow.iter().filter(|tool| !tool.is_empty()) {
        policy = policy.allow(tool.as_str());
    }
    for tool in rules.deny.iter().filter(|tool| !tool.is_empty()) {
        policy = policy.deny(tool.as_str());
    }
    if yes { policy.yes_to_all() } else { policy }
}

/// How guests run: with compiled code kept, where there is a safe place for it.
pub(crate) fn sandbox() -> SandboxOptions {
    let cache = match cache::directory() {
        Ok(directory) => Some(directory),
        Err(reason) => {
            tracing::warn!("components are compiled anew each time: {reason}");
            None
        }
    };
    SandboxOptions { cache, ..SandboxOptions::default() }
}

/// The client behind `fetch_url`.
pub(crate) fn web() -> anyhow::Result<Arc<WebClient>> {
    Ok(Arc::new(WebClient::new(WebLimits::default())?))
}

/// SIGINT and SIGTERM: the first stops the run, the second ends the process.
struct Signals {
    which: Arc<std::sync::atomic::AtomicU8>,
}

impl Signals {
    fn watch(stop: CancellationToken) -> anyhow::Result<Self> {
        use std::sync::atomic::Ordering;
        use tokio::signal::unix::{SignalKind, signal};
        let which = Arc::new(std::sync::atomic::AtomicU8::new(0));
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let kept = which.clone();
        tokio::spawn(async move {
            loop {
                let number = tokio::select! {
                    _ = interrupt.recv() => 2,
                    _ = terminate.recv() => 15,
                };
                if stop.is_cancelled() {
                    render::end_at_once(Ending::Interrupted(number));
                }
                kept.store(number, Ordering::Relaxed);
                stop.cancel();
            }
        });
        Ok(Self { which })
    }

    fn which(&self) -> Option<u8> {
        match self.which.load(std::sync::atomic::Ordering::Relaxed) {
            0 => None,
            number => Some(number),
        }
    }
}
