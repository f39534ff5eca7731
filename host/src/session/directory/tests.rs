use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::history::{History, Message};
use crate::ids::UserId;

/// A store in a directory of its own, with the session of one key saved in it.
struct Kept {
    _home: TempDir,
    path: PathBuf,
    store: DirectoryStore,
    session: StoredSession,
}

impl Kept {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/sessions");
        let store = DirectoryStore::open(&path).unwrap();
        let session = session("researcher", "ada", &["hi"]);
        store.save(&session).await.unwrap();
        Self { _home: home, path, store, session }
    }

    fn file(&self) -> PathBuf {
        self.path.join(file_name(&self.session.key))
    }

    fn handle(&self) -> SessionId {
        handle(&file_name(&self.session.key))
    }

    /// Checks that nothing takes what stands in the file's place for a session, nor changes it.
    async fn assert_refused(&self, what: &str) -> SessionError {
        let error = self.store.load(&self.session.key).await.expect_err(what);
        assert_eq!(self.store.save(&self.session).await.expect_err(what), error, "{what}");
        let list = self.store.list().await.unwrap();
        assert!(list.sessions.is_empty(), "{what}");
        let unreadable = UnreadableSession { id: self.handle(), error: error.clone() };
        assert_eq!(list.unreadable, [unreadable], "{what}");
        assert!(error.to_string().contains(&*self.file().to_string_lossy()), "{error}");
        error
    }

    async fn assert_damaged(&self, what: &str, says: &str) {
        let error = self.assert_refused(what).await;
        assert!(matches!(&error, SessionError::Damaged { .. }), "{what}: {error:?}");
        assert!(error.to_string().contains(says), "{what}: {error}");
        assert!(error.to_string().contains("move the file away or remove the session"), "{error}");
    }
}

fn key(tool: &str, user: &str) -> SessionKey {
    SessionKey { tool: tool.into(), user: user.into() }
}

fn session(tool: &str, user: &str, said: &[&str]) -> StoredSession {
    StoredSession {
        id: SessionId::fresh(),
        key: key(tool, user),
        depth: 1,
        tools: ["read_file".into()].into(),
        history: said.iter().map(|text| Message::user(*text)).collect(),
    }
}

