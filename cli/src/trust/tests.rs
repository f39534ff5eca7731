use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

struct Place {
    base: tempfile::TempDir,
    list: TrustList,
}

impl Place {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("state")).unwrap();
        let list = TrustList::kept_in(base.path().join("state"));
        Self { base, list }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(name)
    }

    /// The file of a workspace, with this in it.
    fn file(&self, name: &str, text: &str) -> File {
        fs::create_dir_all(self.at(name)).unwrap();
        fs::write(self.at(name).join("deputy.toml"), text).unwrap();
        self.read(name)
    }

    fn read(&self, name: &str) -> File {
        File::of_workspace(&self.at(name)).unwrap().unwrap()
    }

    fn trust(&self, file: &File) -> anyhow::Result<Entry> {
        let entry = Entry::of(file)?;
        self.list.trust(file.directory(), std::slice::from_ref(&entry))?;
        Ok(entry)
    }

    fn trusts(&self, file: &File) -> bool {
        self.list.is_trusted(file).unwrap()
    }
}

#[test]
fn trust_is_in_one_directory_with_the_bytes_that_were_read() {
    let place = Place::new();
    let (a, b) = (place.file("a", "[limits]\n"), place.file("b", "[limits]\n"));
    assert!(!place.trusts(&a));
    let entry = place.trust(&a).unwrap();
    assert_eq!(entry.directory, place.at("a"));
    assert_eq!(entry.hash, "e689b4190dba44a16153c020f718bfad1da60132b5a8071ef88a8df186e5f144");
    assert!(place.trusts(&a));
    assert!(!place.trusts(&b), "the same bytes elsewhere are not trusted");

    let changed = place.file("a", "[limits] \n");
    assert!(!place.trusts(&changed), "a changed file is not trusted");
    assert!(place.trusts(&a), "what was read before the change is");
    place.trust(&changed).unwrap();
    assert!(place.trusts(&changed) && !place.trusts(&a), "one file a directory");
    assert_eq!(place.list.list().unwrap().len(), 1);
}

#[test]
fn the_directory_is_the_same_by_every_way_to_it() {
    let place = Place::new();
    place.trust(&place.file("a", "")).unwrap();
    symlink(place.at("a"), place.at("way")).unwrap();
    assert!(place.trusts(&place.read("way")));
    assert!(place.trusts(&place.read("way/../a/.")));
    assert!(place.list.revoke(&place.at("way")).unwrap());
    assert!(!place.trusts(&place.read("a")));
}

#[test]
fn a_revoked_directory_is_off_the_list_also_when_it_is_gone() {
    let place = Place::new();
    let (a, b) = (place.file("a", "a"), place.file("b", "b"));
    assert!(!place.list.revoke(&place.at("a")).unwrap(), "it is not on it yet");
    place.trust(&a).unwrap();
    place.trust(&b).unwrap();
    fs::remove_dir_all(place.at("a")).unwrap();
    assert!(place.list.revoke(&place.at("a")).unwrap());
    assert!(!place.trusts(&a) && place.trusts(&b));
    let left: Vec<PathBuf> = place.list.list().unwrap().into_iter().map(|one| one.directory).collect();
    assert_eq!(left, [place.at("b")]);
}

#[test]
fn the_list_is_lines_that_only_the_owner_reads_and_nothing_else_is_left() {
    let place = Place::new();
    let (a, b) = (place.file("a b", "a"), place.file("c", "c"));
    place.trust(&a).unwrap();
    fs::write(place.at("state/trusted.new"), "left over").unwrap();
    place.trust(&b).unwrap();
    let text = fs::read_to_string(place.at("state/trusted")).unwrap();
    let sha_of_a = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
    assert_eq!(text.lines().next().unwrap(), format!("{sha_of_a}  {}", place.at("a b").display()));
    assert_eq!(text.lines().count(), 2);
    assert_eq!(fs::metadata(place.at("state/trusted")).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(place.at("state")).unwrap().count(), 1);
    assert_eq!(place.list.list().unwrap().first().unwrap().hash, sha_of_a);
}

