//! Where the task comes from: the argument, a file or standard input, and exactly one of them.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};

/// The task's text, without blank lines at its end.
pub(super) fn read(argument: Option<&str>, file: Option<&Path>) -> anyhow::Result<String> {
    let task = match (argument, file) {
        (Some("-"), None) => {
            let mut task = String::new();
            std::io::stdin().read_to_string(&mut task).context("cannot read the task from standard input")?;
            task
        }
        (Some(task), None) => task.to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the task from {}", file.display()))?,
        (None, None) => {
            bail!("no task: give it as an argument, with --file FILE, or with `-` on standard input")
        }
        (Some(_), Some(_)) => {
            bail!("two tasks: expected either an argument or --file FILE, both came; leave one out")
        }
    };
    if task.trim().is_empty() {
        bail!("the task is empty: say what to do");
    }
    Ok(task.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_comes_from_exactly_one_place() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("task");
        std::fs::write(&file, "  from a file\n\n").unwrap();
        assert_eq!(read(Some("count them"), None).unwrap(), "count them");
        assert_eq!(read(None, Some(&file)).unwrap(), "  from a file");
        for (argument, path, says) in [
            (None, None, "no task"),
            (Some("both"), Some(file.as_path()), "two tasks"),
            (Some(" \n"), None, "empty"),
            (None, Some(Path::new("/nowhere/task")), "/nowhere/task"),
        ] {
            let error = format!("{:#}", read(argument, path).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }
}