fn said(history: &History) -> Vec<String> {
    history.entries().iter().map(|entry| format!("{:?}", entry.message())).collect()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn a_session_is_found_by_its_tool_and_user_and_by_nothing_else() {
    let kept = Kept::new().await;
    for other in
        [key("researcher", "bob"), key("other", "ada"), key("researcherada", ""), key("researche", "rada")]
    {
        assert!(kept.store.load(&other).await.unwrap().is_none(), "{other:?}");
    }
    let again = DirectoryStore::open(&kept.path).unwrap();
    let loaded = again.load(&kept.session.key).await.unwrap().unwrap();
    assert_eq!((&loaded.id, &loaded.key), (&kept.session.id, &kept.session.key));
    assert_eq!((loaded.depth, &loaded.tools), (1, &kept.session.tools));
    assert_eq!(said(&loaded.history), said(&kept.session.history));
}

#[test]
fn a_file_is_named_after_its_key_without_showing_it() {
    let digest = "0e2aa1a7b104a762226754704d4aefd943d1b85b272d950ee74f117ac24daa23";
    assert_eq!(
        file_name(&SessionKey { tool: "researcher".into(), user: UserId::default() }),
        format!("{digest}.json")
    );
    for odd in ["../../etc/passwd", "a/b", "", "\0", ".", "\u{202e}"] {
        let name = file_name(&key(odd, odd));
        assert!(name.len() == 69 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'));
    }
}

#[tokio::test]
async fn only_the_owner_can_read_what_is_kept() {
    let kept = Kept::new().await;
    assert_eq!(mode(&kept.path), 0o700);
    assert_eq!(mode(&kept.file()), 0o600);
    fs::set_permissions(kept.file(), fs::Permissions::from_mode(0o644)).unwrap();
    kept.store.save(&kept.session).await.unwrap();
    assert_eq!(mode(&kept.file()), 0o600);
}

#[tokio::test]
async fn a_directory_that_is_no_private_one_is_refused_and_left_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let open = home.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    let error = DirectoryStore::open(&open).unwrap_err();
    assert!(error.to_string().contains("found mode 755; run `chmod 700`"), "{error}");
    assert_eq!(mode(&open), 0o755);

    let (file, link) = (home.path().join("file"), home.path().join("link"));
    fs::write(&file, "").unwrap();
    fs::create_dir(home.path().join("there")).unwrap();
    symlink(home.path().join("there"), &link).unwrap();
    for bad in [&file, &link, &file.join("below")] {
        let error = DirectoryStore::open(bad).unwrap_err();
        assert!(matches!(&error, SessionError::Directory { path, .. } if path == bad), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_file_is_never_taken_for_no_session_and_stays() {
    let kept = Kept::new().await;
    let whole = fs::read(kept.file()).unwrap();
    let newline_cut = whole.len() - 1;
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("empty", Vec::new(), "at byte 0: expected a session, found an empty file"),
        ("leftovers", [&whole[..], b"tail"].concat(), "trailing characters"),
        ("two documents", [&whole[..], &whole[..]].concat(), "trailing characters"),
        ("truncated", whole[..newline_cut - 3].to_vec(), &format!("at byte {}: EOF", newline_cut - 3)),
        ("no JSON", b"hello".to_vec(), "at byte 1: expected value"),
        ("zeros", vec![0; whole.len()], "expected value"),
    ];
    for (what, bytes, says) in cases {
        fs::write(kept.file(), &bytes).unwrap();
        kept.assert_damaged(what, says).await;
        assert_eq!(fs::read(kept.file()).unwrap(), bytes, "{what} is left as it is");
    }
    fs::write(kept.file(), &whole).unwrap();
    assert!(kept.store.load(&kept.session.key).await.unwrap().is_some());
}

#[tokio::test]
async fn what_is_no_regular_file_is_damage_and_nobody_waits_for_it() {
    let kept = Kept::new().await;
    let elsewhere = kept.path.join("elsewhere");
    fs::rename(kept.file(), &elsewhere).unwrap();

    symlink(&elsewhere, kept.file()).unwrap();
    kept.assert_damaged("link", "found a link").await;
    assert!(kept.store.remove(&kept.handle()).await.unwrap());
    assert!(elsewhere.exists(), "what the link leads to is not touched");

    symlink("nowhere", kept.file()).unwrap();
    kept.assert_damaged("dangling link", "found a link").await;
    assert!(kept.store.remove(&kept.handle()).await.unwrap());

    mknodat(CWD, kept.file(), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    kept.assert_damaged("pipe", "found a pipe").await;
    assert!(kept.store.remove(&kept.handle()).await.unwrap());

    fs::create_dir(kept.file()).unwrap();
    kept.assert_damaged("directory", "found a directory").await;
    fs::write(kept.file().join("x"), "").unwrap();
    let error = kept.store.remove(&kept.handle()).await.unwrap_err();
    assert!(matches!(&error, SessionError::Io { path, .. } if *path == kept.file()), "{error}");
    fs::remove_file(kept.file().join("x")).unwrap();
    assert!(kept.store.remove(&kept.handle()).await.unwrap());

    assert!(kept.store.load(&kept.session.key).await.unwrap().is_none());
    assert!(!kept.store.remove(&kept.handle()).await.unwrap());
}

#[tokio::test]
async fn the_session_of_somebody_else_in_the_place_is_damage() {
    let kept = Kept::new().await;
    let other = session("researcher", "bob", &["a secret"]);
    kept.store.save(&other).await.unwrap();
    let place = kept.path.join(file_name(&other.key));
    fs::rename(place, kept.file()).unwrap();
    kept.assert_damaged("somebody else's", "found that of tool \"researcher\" and user \"bob\"").await;
    assert!(kept.store.load(&other.key).await.unwrap().is_none());
}

#[tokio::test]
async fn a_newer_or_too_large_file_is_refused_and_stays() {
    let kept = Kept::new().await;
    fs::write(kept.file(), "{\"version\":7,\"id\":\"x\"}").unwrap();
    let error = kept.assert_refused("newer").await;
    assert_eq!(error, SessionError::Newer { path: kept.file(), found: 7, known: 1 });

    let most = 64 * 1024 * 1024;
    fs::File::create(kept.file()).unwrap().set_len(most + 1).unwrap();
    let error = kept.assert_refused("too large").await;
    assert_eq!(error, SessionError::TooLarge { path: kept.file(), bytes: most + 1, most });
    assert!(kept.store.remove(&kept.handle()).await.unwrap());
}

#[tokio::test]
async fn what_could_not_be_read_again_is_not_written() {
    let kept = Kept::new().await;
    let mut large = kept.session.clone();
    large.history.push(Message::user("x".repeat(64 * 1024 * 1024)));
    let error = kept.store.save(&large).await.unwrap_err();
    assert!(matches!(error, SessionError::TooLarge { .. }), "{error}");
    let loaded = kept.store.load(&kept.session.key).await.unwrap().unwrap();
    assert_eq!(said(&loaded.history), said(&kept.session.history));
}

#[tokio::test]
async fn a_list_holds_what_can_be_read_and_what_cannot() {
    let kept = Kept::new().await;
    let later = session("writer", "bob", &["one", "two"]);
    kept.store.save(&later).await.unwrap();
    let cut = session("coder", "eve", &["lost"]);
    kept.store.save(&cut).await.unwrap();
    let cut_file = kept.path.join(file_name(&cut.key));
    let bytes = fs::read(&cut_file).unwrap();
    fs::write(&cut_file, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(kept.path.join("notes.json"), "not ours").unwrap();

    let list = kept.store.list().await.unwrap();
    let expected = |session: &StoredSession| SessionSummary {
        id: session.id.clone(),
        key: session.key.clone(),
        depth: 1,
        tools: session.tools.clone(),
        messages: session.history.entries().len(),
        bytes: fs::metadata(kept.path.join(file_name(&session.key))).unwrap().len(),
    };
    assert_eq!(list.sessions, [expected(&kept.session), expected(&later)]);
    assert_eq!(list.unreadable.len(), 1);
    assert_eq!(list.unreadable[0].id, handle(&file_name(&cut.key)));

    assert!(kept.store.remove(&cut.id).await.unwrap(), "the id that the file still shows");
    assert!(kept.store.remove(&later.id).await.unwrap());
    assert!(!kept.store.remove(&later.id).await.unwrap());
    let list = kept.store.list().await.unwrap();
    assert_eq!((list.sessions, list.unreadable), (vec![expected(&kept.session)], Vec::new()));
    assert!(kept.path.join("notes.json").exists());
}

#[tokio::test]
async fn a_copy_in_another_place_does_not_cost_the_session_its_file() {
    let kept = Kept::new().await;
    let copy = kept.path.join(file_name(&key("copy", "ada")));
    fs::copy(kept.file(), &copy).unwrap();
    let list = kept.store.list().await.unwrap();
    assert_eq!((list.sessions.len(), list.unreadable.len()), (1, 1));
    assert!(kept.store.remove(&list.unreadable[0].id).await.unwrap());
    assert!(kept.file().exists() && !copy.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_sees_a_whole_session_while_others_write() {
    let kept = Kept::new().await;
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (store, key, done) = (kept.store.clone(), kept.session.key.clone(), done.clone());
        tokio::spawn(async move {
            let mut loads = 0;
            while !done.load(Ordering::Relaxed) || loads == 0 {
                let loaded = store.load(&key).await.unwrap().expect("there is always one");
                let entries = loaded.history.entries();
                let Message::User { text } = entries[0].message() else { panic!("a user message") };
                assert!(text == "hi" || entries.len() == text.parse::<usize>().unwrap());
                loads += 1;
            }
        })
    };
    let write = |store: DirectoryStore, count: usize| {
        let key = kept.session.key.clone();
        tokio::spawn(async move {
            let text = count.to_string();
            let mut session = session("", "", &vec![text.as_str(); count]);
            session.key = key;
            for _ in 0..30 {
                store.save(&session).await.unwrap();
            }
        })
    };
    let second = DirectoryStore::open(&kept.path).unwrap();
    let writers = [write(kept.store.clone(), 3), write(second, 2000)];
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    reader.await.unwrap();
    assert_eq!(fs::read_dir(&kept.path).unwrap().count(), 1, "nothing is left beside the session");
}

#[tokio::test]
async fn what_a_writer_left_half_written_long_ago_is_cleared_away() {
    let kept = Kept::new().await;
    let name = file_name(&kept.session.key);
    let [old, new] = ["1", "2"].map(|which| kept.path.join(format!("{name}.{which}.tmp")));
    let other = kept.path.join("notes.tmp");
    for path in [&old, &new, &other] {
        fs::write(path, "half").unwrap();
    }
    for path in [&old, &other] {
        let long_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
        fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    let store = DirectoryStore::open(&kept.path).unwrap();
    assert!(!old.exists() && new.exists() && other.exists());
    assert_eq!(store.list().await.unwrap().sessions.len(), 1, "they are no sessions");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_an_error() {
    let kept = Kept::new().await;
    fs::remove_dir_all(&kept.path).unwrap();
    assert!(matches!(kept.store.save(&kept.session).await, Err(SessionError::Io { .. })));
}

#[tokio::test]
async fn what_stands_in_the_place_of_a_key_is_removed_readable_or_not() {
    let kept = Kept::new().await;
    kept.store.save(&session("researcher", "bob", &["hello"])).await.unwrap();
    fs::write(kept.file(), "not a session").unwrap();
    assert!(kept.store.remove_of(&kept.session.key).await.unwrap());
    assert!(!kept.store.remove_of(&kept.session.key).await.unwrap(), "nothing is left of it");
    assert!(kept.store.remove_of(&key("researcher", "bob")).await.unwrap());
    assert_eq!(kept.store.list().await.unwrap(), SessionList::default());
}
