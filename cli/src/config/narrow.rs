//! What counts of a workspace's file that nobody trusts: whatever makes a run smaller than the operator's own
//! configuration allows. Must not let through a key that it does not list.

use toml::{Table, Value};

use super::problem::{Step, dotted};
use super::{INHERIT, Ignored, Stock, duration, layers};

/// Which way a key may move.
#[derive(Clone, Copy, Debug)]
enum Direction {
    /// A number, down; from this where the operator sets none, from anywhere where there is no such bound.
    Lower(Option<i64>),
    /// A duration, down.
    Shorter,
    /// A list, to more.
    More,
    /// A list, to fewer.
    Fewer,
    /// To this truth.
    Only(bool),
    /// To this word.
    Exactly(&'static str),
    /// To some of the tools that the stock subagent declares.
    SomeDeclared,
}

use Direction::{Exactly, Fewer, Lower, More, Only, Shorter, SomeDeclared};

/// A key, with `*` for any one name, and its direction; and the key whose value holds where it is not set.
struct Rule(&'static str, Direction, Option<&'static str>);

/// All that may move. The numbers are the library's defaults.
const RULES: &[Rule] = &[
    Rule("handoff.enabled", Only(true), None),
    Rule("handoff.max_depth", Lower(Some(1)), None),
    Rule("handoff.max_retries", Lower(Some(0)), None),
    Rule("handoff.timeout", Shorter, None),
    Rule("handoff.allowed_tools", Fewer, None),
    Rule("handoff.denied_tools", More, None),
    Rule("handoff.on_denied", Exactly("fail"), None),
    Rule("handoff.on_error", Exactly("fail"), None),
    Rule("handoff.retry_after_side_effects", Only(false), None),
    Rule("handoff.surface", Exactly("none"), None),
    Rule("purse.descendants", Lower(Some(256)), None),
    Rule("purse.concurrent_runs", Lower(Some(8)), None),
    Rule("purse.depth", Lower(None), None),
    Rule("purse.turns", Lower(None), None),
    Rule("purse.tool_calls", Lower(None), None),
    Rule("purse.tokens", Lower(None), None),
    Rule("purse.cost", Lower(None), None),
    Rule("purse.time", Shorter, None),
    Rule("purse.fuel", Lower(None), None),
    Rule("limits.max_turns", Lower(Some(50)), None),
    Rule("limits.subagent_max_turns", Lower(Some(50)), None),
    Rule("limits.result_bytes", Lower(Some(65_536)), None),
    Rule("limits.memory", Lower(Some(268_435_456)), None),
    Rule("limits.fuel", Lower(Some(50_000_000_000)), None),
    Rule("tools.ask", More, None),
    Rule("tools.deny", More, None),
    Rule("tools.shell", Exactly("off"), None),
    Rule("declarations.strict", Only(true), None),
    Rule("subagents.*.enabled", Only(false), None),
    Rule("subagents.*.tools", SomeDeclared, None),
    Rule("subagents.*.max_turns", Lower(Some(50)), Some("limits.subagent_max_turns")),
    Rule("subagents.*.memory", Lower(Some(268_435_456)), Some("limits.memory")),
    Rule("subagents.*.fuel", Lower(Some(50_000_000_000)), Some("limits.fuel")),
    Rule("subagents.*.timeout", Shorter, Some("handoff.timeout")),
    Rule("subagents.*.allowed_tools", Fewer, Some("handoff.allowed_tools")),
    Rule("subagents.*.denied_tools", More, Some("handoff.denied_tools")),
];

impl Rule {
    fn of(keys: &[String]) -> Option<&'static Self> {
        RULES.iter().find(|rule| {
            let mut pattern = rule.0.split('.');
            keys.iter().all(|key| pattern.next().is_some_and(|one| one == "*" || one == key))
                && pattern.next().is_none()
        })
    }
}

/// What the operator has without the file.
pub(super) struct Operator<'a> {
    /// What is built in.
    pub(super) base: Table,
    /// What the command line sets, which wins over the file in any case.
    pub(super) set: Table,
    pub(super) stock: &'a [Stock<'a>],
}

/// What counts of a file and what does not.
pub(super) struct Narrowed {
    pub(super) table: Table,
    pub(super) ignored: Vec<Ignored>,
}

