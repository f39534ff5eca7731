//! Several hosts at once, and one that is killed. Starts this test program again for each.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{CAP, Condition, Fixture, Worktrees, only_condition, write};

const WORKSPACE: &str = "DEPUTY_TEST_WORKSPACE";

/// Not a test by itself: a host that makes a worktree, says so, and holds it until its input ends.
#[tokio::test]
async fn a_host_of_its_own() {
    let Some(workspace) = std::env::var_os(WORKSPACE) else { return };
    let worktrees = Worktrees::open(Path::new(&workspace)).await.unwrap();
    let made = worktrees.create("process").await.unwrap();
    println!("\nid={}", made.id);
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    worktrees.finish(made, CAP).await.unwrap();
}

fn start(workspace: &Path) -> Child {
    let module = module_path!().split_once("::").unwrap().1;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("{module}::a_host_of_its_own"), "--exact", "--nocapture"]);
    command.env(WORKSPACE, workspace).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

fn id_of(host: &mut Child) -> String {
    let lines = BufReader::new(host.stdout.as_mut().unwrap()).lines();
    let mut said = lines.map_while(Result::ok);
    said.find_map(|line| line.strip_prefix("id=").map(str::to_owned)).unwrap()
}

#[tokio::test]
async fn eight_hosts_at_once_succeed() {
    let fixture = Fixture::new();
    let mut hosts: Vec<Child> = (0..8).map(|_| start(&fixture.root())).collect();
    let ids: Vec<String> = hosts.iter_mut().map(id_of).collect();
    let worktrees = fixture.open().await;
    let states = worktrees.list().await.unwrap();
    assert_eq!(states.len(), ids.len());
    assert!(states.iter().all(|one| one.state == Condition::InUse), "{states:?}");
    for mut host in hosts {
        drop(host.stdin.take());
        let mut rest = String::new();
        host.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert!(host.wait().unwrap().success(), "{rest}");
    }
    assert_eq!(worktrees.list().await.unwrap(), []);
}

#[tokio::test]
async fn work_of_a_killed_host_is_kept_and_no_longer_in_use() {
    let fixture = Fixture::new();
    let mut host = start(&fixture.root());
    let id = id_of(&mut host);
    let worktrees = fixture.open().await;
    assert_eq!(only_condition(&worktrees).await, Condition::InUse);
    let path = fixture.root().join(".deputy/worktrees").join(&id);
    write(&path.join("new.txt"), "work\n");
    host.kill().unwrap();
    host.wait().unwrap();
    assert_eq!(only_condition(&worktrees).await, Condition::HasWork);
    drop(worktrees.create("x").await.unwrap());
    assert!(path.join("new.txt").exists());
    worktrees.discard(&id).await.unwrap();
    assert_eq!(only_condition(&worktrees).await, Condition::Clean);
}
