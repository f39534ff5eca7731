//! How commands are started, watched and ended, whether or not the machine confines them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use deputy::tools::{CommandLimits, ToolError};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::Test;
use super::ground::{Ground, Seen, this_program};

macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[Test] = &[$((stringify!($name), $name)),*];
    };
}

tests![
    the_environment_is_exactly_the_documented_one,
    nothing_of_a_call_is_left_for_the_next,
    arguments_are_taken_literally,
    a_program_is_found_on_the_path_or_in_the_workspace,
    a_program_that_is_not_there_is_not_found,
    what_cannot_be_run_says_why,
    a_call_that_makes_no_sense_is_refused,
    output_keeps_its_head_and_its_tail,
    a_longer_time_limit_than_allowed_is_cut_and_said,
    output_before_the_time_limit_is_kept,
    a_command_may_tidy_up_when_asked_to_end,
    a_cancelled_call_leaves_nothing_running,
    a_call_cancelled_before_it_began_runs_nothing,
    a_dropped_call_leaves_nothing_running,
    a_killed_host_leaves_nothing_running,
    too_many_processes_are_ended,
    a_fork_bomb_is_ended,
    a_chain_that_keeps_moving_is_ended,
    a_file_cannot_grow_over_its_limit,
    open_files_are_limited,
    the_temporary_directory_is_removed_whatever_is_in_it,
    a_filter_that_is_still_writing_is_waited_for,
    the_host_is_no_subreaper_and_has_no_children_left,
];

fn the_environment_is_exactly_the_documented_one() {
    let ground = Ground::any();
    let seen = ground.program("env", &[]).unwrap();
    let mut names: Vec<&str> = seen.output.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "DEPUTY_TEST_MARK",
            "GIT_CONFIG_NOSYSTEM",
            "GIT_PAGER",
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "LANG",
            "PAGER",
            "PATH",
            "TERM",
            "TMPDIR"
        ]
    );
}

fn nothing_of_a_call_is_left_for_the_next() {
    let ground = Ground::any();
    let poison =
        "export PATH=/nowhere LD_PRELOAD=/nowhere.so; alias ls=false; echo 'exit 9' > ~/.profile; cd /";
    assert!(ground.shell(poison).unwrap().succeeded());
    let seen = ground.shell("ls -A ~; pwd; echo \"$LD_PRELOAD\"").unwrap();
    let here = ground.directory.path().canonicalize().unwrap();
    assert_eq!((seen.exit_code, seen.output), (Some(0), format!("{}\n\n", here.display())));
}

fn arguments_are_taken_literally() {
    let ground = Ground::any();
    let args = ["$HOME", "`id`", "*", "a b", "", "-n", "; exit 3", "'\"\\"];
    let seen = ground.program("printf", &[&["%s\n"][..], &args].concat()).unwrap();
    assert_eq!(seen.output, format!("{}\n", args.join("\n")));
}

fn write_program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn a_program_is_found_on_the_path_or_in_the_workspace() {
    let ground = Ground::any();
    fs::create_dir(ground.path("tools")).unwrap();
    write_program(&ground.path("tools/greet"), "#!/bin/sh\necho \"hello $1\"\n");
    assert_eq!(ground.program("tools/greet", &["you"]).unwrap().output, "hello you\n");
    assert_eq!(ground.program("./tools/greet", &["me"]).unwrap().output, "hello me\n");
    assert_eq!(ground.program("echo", &["bare"]).unwrap().output, "bare\n");
    assert_eq!(ground.program("/bin/echo", &["whole"]).unwrap().output, "whole\n");
}

fn a_program_that_is_not_there_is_not_found() {
    let ground = Ground::any();
    let missing = |program: &str| match ground.program(program, &[]) {
        Err(ToolError::NotFound(text)) => text,
        other => panic!("{program}: {other:?}"),
    };
    let text = missing("deputy-no-such-program");
    assert!(text.contains("`deputy-no-such-program`") && text.contains("PATH (/usr/local/sbin:"), "{text}");
    assert!(missing("./nothing").contains("`./nothing`"));
    // What is in the workspace is no command of that name: the path has to be said.
    write_program(&ground.path("local"), "#!/bin/sh\n");
    assert!(missing("local").contains("`./local`"));
}

