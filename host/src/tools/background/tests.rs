//! How many commands a run may have in the background, and that its end is theirs.

use super::*;

fn done(code: i32) -> Result<Finished, ToolError> {
    Ok(Finished { exit_code: Some(code), output: String::new(), cut: false, note: String::new() })
}

/// One that runs until it is stopped.
fn endless(commands: &BackgroundCommands) -> Result<Arc<BackgroundCommand>, ToolError> {
    commands.start(|command| async move {
        command.stop().cancelled().await;
        Err(ToolError::Cancelled)
    })
}

#[tokio::test]
async fn the_end_of_a_run_ends_its_commands_and_lets_no_other_start() {
    let commands = BackgroundCommands::within(&CancellationToken::new());
    let first = endless(&commands).unwrap();
    assert!(first.ended().is_none());
    commands.end().await;
    assert!(matches!(first.ended().unwrap().how, Err(ToolError::Cancelled)));
    assert!(matches!(endless(&commands), Err(ToolError::Cancelled)));
    commands.end().await;
}

#[tokio::test]
async fn stopping_the_run_stops_its_commands() {
    let cancel = CancellationToken::new();
    let commands = BackgroundCommands::within(&cancel);
    let first = endless(&commands).unwrap();
    cancel.cancel();
    first.wait().await;
    assert!(matches!(endless(&commands), Err(ToolError::Cancelled)));
}

#[tokio::test]
async fn only_so_many_run_at_once_and_one_that_ended_makes_room() {
    let commands = BackgroundCommands::within(&CancellationToken::new());
    let running: Vec<_> = (0..AT_ONCE).map(|_| endless(&commands).unwrap()).collect();
    let refused = endless(&commands).unwrap_err().to_string();
    assert!(refused.contains("8 commands") && refused.contains("command_8"), "{refused}");
    running[0].stop().cancel();
    running[0].wait().await;
    assert_eq!(endless(&commands).unwrap().id(), "command_9");
    assert!(running[1].ended().is_none());
    commands.end().await;
}

#[tokio::test]
async fn a_name_that_no_command_has_is_answered_with_those_that_there_are() {
    let commands = BackgroundCommands::within(&CancellationToken::new());
    assert!(commands.get("command_1").unwrap_err().to_string().contains("none was started"));
    for _ in 0..REMEMBERED + 3 {
        commands.start(|_| async { done(0) }).unwrap().wait().await;
    }
    let forgotten = commands.get("command_3").unwrap_err().to_string();
    assert!(forgotten.contains("there are: command_4, command_5"), "{forgotten}");
    assert_eq!(commands.get("command_35").unwrap().ended().unwrap().how, done(0));
}

#[tokio::test]
async fn work_that_breaks_off_is_an_end() {
    let commands = BackgroundCommands::within(&CancellationToken::new());
    let broken = commands.start(|_| async { panic!("a fault") }).unwrap();
    broken.wait().await;
    assert!(broken.ended().unwrap().how.unwrap_err().to_string().contains("a fault of its own"));
}
