//! What a confined command cannot reach. Where the machine cannot confine, that it says so instead.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;

use deputy::tools::ConfinementUnavailable;

use super::Test;
use super::attacks::REFUSED;
use super::ground::{CANARY, Ground, confinement, this_program};

macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[Test] = &[$((stringify!($name), || on_confining_machine($name))),*];
    };
}

tests![
    no_connection_reaches_a_listener,
    no_socket_can_be_made_but_pairs_of_streams,
    files_outside_cannot_be_read,
    files_outside_cannot_be_changed,
    a_link_in_the_workspace_does_not_lead_out,
    the_system_s_secrets_cannot_be_read,
    the_environment_of_the_host_cannot_be_read,
    the_host_cannot_be_signalled,
    the_limits_of_the_host_cannot_be_changed,
    nothing_outside_can_be_executed,
    namespaces_mounts_and_traces_are_refused,
    privileges_are_gone,
    the_workspace_can_be_changed_with_a_grant_to_write,
    the_workspace_cannot_be_changed_without_one,
    what_is_made_readable_can_be_read_and_run_and_not_changed,
    ordinary_work_goes_on,
];

fn on_confining_machine(test: fn()) {
    match confinement() {
        Ok(confinement) => {
            assert!(confinement.describe().contains("Landlock ABI"), "{}", confinement.describe());
            test();
        }
        Err(error @ ConfinementUnavailable::NotEnforced { .. }) => {
            assert!(error.to_string().contains("--shell unconfined"), "{error}");
        }
        Err(error) => panic!("{error}"),
    }
}

fn ground() -> Ground {
    Ground::with(confinement().expect("this machine confines"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn assert_refused(ground: &Ground, words: &[&str]) {
    let seen = ground.attack(words);
    assert_eq!(seen.exit_code, Some(REFUSED), "{words:?}: {}", seen.text);
}

fn no_connection_reaches_a_listener() {
    let outside = tempfile::tempdir().unwrap();
    let ground = ground();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let here = ground.path("socket");
    let there = outside.path().join("socket");
    let datagrams_at = ground.path("datagrams");
    let [in_workspace, elsewhere] = [&here, &there].map(|path| UnixListener::bind(path).unwrap());
    let datagrams = UnixDatagram::bind(&datagrams_at).unwrap();
    let name = format!("deputy-{}", ground.mark);
    let abstract_one = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    for listener in [&in_workspace, &elsewhere, &abstract_one] {
        listener.set_nonblocking(true).unwrap();
    }
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    datagrams.set_nonblocking(true).unwrap();

    let tcp_address = tcp.local_addr().unwrap().to_string();
    let udp_address = udp.local_addr().unwrap().to_string();
    assert_refused(&ground, &["connect-tcp", &tcp_address]);
    assert_refused(&ground, &["send-udp", &udp_address]);
    assert_refused(&ground, &["connect-unix", text(&here)]);
    assert_refused(&ground, &["connect-unix", text(&there)]);
    assert_refused(&ground, &["connect-abstract", &name]);
    assert_refused(&ground, &["send-by-pair", text(&datagrams_at)]);
    // By a shell that speaks TCP itself and by the usual tools, where they are there.
    let port = tcp.local_addr().unwrap().port();
    for command in [
        format!("bash -c 'echo hello > /dev/tcp/127.0.0.1/{port}'"),
        format!("curl -m 5 http://127.0.0.1:{port}/"),
        format!("ping -c 1 -W 1 127.0.0.1 && false; echo | nc -w 1 127.0.0.1 {port}"),
    ] {
        let seen = ground.shell(&command).unwrap();
        assert!(!seen.succeeded(), "{command}: {}", seen.text);
    }

    let nothing = std::io::ErrorKind::WouldBlock;
    assert_eq!(tcp.accept().unwrap_err().kind(), nothing);
    assert_eq!(udp.recv(&mut [0; 16]).unwrap_err().kind(), nothing);
    assert_eq!(datagrams.recv(&mut [0; 16]).unwrap_err().kind(), nothing);
    for listener in [in_workspace, elsewhere, abstract_one] {
        assert_eq!(listener.accept().unwrap_err().kind(), nothing);
    }
}

fn no_socket_can_be_made_but_pairs_of_streams() {
    let ground = ground();
    assert_refused(&ground, &["listen-tcp"]);
    assert_refused(&ground, &["listen-unix", text(&ground.path("new"))]);
    assert!(ground.attack(&["pair-of-streams"]).succeeded());
}

fn files_outside_cannot_be_read() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    fs::write(&secret, CANARY).unwrap();
    let ground = ground();
    assert_refused(&ground, &["read", text(&secret)]);
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let seen = ground.shell(&format!("cat {} ../{name}/secret", secret.display())).unwrap();
    assert!(!seen.succeeded() && !seen.text.contains(CANARY), "{}", seen.text);
    for directory in ["/", "/tmp", "/root", "/home", "/var", "/var/log", "/run", "/etc", "/dev"] {
        if Path::new(directory).exists() {
            assert_refused(&ground, &["list", directory]);
        }
    }
}

fn files_outside_cannot_be_changed() {
    let outside = tempfile::tempdir().unwrap();
    let kept = outside.path().join("kept");
    fs::write(&kept, "as it was").unwrap();
    let ground = ground();
    fs::write(ground.path("mine"), "mine").unwrap();
    let new = outside.path().join("new");
    for words in [
        &["write", text(&new)][..],
        &["write", text(&kept)],
        &["append", text(&kept)],
        &["empty", text(&kept)],
        &["truncate-by-path", text(&kept)],
        &["remove", text(&kept)],
        &["make-directory", text(&new)],
        &["link", text(&kept), "linked"],
        &["link", "mine", text(&new)],
        &["rename", text(&kept), "taken"],
        &["rename", "mine", text(&new)],
        &["write", "/tmp/deputy-test-outside"],
        &["write", "/usr/deputy-test-outside"],
        &["append", "/proc/self/oom_score_adj"],
    ] {
        assert_refused(&ground, words);
    }
    assert_eq!(fs::read_to_string(&kept).unwrap(), "as it was");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert!(
        !Path::new("/tmp/deputy-test-outside").exists() && !Path::new("/usr/deputy-test-outside").exists()
    );
}

fn a_link_in_the_workspace_does_not_lead_out() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    fs::write(&secret, CANARY).unwrap();
    let ground = ground();
    std::os::unix::fs::symlink(&secret, ground.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.path(), ground.path("directory")).unwrap();
    assert_refused(&ground, &["read", "link"]);
    assert_refused(&ground, &["append", "link"]);
    assert_refused(&ground, &["write", "directory/new"]);
    assert_refused(&ground, &["list", "directory/.."]);
    let seen = ground.shell(&format!("ln -s {} own && cat own", secret.display())).unwrap();
    assert!(!seen.succeeded() && !seen.text.contains(CANARY), "{}", seen.text);
}

fn the_system_s_secrets_cannot_be_read() {
    let ground = ground();
    let home = std::env::home_dir().expect("a home");
    for path in ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/proc/kcore", "/proc/kmsg"] {
        if Path::new(path).exists() {
            assert_refused(&ground, &["read", path]);
        }
    }
    assert_refused(&ground, &["list", text(&home)]);
    let seen = ground.shell("ls -A ~; echo $HOME").unwrap();
    assert!(
        seen.succeeded() && seen.output.lines().count() == 1 && seen.output.trim_end() != text(&home),
        "{}",
        seen.text
    );
}