fn what_cannot_be_run_says_why() {
    let ground = Ground::any();
    fs::write(ground.path("plain"), "no program").unwrap();
    write_program(&ground.path("orphan"), "#!/nowhere/interpreter\n");
    for (program, part) in [("./plain", "executable"), ("./orphan", "interpreter"), ("/", "cannot run")] {
        let error = ground.program(program, &[]).unwrap_err();
        assert!(matches!(&error, ToolError::Failed(text) if text.contains(part)), "{program}: {error}");
    }
    let long = "x".repeat(300_000);
    let error = ground.program("echo", &[&long]).unwrap_err();
    assert!(error.to_string().contains("file in the workspace"), "{error}");
}

fn a_call_that_makes_no_sense_is_refused() {
    let ground = Ground::any();
    for error in [
        ground.program("", &[]).unwrap_err(),
        ground.program("echo", &["a\0b"]).unwrap_err(),
        ground.shell("echo a\0b").unwrap_err(),
        ground.shell_within("true", 0).unwrap_err(),
    ] {
        assert!(matches!(error, ToolError::InvalidArguments(_)), "{error:?}");
    }
}

fn output_keeps_its_head_and_its_tail() {
    for result_bytes in [2_000, 10_000, 48 * 1024] {
        let mut ground = Ground::any();
        ground.context.limits.result_bytes = result_bytes;
        let seen = ground.shell("seq 1 200000; exit 4").unwrap();
        assert_eq!(seen.exit_code, Some(4));
        assert!(seen.text.len() <= result_bytes, "{} of {result_bytes}", seen.text.len());
        assert!(seen.output.starts_with("1\n2\n3\n") && seen.output.ends_with("\n199999\n200000\n"));
        let marks: Vec<&str> = seen.output.lines().filter(|line| line.contains("left out here")).collect();
        let [mark] = marks.as_slice() else { panic!("{marks:?}") };
        let left_out: usize = mark.trim_start_matches('[').split(' ').next().unwrap().parse().unwrap();
        let whole: usize = (1..=200_000).map(|number: u32| number.to_string().len() + 1).sum();
        // The line of the mark, and at most a line end before it, come on top of what was kept.
        let kept = seen.output.len() - mark.len() - 1;
        assert!((kept + left_out).abs_diff(whole) <= 1, "{kept} + {left_out}, {whole}");
    }
}

fn a_longer_time_limit_than_allowed_is_cut_and_said() {
    let mut ground = Ground::any();
    ground.context.limits.command_time_max = Duration::from_millis(900);
    let seen = ground.shell_within("true", 5_000).unwrap();
    assert!(seen.note.contains("900 ms") && seen.note.contains("5000 ms"), "{}", seen.text);
    assert!(
        matches!(ground.shell_within("sleep 60", 5_000), Err(ToolError::TimedOut(text)) if text.contains("900 ms"))
    );
    assert!(matches!(ground.shell("sleep 60"), Err(ToolError::TimedOut(text)) if text.contains("900 ms")));
    assert_eq!(ground.processes_left(), Vec::<String>::new());
}

fn output_before_the_time_limit_is_kept() {
    let error = Ground::any().shell_within("echo so far; sleep 60", 600).unwrap_err();
    assert!(matches!(&error, ToolError::TimedOut(text) if text.contains("so far\n")), "{error}");
}

fn a_command_may_tidy_up_when_asked_to_end() {
    let ground = Ground::any();
    let error = ground.shell_within("trap 'echo tidied; exit 0' TERM; sleep 60 & wait", 600).unwrap_err();
    assert!(matches!(&error, ToolError::TimedOut(text) if text.contains("tidied\n")), "{error}");
    assert_eq!(ground.processes_left(), Vec::<String>::new());
}

/// A pipe in the workspace. Its reader gets a line when the command is up, and the end when everything that
/// holds it open is gone.
struct Lifeline {
    path: PathBuf,
    up: mpsc::Receiver<()>,
    gone: mpsc::Receiver<()>,
}

/// Holds the lifeline open in a shell, in a daemon of its own session that ignores being asked to end, and
/// in what they start.
const HOLD: &str =
    "exec 3> lifeline; trap '' TERM HUP; setsid sh -c 'sleep 300; sleep 300' & echo up >&3; sleep 300";

