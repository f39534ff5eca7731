//! The arguments of the tools that spawn and watch, read leniently where no meaning is lost and refused in words
//! otherwise. Must not look anything up.

use std::time::Duration;

use serde_json::{Map, Value};

use super::SpawnTool;
use crate::history::Arguments;
use crate::tools::ToolError;

/// What a call that does not say waits, and the most that one may.
const WAIT_SECONDS: (u64, u64) = (30, 600);
/// The same of `task_output`, in milliseconds.
const WAIT_MS: (u64, u64) = (30_000, 600_000);

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Given {
    tool: SpawnTool,
    fields: Map<String, Value>,
}

impl Given {
    /// # Errors
    /// That they are no JSON object.
    pub(super) fn read(tool: SpawnTool, arguments: &Arguments) -> Result<Self, ToolError> {
        let fields = arguments.object().map_err(|error| {
            invalid(tool, &format!("expected a JSON object, and `{}` is none ({error})", arguments.as_str()))
        })?;
        Ok(Self { tool, fields })
    }

    /// A text that has to be there.
    ///
    /// # Errors
    /// That it is missing, empty or no text.
    pub(super) fn required(&self, name: &str) -> Result<&str, ToolError> {
        self.optional(name)?.ok_or_else(|| self.invalid(&format!("`{name}` is missing or empty")))
    }

    /// A text that may be left out; an empty one counts as left out.
    ///
    /// # Errors
    /// That it is no text.
    pub(super) fn optional(&self, name: &str) -> Result<Option<&str>, ToolError> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.trim().is_empty())),
            Some(other) => Err(self.invalid(&format!("`{name}` has to be a text, not {other}"))),
        }
    }

    /// How long to wait for an agent's answer; zero does not wait.
    ///
    /// # Errors
    /// That it is out of range.
    pub(super) fn wait_for_agent(&self) -> Result<Duration, ToolError> {
        self.number("timeout_seconds", WAIT_SECONDS).map(Duration::from_secs)
    }

    /// How long to wait for a task; zero only looks.
    ///
    /// # Errors
    /// That it is out of range, or `block` is neither yes nor no.
    pub(super) fn wait_for_task(&self) -> Result<Duration, ToolError> {
        let most = self.number("timeout", WAIT_MS).map(Duration::from_millis)?;
        let block = match self.fields.get("block") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(block)) => *block,
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => true,
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => false,
            Some(other) => return Err(self.invalid(&format!("`block` has to be true or false, not {other}"))),
        };
        Ok(if block { most } else { Duration::ZERO })
    }

    fn number(&self, name: &str, (default, most): (u64, u64)) -> Result<u64, ToolError> {
        let number = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(default),
            Some(Value::Number(number)) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        number.filter(|number| *number <= most).ok_or_else(|| {
            let came = self.fields.get(name).map(ToString::to_string).unwrap_or_default();
            self.invalid(&format!("`{name}` has to be a whole number from 0 to {most}, not {came}"))
        })
    }

    /// Why the call makes no sense.
    pub(super) fn invalid(&self, what: &str) -> ToolError {
        invalid(self.tool, what)
    }
}

/// `4.0` is a whole number to most models.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole, positive and small"
)]
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..1e9).contains(&number)).then_some(number as u64)
}

fn invalid(tool: SpawnTool, what: &str) -> ToolError {
    ToolError::InvalidArguments(format!(
        "{what}. `{}` takes {}",
        tool.name(),
        match tool {
            SpawnTool::Spawn => "`agent_id`, and if you like `task`, `label` and `timeout_seconds`",
            SpawnTool::Send => "`message`, either `agent_key` or `label`, and if you like `timeout_seconds`",
            SpawnTool::Agents => "no arguments",
            SpawnTool::Output => "`task_id`, and if you like `block` and `timeout`",
            SpawnTool::Cancel => "`task_id`",
            SpawnTool::Tasks => "`status_filter`, or nothing",
        }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(tool: SpawnTool, text: &str) -> Given {
        Given::read(tool, &Arguments::from(text)).unwrap()
    }

    #[test]
    fn a_wait_has_a_default_and_a_range() {
        for (text, seconds) in [
            ("{}", Some(30)),
            (r#"{"timeout_seconds":0}"#, Some(0)),
            (r#"{"timeout_seconds":"45"}"#, Some(45)),
            (r#"{"timeout_seconds":4.0}"#, Some(4)),
            (r#"{"timeout_seconds":600}"#, Some(600)),
            (r#"{"timeout_seconds":601}"#, None),
            (r#"{"timeout_seconds":-1}"#, None),
            (r#"{"timeout_seconds":0.5}"#, None),
            (r#"{"timeout_seconds":"soon"}"#, None),
        ] {
            let read = given(SpawnTool::Spawn, text).wait_for_agent();
            assert_eq!(read.ok().map(|wait| wait.as_secs()), seconds, "{text}");
        }
        for (text, ms) in [
            ("{}", Some(30_000)),
            (r#"{"block":false,"timeout":9}"#, Some(0)),
            (r#"{"timeout":600000}"#, Some(600_000)),
            (r#"{"timeout":600001}"#, None),
            (r#"{"block":7}"#, None),
        ] {
            let read = given(SpawnTool::Output, text).wait_for_task();
            assert_eq!(read.ok().map(|wait| wait.as_millis()), ms, "{text}");
        }
    }

    #[test]
    fn a_refusal_says_what_came_and_what_is_expected() {
        let error =
            given(SpawnTool::Spawn, r#"{"agent_id":7}"#).required("agent_id").unwrap_err().to_string();
        assert!(error.contains("not 7") && error.contains("`agent_id`, and if you like"), "{error}");
        assert!(Given::read(SpawnTool::Cancel, &Arguments::from("[1]")).is_err());
        assert!(given(SpawnTool::Cancel, r#"{"task_id":"  "}"#).required("task_id").is_err());
    }
}
