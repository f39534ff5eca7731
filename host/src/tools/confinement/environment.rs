//! The environment of a command, made from scratch: nothing of the host's own gets in, whatever its name.
//! Must not read the host's environment.

use std::path::PathBuf;

/// Where programs are searched.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The same for every command; no program may wait for an answer or page its output.
const FIXED: &[(&str, &str)] = &[
    ("LANG", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// The whole environment. What the operator adds stands last and wins.
pub(super) fn environment(
    temporary: &str,
    readable: &[PathBuf],
    added: &[(String, String)],
) -> Vec<(String, String)> {
    let mut path = SEARCH_PATH.to_owned();
    let programs = readable.iter().map(|root| root.join("bin")).filter(|directory| directory.is_dir());
    // A colon would make two entries of it.
    for directory in programs.filter_map(|directory| directory.into_os_string().into_string().ok()) {
        if !directory.contains(':') {
            path.push(':');
            path.push_str(&directory);
        }
    }
    let made = [("PATH", path.as_str()), ("HOME", temporary), ("TMPDIR", temporary)];
    let all = made.iter().chain(FIXED).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut all: Vec<(String, String)> = all.collect();
    all.retain(|(name, _)| !added.iter().any(|(other, _)| other == name));
    all.extend(added.iter().cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(environment: &'a [(String, String)], name: &str) -> Vec<&'a str> {
        environment.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn home_and_temporary_files_are_the_private_directory() {
        let made = environment("/tmp/private", &[], &[]);
        assert_eq!(value(&made, "HOME"), ["/tmp/private"]);
        assert_eq!(value(&made, "TMPDIR"), ["/tmp/private"]);
        assert_eq!(value(&made, "PATH"), [SEARCH_PATH]);
    }

    #[test]
    fn what_the_operator_adds_wins_and_stands_once() {
        let made = environment("/t", &[], &[("LANG".into(), "de_DE".into()), ("MINE".into(), "1".into())]);
        assert_eq!(value(&made, "LANG"), ["de_DE"]);
        assert_eq!(value(&made, "MINE"), ["1"]);
    }

    #[test]
    fn programs_of_readable_tool_chains_are_found_after_the_system_s_own() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("bin")).unwrap();
        let made = environment("/t", &[root.path().to_owned(), "/nowhere".into()], &[]);
        assert_eq!(value(&made, "PATH"), [format!("{SEARCH_PATH}:{}/bin", root.path().display())]);
    }
}
