//! Files and directories that are no sound store of this user's. Must show that each is left as it was.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sqlx::{Connection, SqliteConnection};

use super::*;
use crate::OpenError;

/// A directory whose file holds these bytes.
fn with_file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join(".deputy");
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(place.join("tasks.db"), bytes).unwrap();
    (dir, place)
}

/// The bytes of a closed store with one task.
async fn sound_bytes() -> Vec<u8> {
    let (_dir, store) = sqlite().await;
    store.create(new("a", Placement::Queued)).await.unwrap();
    store.close().await;
    assert!(!store.file().with_file_name("tasks.db-wal").exists(), "a closed store is one file");
    fs::read(store.file()).unwrap()
}

/// Opens what must be refused, and checks that not a byte was changed.
async fn refused(place: &Path) -> OpenError {
    let file = place.join("tasks.db");
    let before = fs::read(&file).ok();
    let fault = SqliteTaskStore::open(place).await.expect_err("it was opened");
    assert_eq!(fs::read(&file).ok(), before, "it was changed");
    fault
}

/// A sound store after one statement of another program.
async fn altered(sql: &'static str) -> (tempfile::TempDir, PathBuf) {
    let (dir, store) = sqlite().await;
    store.close().await;
    let address = format!("sqlite://{}", store.file().display());
    let mut connection = SqliteConnection::connect(&address).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let place = store.file().parent().unwrap().to_owned();
    (dir, place)
}

#[tokio::test]
async fn a_new_store_is_private_and_ignored_by_git() {
    let (_dir, store) = sqlite().await;
    let place = store.file().parent().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(place), mode(store.file())), (0o700, 0o600));
    assert_eq!(fs::read_to_string(place.join(".gitignore")).unwrap(), "*\n");
}

#[tokio::test]
async fn a_store_opens_again_with_its_records() {
    let (_dir, place) = with_file(&sound_bytes().await);
    let store = SqliteTaskStore::open(&place).await.unwrap();
    assert_eq!(store.get(&"a".into()).await.unwrap().task, "look around");
    let mode = fs::metadata(store.file()).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o600, "a looser mode is tightened");
}

#[tokio::test]
async fn an_empty_file_is_no_empty_store() {
    let (_dir, place) = with_file(b"");
    assert!(matches!(refused(&place).await, OpenError::Empty { .. }));
}

#[tokio::test]
async fn another_kind_of_file_is_refused() {
    for bytes in [&b"[]"[..], &b"SQLite format 3\0"[..], &[7; 5000]] {
        let (_dir, place) = with_file(bytes);
        assert!(matches!(refused(&place).await, OpenError::NotADatabase { .. }));
    }
}

#[tokio::test]
async fn a_truncated_file_is_refused() {
    let bytes = sound_bytes().await;
    for length in [100, 4096, 5000, bytes.len() - 4096, bytes.len() - 1] {
        let (_dir, place) = with_file(bytes.get(..length).unwrap());
        let fault = refused(&place).await;
        let told = matches!(fault, OpenError::Damaged { .. } | OpenError::NotADatabase { .. });
        assert!(told, "{length}: {fault:?}");
    }
}

#[tokio::test]
async fn bytes_after_the_end_are_refused_with_their_offset() {
    let mut bytes = sound_bytes().await;
    let end = bytes.len();
    bytes.extend_from_slice(b"\"}]");
    let (_dir, place) = with_file(&bytes);
    let fault = refused(&place).await.to_string();
    assert!(fault.contains(&format!("3 bytes follow its end at offset {end}")), "{fault}");
}

#[tokio::test]
async fn an_overwritten_page_is_refused() {
    let mut bytes = sound_bytes().await;
    bytes.get_mut(4096..8192).unwrap().fill(0xff);
    let (_dir, place) = with_file(&bytes);
    assert!(matches!(refused(&place).await, OpenError::Damaged { .. }));
}

#[tokio::test]
async fn a_newer_version_is_refused_and_says_what_to_do() {
    let (_dir, place) = altered("PRAGMA user_version = 7").await;
    let fault = refused(&place).await;
    assert!(matches!(fault, OpenError::Newer { found: 7, known: 1, .. }));
    assert!(fault.to_string().contains("use a newer version of the program"));
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_unread() {
    let (_dir, place) = altered("PRAGMA application_id = 42").await;
    assert!(matches!(refused(&place).await, OpenError::Foreign { found: 42, .. }));
}

#[tokio::test]
async fn links_and_pipes_are_not_followed() {
    let (_dir, target) = with_file(&sound_bytes().await);
    for name in ["tasks.db", "tasks.db-wal", "tasks.db-shm", "tasks.db-journal"] {
        let (_dir, place) = with_file(&sound_bytes().await);
        let _ = fs::remove_file(place.join(name));
        symlink(target.join("tasks.db"), place.join(name)).unwrap();
        let fault = refused(&place).await;
        assert!(matches!(fault, OpenError::WrongKind { found: "a symbolic link", .. }), "{name}");
    }
    let (_dir, place) = with_file(b"");
    fs::remove_file(place.join("tasks.db")).unwrap();
    symlink("nowhere", place.join("tasks.db")).unwrap();
    assert!(matches!(refused(&place).await, OpenError::WrongKind { .. }));
    fs::remove_file(place.join("tasks.db")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, place.join("tasks.db"), rustix::fs::FileType::Fifo, mode, 0)
        .unwrap();
    let fault = SqliteTaskStore::open(&place).await.unwrap_err();
    assert!(matches!(fault, OpenError::WrongKind { found: "a pipe", .. }));
}

#[tokio::test]
async fn a_directory_that_is_none_or_open_to_others_is_refused() {
    let (dir, place) = with_file(&sound_bytes().await);
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(refused(&place).await, OpenError::OpenToOthers { mode: 0o777, .. }));
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&place, dir.path().join("link")).unwrap();
    assert!(matches!(refused(&dir.path().join("link")).await, OpenError::WrongKind { .. }));
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(matches!(refused(&dir.path().join("file")).await, OpenError::WrongKind { .. }));
    let deep = dir.path().join("no/such");
    assert!(matches!(refused(&deep).await, OpenError::Io { doing: "make the directory", .. }));
}

#[tokio::test]
async fn a_file_of_another_user_is_refused() {
    let (_dir, place) = with_file(&sound_bytes().await);
    let file = place.join("tasks.db");
    // Only a privileged user can give a file away; others cannot bring this case about.
    if std::os::unix::fs::chown(&file, Some(65534), None).is_ok() {
        assert!(matches!(refused(&place).await, OpenError::WrongOwner { owner: 65534, .. }));
    }
}
