//! Lists all that its WASI base shows of the host.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let mut seen = vec![format!("arguments {}", std::env::args().count())];
        seen.push(format!("environment {}", std::env::vars().count()));
        let mut input = String::new();
        let read = std::io::Read::read_to_string(&mut std::io::stdin(), &mut input);
        seen.push(format!("input {:?}", read.map_err(|_| ())));
        for path in ["/", ".", "/etc/passwd", "/proc/self/environ", "Cargo.toml"] {
            seen.push(format!("{path} {}", std::fs::metadata(path).is_ok() || std::fs::read(path).is_ok()));
        }
        seen.push(format!("write {}", std::fs::write("/tmp/out", "x").is_ok()));
        Ok(Answer { text: seen.join("\n"), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Lists all that its WASI base shows of the host.");