impl Lifeline {
    fn in_directory(directory: &Path) -> Self {
        let path = directory.join("lifeline");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let (say_up, up) = mpsc::channel();
        let (say_gone, gone) = mpsc::channel();
        let read = path.clone();
        std::thread::spawn(move || {
            let mut pipe = File::open(read).unwrap();
            pipe.read_exact(&mut [0; 3]).unwrap();
            say_up.send(()).unwrap();
            pipe.read_to_end(&mut Vec::new()).unwrap();
            say_gone.send(()).unwrap();
        });
        Self { path, up, gone }
    }

    fn wait_until_up(&self) {
        self.up.recv_timeout(Duration::from_secs(20)).expect("the command gets going");
        assert!(self.gone.try_recv().is_err(), "it is still there");
    }

    fn assert_gone(&self) {
        self.gone.recv_timeout(Duration::from_secs(10)).expect("everything ends");
        assert!(self.path.exists());
    }
}

fn a_cancelled_call_leaves_nothing_running() {
    let ground = Ground::any();
    let lifeline = Lifeline::in_directory(ground.directory.path());
    let result = ground.block_on(async {
        let cancel = ground.context.cancel.clone();
        let arguments = json!({ "command": HOLD });
        let call = ground.call_shell(&arguments);
        let wait = tokio::task::spawn_blocking(move || {
            lifeline.wait_until_up();
            cancel.cancel();
            lifeline
        });
        let (result, lifeline) = tokio::join!(call, wait);
        // Dead before it is reported: nothing is waited for here.
        assert_eq!(ground.processes_left(), Vec::<String>::new());
        lifeline.unwrap().assert_gone();
        result
    });
    assert_eq!(result, Err(ToolError::Cancelled));
}

fn a_call_cancelled_before_it_began_runs_nothing() {
    let ground = Ground::any();
    ground.context.cancel.cancel();
    assert_eq!(ground.shell("echo ran > sentinel"), Err(ToolError::Cancelled));
    assert!(!ground.path("sentinel").exists());
}

fn a_dropped_call_leaves_nothing_running() {
    let ground = Ground::any();
    let lifeline = Lifeline::in_directory(ground.directory.path());
    ground.block_on(async {
        let arguments = json!({ "command": HOLD });
        let call = ground.call_shell(&arguments);
        let wait = tokio::task::spawn_blocking(move || {
            lifeline.wait_until_up();
            lifeline
        });
        tokio::select! {
            result = call => panic!("{result:?}"),
            lifeline = wait => tokio::task::spawn_blocking(move || lifeline.unwrap().assert_gone()).await.unwrap(),
        }
    });
}

/// Acts as a host that runs [`HOLD`] in the directory that is named.
pub(crate) fn host_main(arguments: &[String]) -> Option<ExitCode> {
    let [flag, directory] = arguments else { return None };
    if flag != "--be-host" {
        return None;
    }
    let mut ground = Ground::any();
    ground.context.workspace =
        std::sync::Arc::new(deputy::workspace::Workspace::open(Path::new(directory)).expect("a workspace"));
    let result = ground.shell(HOLD);
    panic!("it ended: {result:?}");
}

fn a_killed_host_leaves_nothing_running() {
    let directory = tempfile::tempdir().unwrap();
    let lifeline = Lifeline::in_directory(directory.path());
    let mut host = Command::new(this_program())
        .arg("--be-host")
        .arg(directory.path())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    lifeline.wait_until_up();
    host.kill().unwrap();
    host.wait().unwrap();
    lifeline.assert_gone();
}

fn too_many_processes_are_ended() {
    let ground = Ground::any().limits(CommandLimits { processes: 20, ..CommandLimits::default() });
    let many = "i=0; while [ $i -lt 200 ]; do sleep 300 & i=$((i+1)); done; wait";
    match ground.shell(many) {
        Err(ToolError::Failed(text)) => assert!(text.contains("more than 20 processes"), "{text}"),
        // For users other than root the kernel itself refuses to start more.
        Ok(seen) => assert!(!rustix::process::getuid().is_root() && !seen.succeeded(), "{}", seen.text),
        Err(other) => panic!("{other:?}"),
    }
    assert_eq!(ground.processes_left(), Vec::<String>::new());
    assert!(ground.shell("for i in 1 2 3 4 5; do sleep 0.01 & done; wait").unwrap().succeeded());
}