fn the_environment_of_the_host_cannot_be_read() {
    let ground = ground();
    assert!(std::env::vars().any(|(_, value)| value == CANARY), "the host holds the secret");
    let host = std::process::id();
    for file in ["environ", "mem", "maps"] {
        assert_refused(&ground, &["read", &format!("/proc/{host}/{file}")]);
    }
    let mut secret = tempfile::tempfile().unwrap();
    secret.write_all(CANARY.as_bytes()).unwrap();
    assert_refused(&ground, &["read", &format!("/proc/{host}/fd/{}", secret.as_raw_fd())]);
    assert_refused(&ground, &["list", &format!("/proc/{host}/root/")]);
    let seen = ground.shell("env; cat /proc/[0-9]*/environ /proc/self/environ 2>/dev/null; true").unwrap();
    assert!(seen.succeeded() && seen.output.contains("PATH="), "{}", seen.text);
    assert!(!seen.text.contains(CANARY), "{}", seen.text);
}

fn the_host_cannot_be_signalled() {
    let ground = ground();
    if confinement().unwrap().describe().contains("NOT held back") {
        return assert!(ground.shell("true").unwrap().succeeded());
    }
    assert_refused(&ground, &["kill", &std::process::id().to_string()]);
    // The supervisor is no part of the confinement either.
    let seen = ground.shell("kill -9 $PPID; echo $?").unwrap();
    assert!(seen.succeeded() && seen.output.ends_with("1\n"), "{}", seen.text);
    // Among themselves processes of a command may signal.
    assert!(ground.shell("sleep 60 & kill $!").unwrap().succeeded());
}

