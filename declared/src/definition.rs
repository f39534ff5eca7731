//! Reads the text of a definition directory. Must not read anything else there or out of it.

use std::io::ErrorKind;
use std::path::Path;

use super::open;

/// The file of a definition directory that holds its agent's system text.
pub const DEFINITION: &str = "AGENTS.md";

/// Most bytes of it.
const MOST_BYTES: u64 = 256 * 1024;

/// The system text in the directory at `path`, which lies in `root` (canonical); `None` where there is none.
///
/// # Errors
/// What is wrong with the file: no regular one, a link that leads out of `root`, too large, or no UTF-8.
pub fn definition(root: &Path, path: &Path) -> Result<Option<String>, String> {
    let file = path.join(DEFINITION);
    match file.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        _ => {}
    }
    let told = |reason: &str| format!("{}: {reason}", file.display());
    let bytes = open::at_most(MOST_BYTES, root, &file).map_err(|reason| told(&reason))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| told("expected UTF-8 text, found other bytes: save the file as UTF-8"))?;
    Ok(Some(text.trim_start_matches('\u{feff}').trim().to_owned()).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_one_small_text_inside_the_root() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().canonicalize().unwrap().join("main");
        let outside = base.path().join("outside.md");
        std::fs::write(&outside, "secret").unwrap();
        for name in ["text", "none", "link", "large", "bytes"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("text/AGENTS.md"), "\u{feff}\nWatch the tide.\n").unwrap();
        std::fs::write(root.join("large/AGENTS.md"), vec![b'a'; 256 * 1024 + 1]).unwrap();
        std::fs::write(root.join("bytes/AGENTS.md"), [0xff, 0xfe]).unwrap();
        let of = |name: &str| definition(&root, &root.join(name));
        assert_eq!(of("text").unwrap().as_deref(), Some("Watch the tide."));
        assert_eq!((of("none").unwrap(), of("missing").unwrap()), (None, None));
        assert!(of("large").unwrap_err().contains("at most 256 KiB"));
        assert!(of("bytes").unwrap_err().contains("AGENTS.md: expected UTF-8"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, root.join("link/AGENTS.md")).unwrap();
            assert!(of("link").unwrap_err().contains("leads out"));
        }
    }
}
