//! What this program does when a test has it run as a command: one attempt each to get out. Success is
//! exit code 0, being refused is [`REFUSED`], so that a missing tool never passes for a refusal.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::process::ExitCode;
use std::{fs, fs::OpenOptions};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

/// The exit code of an attempt that was refused.
pub(crate) const REFUSED: i32 = 77;

/// Makes the attempt that the arguments name.
pub(crate) fn main(arguments: &[String]) -> Option<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ["--attack", attempt, rest @ ..] = words.as_slice() else { return None };
    let result = match (*attempt, rest) {
        ("connect-tcp", [address]) => TcpStream::connect(address).and_then(|mut to| to.write_all(b"hello")),
        ("listen-tcp", []) => TcpListener::bind("127.0.0.1:0").map(drop),
        ("send-udp", [address]) => {
            UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"hello", address)).map(drop)
        }
        ("connect-unix", [path]) => UnixStream::connect(path).and_then(|mut to| to.write_all(b"hello")),
        ("listen-unix", [path]) => UnixListener::bind(path).map(drop),
        ("connect-abstract", [name]) => SocketAddr::from_abstract_name(name)
            .and_then(|address| UnixStream::connect_addr(&address))
            .and_then(|mut to| to.write_all(b"hello")),
        ("send-by-pair", [path]) => {
            UnixDatagram::pair().and_then(|(one, _)| one.send_to(b"hello", path)).map(drop)
        }
        ("pair-of-streams", []) => UnixStream::pair().map(drop),
        ("kill", [pid]) => {
            let pid = pid.parse().ok().and_then(Pid::from_raw).expect("a process id");
            kill_process(pid, Signal::TERM).map_err(io::Error::from)
        }
        ("limit", [pid]) => {
            let none = Rlimit { current: Some(0), maximum: Some(0) };
            prlimit(Pid::from_raw(pid.parse().expect("a process id")), Resource::Core, none)
                .map(drop)
                .map_err(io::Error::from)
        }
        ("read", [path]) => fs::read(path).and_then(|bytes| io::stdout().write_all(&bytes)),
        ("list", [path]) => fs::read_dir(path).map(drop),
        ("write", [path]) => fs::write(path, "changed"),
        ("append", [path]) => {
            OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(b"changed"))
        }
        ("empty", [path]) => OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(0)),
        ("truncate-by-path", [path]) => OpenOptions::new().write(true).truncate(true).open(path).map(drop),
        ("remove", [path]) => fs::remove_file(path),
        ("make-directory", [path]) => fs::create_dir(path),
        ("link", [from, to]) => fs::hard_link(from, to),
        ("rename", [from, to]) => fs::rename(from, to),
        ("execute", [path]) => std::process::Command::new(path).status().map(drop),
        ("capabilities", []) => {
            let status = fs::read_to_string("/proc/self/status").expect("a status");
            let lines =
                status.lines().filter(|line| line.starts_with("Cap") || line.starts_with("NoNewPrivs"));
            lines.for_each(|line| println!("{line}"));
            Ok(())
        }
        other => panic!("there is no attack {other:?}"),
    };
    Some(match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("refused: {error}");
            match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::CrossesDevices => ExitCode::from(77),
                _ => ExitCode::FAILURE,
            }
        }
    })
}