fn the_limits_of_the_host_cannot_be_changed() {
    let ground = ground();
    let host = std::process::id().to_string();
    let before = fs::read_to_string("/proc/self/limits").unwrap();
    assert_refused(&ground, &["limit", &host]);
    assert_eq!(fs::read_to_string("/proc/self/limits").unwrap(), before);
    assert!(ground.attack(&["limit", "0"]).succeeded(), "a process may lower its own");
}

fn nothing_outside_can_be_executed() {
    let outside = tempfile::tempdir().unwrap();
    let tool = outside.path().join("tool");
    fs::copy("/bin/true", &tool).unwrap();
    let ground = ground();
    assert_refused(&ground, &["execute", text(&tool)]);
    let error = ground.program(text(&tool), &[]).unwrap_err();
    assert!(error.to_string().contains("not run"), "{error}");
    fs::copy("/bin/true", ground.path("tool")).unwrap();
    assert!(ground.program("./tool", &[]).unwrap().succeeded());
}

fn namespaces_mounts_and_traces_are_refused() {
    let ground = ground();
    for command in [
        "unshare --user true",
        "unshare --mount true",
        "unshare --net true",
        "mount -t tmpfs none .",
        "chroot . /bin/true",
        "hostname deputy-test",
    ] {
        let seen = ground.shell(command).unwrap();
        assert!(!seen.succeeded() && seen.exit_code != Some(127), "{command}: {}", seen.text);
        let said = seen.output.to_lowercase();
        assert!(
            ["not permitted", "permission denied", "must be superuser", "must be root"]
                .iter()
                .any(|why| said.contains(why)),
            "{command}: {said}"
        );
    }
}

fn privileges_are_gone() {
    let seen = ground().attack(&["capabilities"]);
    assert!(seen.output.contains("NoNewPrivs:\t1"), "{}", seen.text);
    // All that may be left is to reach files of other owners (bit 1).
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        let line = seen.output.lines().find(|line| line.starts_with(set)).expect(set);
        let bits = u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap();
        assert_eq!(bits & !2, 0, "{line}");
    }
}

fn the_workspace_can_be_changed_with_a_grant_to_write() {
    let ground = ground();
    let seen = ground
        .shell("mkdir a b && echo text > a/file && mv a/file b/ && ln b/file c && ln -s c d && chmod +x c && rm -r a && cat d")
        .unwrap();
    assert_eq!((seen.exit_code, seen.output.as_str()), (Some(0), "text\n"));
    assert!(ground.path("b/file").exists() && !ground.path("a").exists());
}

fn the_workspace_cannot_be_changed_without_one() {
    let ground = ground().read_only();
    fs::write(ground.path("file"), "as it was").unwrap();
    for words in [
        &["write", "new"][..],
        &["append", "file"],
        &["empty", "file"],
        &["remove", "file"],
        &["make-directory", "new"],
        &["rename", "file", "other"],
    ] {
        assert_refused(&ground, words);
    }
    assert_eq!(fs::read_dir(ground.directory.path()).unwrap().count(), 1);
    let seen = ground.shell("cat file && echo work > $TMPDIR/x && cat ~/x").unwrap();
    assert_eq!((seen.exit_code, seen.output.as_str()), (Some(0), "as it waswork\n"), "{}", seen.text);
}

fn what_is_made_readable_can_be_read_and_run_and_not_changed() {
    let tools = tempfile::tempdir().unwrap();
    fs::create_dir(tools.path().join("bin")).unwrap();
    fs::copy("/bin/echo", tools.path().join("bin/deputy-test-tool")).unwrap();
    let ground = ground().readable(tools.path());
    assert_eq!(ground.program("deputy-test-tool", &["hello"]).unwrap().output, "hello\n");
    assert_refused(&ground, &["write", text(&tools.path().join("new"))]);
    assert_refused(&ground, &["append", text(&tools.path().join("bin/deputy-test-tool"))]);
    assert!(this_program().exists());
}

fn ordinary_work_goes_on() {
    let ground = ground();
    let seen = ground
        .shell("set -e; seq 100 | sort -rn | head -n 1; find . -name nothing; date > /dev/null; nproc > /dev/null; test -d $TMPDIR; mktemp > /dev/null; (echo a; echo b) | tee copy | wc -l; id -un > /dev/null; ls /usr /proc/self > /dev/null; echo x > /dev/null")
        .unwrap();
    assert_eq!((seen.exit_code, seen.output.as_str(), seen.note.as_str()), (Some(0), "100\n2\n", ""));
}
