//! Reads a configuration file, once: what is checked against the trust list are the bytes that are parsed.
//! Must not parse them.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};

/// What a workspace's file is called.
pub(crate) const NAME: &str = "deputy.toml";

/// Most bytes of a file that are read.
const MOST: u64 = 1024 * 1024;

/// A configuration file that was read.
#[derive(Clone, Debug)]
pub(crate) struct File {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl File {
    /// The file that the operator named.
    pub(crate) fn named(path: &Path) -> anyhow::Result<Self> {
        let mut open = fs::OpenOptions::new();
        let file = open.read(true).open(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { path: path.to_owned(), bytes: whole(file, path)? })
    }

    /// The file of a workspace, where it has one: a plain file in the directory itself, no link to another place.
    pub(crate) fn of_workspace(directory: &Path) -> anyhow::Result<Option<Self>> {
        let found = directory.canonicalize().and_then(|path| match path.is_dir() {
            true => Ok(path),
            false => Err(io::ErrorKind::NotADirectory.into()),
        });
        let canonical = found.map_err(|error| {
            anyhow!("cannot use {} as a workspace: {error}; name an existing directory", directory.display())
        })?;
        let path = canonical.join(NAME);
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                bail!("{} is a symbolic link: put a plain file there", path.display())
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let meta = file.metadata().with_context(|| format!("cannot read {}", path.display()))?;
        if !meta.is_file() {
            bail!("{} is not a plain file", path.display());
        }
        Ok(Some(Self { bytes: whole(file, &path)?, path }))
    }

    /// One that nobody read.
    #[cfg(test)]
    pub(crate) fn made_up(path: &str, text: &str) -> Self {
        Self { path: path.into(), bytes: text.into() }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that it is in: of a workspace's file the canonical one.
    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| Path::new(""))
    }

    /// What it holds.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn whole(file: fs::File, path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.take(MOST + 1).read_to_end(&mut bytes);
    let read = read.with_context(|| format!("cannot read {}", path.display()))?;
    if read as u64 > MOST {
        bail!("{} is longer than a configuration may be ({MOST} bytes)", path.display());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_workspace_may_have_a_file_and_it_is_no_link() {
        let base = tempfile::tempdir().unwrap();
        let of = |name: &str| File::of_workspace(&base.path().join(name));
        for name in ["none", "plain", "linked", "directory", "pipe", "dangling"] {
            fs::create_dir(base.path().join(name)).unwrap();
        }
        assert!(of("none").unwrap().is_none());
        assert!(of("nowhere").unwrap_err().to_string().contains("existing directory"));

        fs::write(base.path().join("plain/deputy.toml"), "[limits]").unwrap();
        let file = of("plain/../plain").unwrap().unwrap();
        assert_eq!(file.bytes(), b"[limits]");
        assert_eq!(file.directory(), base.path().canonicalize().unwrap().join("plain"));
        assert_eq!(file.path(), file.directory().join(NAME));

        symlink("../plain/deputy.toml", base.path().join("linked/deputy.toml")).unwrap();
        symlink("nowhere", base.path().join("dangling/deputy.toml")).unwrap();
        for name in ["linked", "dangling"] {
            assert!(
                of(name).unwrap_err().to_string().contains("is a symbolic link: put a plain file"),
                "{name}"
            );
        }
        fs::create_dir(base.path().join("directory/deputy.toml")).unwrap();
        let pipe = base.path().join("pipe/deputy.toml");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        for name in ["directory", "pipe"] {
            assert!(of(name).unwrap_err().to_string().contains("is not a plain file"), "{name}");
        }
        symlink("plain", base.path().join("way")).unwrap();
        assert!(
            of("way").unwrap().unwrap().directory().ends_with("plain"),
            "the directory may be reached by one"
        );
    }

    #[test]
    fn a_file_of_any_size_costs_no_more_than_the_limit() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join(NAME);
        let most = usize::try_from(MOST).unwrap();
        fs::write(&path, vec![b'#'; most]).unwrap();
        assert_eq!(File::named(&path).unwrap().bytes().len(), most);
        fs::write(&path, vec![b'#'; most + 1]).unwrap();
        for error in [File::named(&path).unwrap_err(), File::of_workspace(base.path()).unwrap_err()] {
            assert!(error.to_string().contains("longer than a configuration may be"), "{error}");
        }
        assert!(File::named(Path::new("/dev/zero")).is_err());
        assert!(File::named(Path::new("nowhere.toml")).unwrap_err().to_string().contains("nowhere.toml"));
    }
}