impl Operator<'_> {
    pub(super) fn narrow(&self, file: &Table) -> Narrowed {
        let mut standing = self.base.clone();
        layers::merge(&mut standing, &self.set);
        let mut narrowed = Narrowed { table: Table::new(), ignored: Vec::new() };
        for (keys, value) in self.known_leaves(file, &mut narrowed.ignored) {
            if layers::at(&self.set, &keys).is_some() {
                // Trusted or not, it would not count.
                continue;
            }
            let counts = Rule::of(&keys).and_then(|rule| self.counts(rule, &keys, &value, &standing));
            if counts.as_ref().is_none_or(|counts| is_cut(counts, &value)) {
                narrowed.ignored.push(ignored(&keys));
            }
            if let Some(counts) = counts {
                layers::merge(&mut narrowed.table, &layers::nested(&keys, counts));
            }
        }
        narrowed
    }

    /// The values of a file with their keys, but for subagents that are not built in.
    fn known_leaves(&self, file: &Table, not: &mut Vec<Ignored>) -> Vec<(Vec<String>, Value)> {
        let mut found = Vec::new();
        let mut open: Vec<(Vec<String>, &Value)> =
            file.iter().rev().map(|(key, value)| (vec![key.clone()], value)).collect();
        while let Some((keys, value)) = open.pop() {
            if let [first, name] = keys.as_slice()
                && first == "subagents"
                && !self.stock.iter().any(|one| one.name == name)
            {
                not.push(ignored(&keys));
            } else if let Value::Table(table) = value {
                let deeper = table.iter().rev().map(|(key, value)| {
                    let keys: Vec<String> = keys.iter().chain([key]).cloned().collect();
                    (keys, value)
                });
                open.extend(deeper);
            } else {
                found.push((keys, value.clone()));
            }
        }
        found
    }

    /// What a value may come to, if anything.
    fn counts(&self, rule: &Rule, keys: &[String], value: &Value, standing: &Table) -> Option<Value> {
        let fallback = || {
            let keys: Vec<&str> = rule.2?.split('.').collect();
            layers::at(standing, &keys)
        };
        let standing = layers::at(standing, keys).or_else(fallback);
        let as_it_is = |counts: bool| counts.then(|| value.clone());
        match rule.1 {
            Lower(default) => {
                let most = standing.cloned().or(default.map(Value::Integer));
                as_it_is(most.is_none_or(|most| not_more(value, &most)))
            }
            Shorter => {
                let most = standing.map(length);
                as_it_is(most.is_none_or(|most| length(value) <= most && length(value).is_some()))
            }
            More => {
                let mut all = standing.map(names).unwrap_or_default();
                let new: Vec<&str> = names(value).into_iter().filter(|name| !all.contains(name)).collect();
                all.extend(new);
                Some(list(&all))
            }
            Fewer => match standing.map(names) {
                None => Some(value.clone()),
                Some(most) => {
                    let left: Vec<&str> =
                        names(value).into_iter().filter(|name| most.contains(name)).collect();
                    Some(list(&left))
                }
            },
            Only(truth) => as_it_is(value.as_bool() == Some(truth)),
            Exactly(word) => as_it_is(value.as_str() == Some(word)),
            SomeDeclared => {
                let name = keys.get(1)?;
                let declared =
                    || self.stock.iter().find(|one| one.name == name).map(|one| one.tools.to_vec());
                let most = standing.map(names).or_else(declared)?;
                let fits = |name: &&str| *name != INHERIT && most.contains(name);
                as_it_is(value.is_array() && names(value).iter().all(fits))
            }
        }
    }
}

fn ignored(keys: &[String]) -> Ignored {
    let steps: Vec<Step> = keys.iter().cloned().map(Step::Key).collect();
    Ignored { key: dotted(&steps) }
}

/// Whether a list lost something.
fn is_cut(counts: &Value, value: &Value) -> bool {
    let counts = names(counts);
    names(value).iter().any(|name| !counts.contains(name))
}

fn not_more(value: &Value, most: &Value) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "only whole numbers are compared with whole ones")]
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    match (value.as_integer(), most.as_integer()) {
        (Some(value), Some(most)) => value <= most,
        _ => number(value).zip(number(most)).is_some_and(|(value, most)| value <= most),
    }
}

fn length(value: &Value) -> Option<std::time::Duration> {
    value.as_str().and_then(duration::parse)
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().map(|items| items.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

fn list(names: &[&str]) -> Value {
    Value::Array(names.iter().map(|name| Value::String((*name).to_owned())).collect())
}

#[cfg(test)]
mod tests;
