use std::os::unix::fs::PermissionsExt;

use crate::tools::ToolError;
use crate::tools::path::WorkspacePath;
use crate::tools::target::{Missing, Target};
use crate::tools::testing::Place;

fn target(place: &Place, path: &str) -> Target {
    let path = WorkspacePath::parse(path, &place.context.workspace).unwrap();
    Target::resolve(&place.context, &path, Missing::Make).unwrap()
}

#[test]
fn content_that_changed_since_it_was_read_is_kept_and_said() {
    let place = Place::new();
    place.put("d/a", "old");
    let target = target(&place, "d/a");
    place.put("d/a", "theirs");
    let error = target.replace(&place.context, b"ours", Some(b"old")).unwrap_err();
    assert!(error.to_string().contains("changed in the meantime"), "{error}");
    assert_eq!(place.bytes("d/a"), b"theirs");
    std::fs::remove_file(place.root().join("d/a")).unwrap();
    assert!(target.replace(&place.context, b"ours", Some(b"old")).is_err());
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn a_directory_that_moved_out_of_the_workspace_is_not_written() {
    let place = Place::new();
    place.put("d/a", "old");
    let target = target(&place, "d/a");
    std::fs::rename(place.root().join("d"), place.outside().join("moved")).unwrap();
    assert!(target.replace(&place.context, b"evil", None).is_err());
    assert_eq!(std::fs::read(place.outside().join("moved/a")).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(place.outside().join("moved")).unwrap().count(), 1);
}

#[test]
fn a_stopped_run_writes_nothing_and_leaves_nothing() {
    let place = Place::new();
    place.put("a", "old");
    let target = target(&place, "a");
    place.context.cancel.cancel();
    assert_eq!(target.replace(&place.context, b"new", None), Err(ToolError::Cancelled));
    assert_eq!((place.bytes("a"), place.names()), (b"old".to_vec(), vec!["a".to_owned()]));
}

#[test]
fn a_read_only_file_is_kept() {
    let place = Place::new();
    place.put("a", "old");
    std::fs::set_permissions(place.root().join("a"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = target(&place, "a").replace(&place.context, b"new", None).unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(place.bytes("a"), b"old");
}

#[test]
fn a_link_put_in_the_files_place_is_replaced_and_its_target_untouched() {
    let place = Place::new();
    std::fs::write(place.outside().join("canary"), "untouched").unwrap();
    place.put("a", "old");
    let target = target(&place, "a");
    std::fs::remove_file(place.root().join("a")).unwrap();
    place.link("a", "../canary");
    let _ = target.replace(&place.context, b"new", None);
    assert_eq!(std::fs::read(place.outside().join("canary")).unwrap(), b"untouched");
}
