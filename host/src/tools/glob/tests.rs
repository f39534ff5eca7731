use std::path::Path;

use super::PathGlob;

#[test]
fn globs_match_names_or_whole_paths() {
    for (glob, path, matches) in [
        ("*.rs", "a/b.rs", true),
        ("./src/*.rs", "src/b.rs", true),
        ("src/*.rs", "a/src/b.rs", false),
        ("src/*.rs", "src/a/b.rs", false),
        ("**/src/*.rs", "a/src/b.rs", true),
        ("**/*.rs", "b.rs", true),
        ("src/**", "src/a/b", true),
        ("src/*.{ts,tsx}", "src/a.tsx", true),
        ("a..b", "a..b", true),
        ("...", "...", true),
    ] {
        assert_eq!(PathGlob::parse(glob).unwrap().matches(Path::new(path)), matches, "{glob} {path}");
    }
}

#[test]
fn globs_that_make_no_sense_are_refused() {
    for glob in ["", " ", "./", "..", "../x", "a/..", "{a,..}/b", "/a", "src/", "a{b", "[z-a]"] {
        let error = PathGlob::parse(glob).unwrap_err().to_string();
        assert!(error.contains(&format!("`{glob}`")), "{error}");
    }
}
