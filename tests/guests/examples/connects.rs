//! Opens a connection by the standard library.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let connected = std::net::TcpStream::connect(task.input());
        Ok(Answer { text: format!("{connected:?}"), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Opens a connection by the standard library.");