#[test]
fn only_a_workspaces_file_at_a_path_of_one_line_can_be_trusted() {
    let place = Place::new();
    let broken = place.file("a\nb", "");
    assert!(place.trust(&broken).unwrap_err().to_string().contains("line break"));
    assert!(!place.trusts(&broken));
    for path in ["deputy.toml", "/w/other.toml"] {
        let file = File::made_up(path, "");
        assert!(place.trust(&file).unwrap_err().to_string().contains("only a workspace's own"), "{path}");
        assert!(!place.trusts(&file));
    }
    assert!(place.list.list().unwrap().is_empty());
}

#[test]
fn a_workspace_around_the_list_is_never_trusted() {
    let place = Place::new();
    let around = place.file(".", "");
    let error = place.trust(&around).unwrap_err().to_string();
    assert!(error.contains("could trust itself"), "{error}");
    let line = Entry::of(&around).unwrap().line();
    fs::write(place.at("state/trusted"), line).unwrap();
    assert!(!place.trusts(&around), "not even by a line that says so");
}

#[test]
fn a_broken_or_foreign_list_trusts_nothing() {
    let place = Place::new();
    let a = place.file("a", "a");
    place.trust(&a).unwrap();
    let path = place.at("state/trusted");
    let good = fs::read_to_string(&path).unwrap();
    let hash = "0".repeat(64);
    for line in [
        "x".to_owned(),
        format!("{hash} /one/space"),
        format!("{hash}  relative"),
        format!("{hash}  "),
        format!("{}  /short", "0".repeat(63)),
        format!("{}  /upper", "A".repeat(64)),
        "é".repeat(40),
    ] {
        fs::write(&path, format!("{good}\n{line}\n")).unwrap();
        let error = place.list.is_trusted(&a).unwrap_err().to_string();
        assert!(error.contains("trusted:3: expected a SHA-256"), "{error}");
        assert!(place.trust(&a).is_err(), "what is not understood is not written over");
    }
    fs::write(&path, &good).unwrap();
    assert!(place.trusts(&a));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).unwrap();
    let error = format!("{:#}", place.list.is_trusted(&a).unwrap_err());
    assert!(error.contains("only its owner"), "{error}");
    fs::remove_file(&path).unwrap();
    fs::write(place.at("elsewhere"), &good).unwrap();
    symlink(place.at("elsewhere"), &path).unwrap();
    assert!(place.list.is_trusted(&a).is_err(), "a link is not followed");
}

#[test]
fn changes_at_the_same_time_all_count() {
    let place = Place::new();
    let files: Vec<File> = (0..16).map(|n| place.file(&format!("w{n}"), "x")).collect();
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| place.trust(file).unwrap());
        }
    });
    assert!(files.iter().all(|file| place.trusts(file)));
}

#[test]
fn an_agent_file_is_trusted_with_its_place_its_text_and_its_component() {
    let place = Place::new();
    let (a, md, wasm) = (place.file("a", "x"), Path::new("/w/subagents/a.md"), Path::new("/w/a.wasm"));
    let hash = hash_of_declaration(md, "1", Some((wasm, "2")));
    for other in [
        hash_of_declaration(md, "1", None),
        hash_of_declaration(md, "2", Some((wasm, "2"))),
        hash_of_declaration(md, "1", Some((wasm, "3"))),
        hash_of_declaration(md, "1", Some((Path::new("/w/b.wasm"), "2"))),
        hash_of_declaration(Path::new("/w/subagents/b.md"), "1", Some((wasm, "2"))),
        hash_of_declaration(md, "", Some((Path::new("1/w/a.wasm"), "2"))),
    ] {
        assert_ne!(hash, other);
    }
    let both = [Entry::of(&a).unwrap(), Entry::new(hash.clone(), a.directory()).unwrap()];
    place.list.trust(a.directory(), &both).unwrap();
    assert!(place.trusts(&a) && place.list.hashes(a.directory()).unwrap().contains(&hash));
    assert!(place.list.hashes(&place.at("b")).unwrap().is_empty());
    place.trust(&a).unwrap();
    assert!(!place.list.hashes(a.directory()).unwrap().contains(&hash), "what was trusted before is not");
    place.list.trust(a.directory(), &both).unwrap();
    assert!(place.list.revoke(a.directory()).unwrap() && place.list.list().unwrap().is_empty());
}
