//! That a command is confined or not offered, and that none runs where the helper fails.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use deputy::tools::{Confinement, ConfinementUnavailable, ShellMode, ToolError};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use super::Test;
use super::ground::{Ground, this_program};

macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[Test] = &[$((stringify!($name), $name)),*];
    };
}

tests![
    a_kernel_without_landlock_is_refused,
    a_kernel_without_seccomp_is_refused,
    unconfined_is_a_choice_that_needs_neither_and_is_said_each_time,
    a_program_that_is_no_helper_is_refused,
    nothing_runs_where_the_helper_is_gone,
    nothing_runs_where_the_helper_dies,
    nothing_runs_where_the_workspace_was_replaced,
    a_command_inherits_no_foreign_descriptor,
];

/// Tries for a confinement where the kernel refuses `call`. A filter holds for a thread and what it starts.
fn where_the_kernel_lacks(call: i64, mode: ShellMode) -> Result<Confinement, ConfinementUnavailable> {
    let tried = std::thread::spawn(move || {
        let filter = SeccompFilter::new(
            [(call, Vec::new())].into(),
            SeccompAction::Allow,
            SeccompAction::Errno(38),
            std::env::consts::ARCH.try_into().unwrap(),
        );
        apply_filter(&BpfProgram::try_from(filter.unwrap()).unwrap()).unwrap();
        Confinement::new(this_program(), mode)
    });
    tried.join().unwrap()
}

fn a_kernel_without_landlock_is_refused() {
    for call in [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_restrict_self] {
        let error = where_the_kernel_lacks(call, ShellMode::Confined).unwrap_err();
        assert!(matches!(error, ConfinementUnavailable::NotEnforced { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("Landlock") && text.contains("`--shell unconfined`"), "{text}");
    }
}

fn a_kernel_without_seccomp_is_refused() {
    let error = where_the_kernel_lacks(libc::SYS_seccomp, ShellMode::Confined).unwrap_err();
    let ConfinementUnavailable::NotEnforced { missing } = &error else { panic!("{error}") };
    // A kernel that has neither stops at the first.
    assert!(missing.contains("seccomp") || missing.contains("Landlock"), "{missing}");
    assert!(error.to_string().contains("`--shell unconfined`"), "{error}");
}

fn unconfined_is_a_choice_that_needs_neither_and_is_said_each_time() {
    let confinement = where_the_kernel_lacks(libc::SYS_landlock_create_ruleset, ShellMode::Unconfined)
        .expect("the helper is there");
    assert_eq!(confinement.mode(), ShellMode::Unconfined);
    assert!(confinement.describe().contains("unconfined"));
    let seen = Ground::with(confinement).shell("ls / > /dev/null && env").unwrap();
    assert!(seen.succeeded() && seen.note == "ran unconfined", "{}", seen.text);
    assert!(
        !seen.output.contains(super::ground::CANARY),
        "the environment is made from scratch all the same"
    );
}

fn a_program_that_is_no_helper_is_refused() {
    for program in ["/bin/true", "/bin/cat", "/bin/sh", "/nowhere/at/all"] {
        for mode in [ShellMode::Confined, ShellMode::Unconfined] {
            let error = Confinement::new(program.into(), mode).unwrap_err();
            assert!(matches!(error, ConfinementUnavailable::Helper { .. }), "{program}: {error}");
            assert!(error.to_string().contains(program), "{error}");
        }
    }
}

/// A helper that is this program behind a shell script.
fn helper_script(directory: &Path, before: &str) -> std::path::PathBuf {
    let path = directory.join("helper");
    fs::write(&path, format!("#!/bin/sh\n{before}\nexec {} \"$@\"\n", this_program().display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn any_mode(helper: &Path) -> Confinement {
    Confinement::new(helper.to_owned(), ShellMode::Confined)
        .or_else(|_| Confinement::new(helper.to_owned(), ShellMode::Unconfined))
        .expect("the helper answers")
}

fn assert_not_run(ground: &Ground) -> String {
    let error = ground.shell("echo ran > sentinel").unwrap_err();
    assert!(matches!(error, ToolError::Failed(_)), "{error:?}");
    assert!(!ground.path("sentinel").exists(), "it ran bare");
    error.to_string()
}

fn nothing_runs_where_the_helper_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let helper = helper_script(directory.path(), "");
    let ground = Ground::with(any_mode(&helper));
    assert!(ground.shell("true").unwrap().succeeded());
    fs::remove_file(&helper).unwrap();
    let text = assert_not_run(&ground);
    assert!(text.contains(helper.to_str().unwrap()), "{text}");
}

fn nothing_runs_where_the_helper_dies() {
    for death in ["exit 3", "kill -9 $$", "echo '{}'; exit 0", "read job; exit 0"] {
        let directory = tempfile::tempdir().unwrap();
        let helper = helper_script(directory.path(), &format!("if [ $2 = supervise ]; then {death}; fi"));
        let text = assert_not_run(&Ground::with(any_mode(&helper)));
        assert!(text.contains("without a report"), "{death}: {text}");
    }
}

fn nothing_runs_where_the_workspace_was_replaced() {
    let ground = Ground::any();
    let path = ground.directory.path();
    let aside = path.with_extension("aside");
    fs::rename(path, &aside).unwrap();
    fs::create_dir(path).unwrap();
    let text = assert_not_run(&ground);
    assert!(text.contains("workspace"), "{text}");
    fs::remove_dir_all(aside).unwrap();
}

fn a_command_inherits_no_foreign_descriptor() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("secret"), "x").unwrap();
    let helper = helper_script(directory.path(), &format!("exec 7< {}/secret", directory.path().display()));
    let seen = Ground::with(any_mode(&helper)).shell("cat <&7; ls -l /proc/self/fd").unwrap();
    assert!(!seen.text.contains("secret"), "{}", seen.text);
}