fn a_fork_bomb_is_ended() {
    let ground = Ground::any().limits(CommandLimits { processes: 60, ..CommandLimits::default() });
    // Doubles eight times and stays: a bomb whose size is known, so that a failing test is no accident.
    write_program(
        &ground.path("double"),
        "#!/bin/sh\nif [ $1 -gt 0 ]; then $2 ./double $(($1-1)) $2 & $2 ./double $(($1-1)) $2 & fi\nsleep 60\n",
    );
    for command in ["./double 8", "./double 8 setsid"] {
        // Either it is ended for its number, or, where the kernel refuses more, by its time limit or itself.
        let result = ground.shell_within(command, 3_000);
        assert!(!result.as_ref().is_ok_and(Seen::succeeded), "{result:?}");
        if rustix::process::getuid().is_root() {
            assert!(matches!(result, Err(ToolError::Failed(_))), "{result:?}");
        }
        assert_eq!(ground.processes_left(), Vec::<String>::new(), "{result:?}");
    }
}

fn a_chain_that_keeps_moving_is_ended() {
    let ground = Ground::any();
    // Each link starts the next in a session of its own and ends at once, so that no process id holds.
    write_program(
        &ground.path("link"),
        "#!/bin/sh\nif [ $1 -gt 0 ]; then setsid ./link $(($1-1)) & else echo end of the chain; fi\n",
    );
    let error = ground.shell_within("./link 20000; sleep 60", 700).unwrap_err();
    assert!(matches!(&error, ToolError::TimedOut(text) if !text.contains("end of the chain")), "{error:?}");
    assert_eq!(ground.processes_left(), Vec::<String>::new(), "{error}");
}

fn a_file_cannot_grow_over_its_limit() {
    let ground = Ground::any().limits(CommandLimits { file_bytes: 100_000, ..CommandLimits::default() });
    let seen = ground.shell("head -c 500000 /dev/zero > big").unwrap();
    assert!(!seen.succeeded(), "{}", seen.text);
    assert_eq!(fs::metadata(ground.path("big")).unwrap().len(), 100_000);
}

fn open_files_are_limited() {
    let ground = Ground::any().limits(CommandLimits { open_files: 37, ..CommandLimits::default() });
    assert_eq!(ground.shell("ulimit -Hn; ulimit -c").unwrap().output, "37\n0\n");
}

fn the_temporary_directory_is_removed_whatever_is_in_it() {
    let root = tempfile::tempdir().unwrap();
    let kept = root.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("file"), "").unwrap();
    let ground = Ground::any().temporary_root(root.path());
    let fill = format!(
        "mkdir -p $TMPDIR/a/b && echo x > $TMPDIR/a/b/c && ln -s {} $TMPDIR/a/link && chmod 000 $TMPDIR/a/b && chmod 500 $TMPDIR/a; echo $TMPDIR",
        kept.display()
    );
    let seen = ground.shell(&fill).unwrap();
    assert!(seen.output.starts_with(root.path().to_str().unwrap()), "{}", seen.text);
    assert!(!seen.note.contains("temporary"), "{}", seen.note);
    assert!(matches!(ground.shell_within("echo x > $TMPDIR/x; sleep 60", 300), Err(ToolError::TimedOut(_))));
    assert!(ground.program("deputy-no-such-program", &[]).is_err());
    let left: Vec<_> = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, std::slice::from_ref(&kept));
    assert!(kept.join("file").exists(), "a link was followed");
}

fn a_filter_that_is_still_writing_is_waited_for() {
    // The shell ends at once; what it left ends by itself within the grace.
    let seen = Ground::any().shell("(sleep 0.03; echo late) & echo early").unwrap();
    assert_eq!((seen.output.as_str(), seen.note.contains("killed")), ("early\nlate\n", false));
}

fn the_host_is_no_subreaper_and_has_no_children_left() {
    let ground = Ground::any();
    ground.shell("setsid -f sleep 60; sleep 60 &").unwrap();
    assert_eq!(rustix::process::child_subreaper().unwrap(), None);
    let error = rustix::process::waitpid(None, rustix::process::WaitOptions::NOHANG).unwrap_err();
    assert_eq!(error, rustix::io::Errno::CHILD);
}
