//! Rights over random trees of delegation: they only shrink, deny wins, order does not matter.

use std::collections::BTreeSet;
use std::sync::Arc;

use deputy::governance::{
    Declaration, DenyAll, Effect, Governance, HandoffPolicy, Policy, Rights, SessionRights, ToolList, Verdict,
};
use deputy::ids::ToolName;
use proptest::prelude::*;

const TOOLS: [(&str, Effect); 9] = [
    ("read_file", Effect::Read),
    ("grep_files", Effect::Read),
    ("write_file", Effect::Write),
    ("edit_file", Effect::Write),
    ("run_command", Effect::Shell),
    ("fetch_url", Effect::Web),
    ("tide", Effect::Native),
    ("subagent_plan", Effect::Delegate),
    ("agent_spawn", Effect::Manage),
];

#[derive(Clone, Copy, Debug)]
enum RuleKind {
    Allow,
    Ask,
    Deny,
}

fn rules() -> impl Strategy<Value = Vec<(usize, RuleKind)>> {
    let kind = prop_oneof![Just(RuleKind::Allow), Just(RuleKind::Ask), Just(RuleKind::Deny)];
    prop::collection::vec((0..TOOLS.len(), kind), 0..8)
}

/// What each run of a chain of delegations declares; names that nobody has among them.
fn chain() -> impl Strategy<Value = Vec<Vec<String>>> {
    let name = prop_oneof![
        4 => (0..TOOLS.len()).prop_map(|at| TOOLS[at].0.to_owned()),
        1 => Just("raed_file".to_owned()),
        1 => Just("READ_FILE".to_owned()),
        1 => Just(String::new()),
    ];
    prop::collection::vec(prop::collection::vec(name, 0..8), 1..6)
}

/// What one run of a chain asks for, and the conversation that it continues.
#[derive(Clone, Debug)]
struct Wish {
    inherit: bool,
    named: Vec<&'static str>,
    allowed: Option<Vec<&'static str>>,
    denied: Option<Vec<&'static str>>,
    begun_with: Option<(u32, Vec<&'static str>)>,
}

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec((0..TOOLS.len()).prop_map(|at| TOOLS[at].0), 0..8)
}

fn names_or_none() -> impl Strategy<Value = Option<Vec<&'static str>>> {
    prop::option::of(names())
}

fn wish() -> impl Strategy<Value = Wish> {
    let begun_with = prop::option::of((1u32..7, names()));
    (any::<bool>(), names(), names_or_none(), names_or_none(), begun_with).prop_map(
        |(inherit, named, allowed, denied, begun_with)| Wish { inherit, named, allowed, denied, begun_with },
    )
}

fn policy(rules: &[(usize, RuleKind)]) -> Policy {
    rules.iter().fold(Policy::default(), |policy, (at, kind)| match kind {
        RuleKind::Allow => policy.allow(TOOLS[*at].0),
        RuleKind::Ask => policy.ask(TOOLS[*at].0),
        RuleKind::Deny => policy.deny(TOOLS[*at].0),
    })
}

fn to_depth(max_depth: u32) -> HandoffPolicy {
    HandoffPolicy { max_depth, ..HandoffPolicy::default() }
}

fn root(governance: &Governance) -> Arc<Rights> {
    governance.root_rights("parent".into(), TOOLS.iter().map(|(name, effect)| ((*name).into(), Ok(*effect))))
}

fn held(rights: &Rights) -> BTreeSet<String> {
    rights.tools().keys().map(ToString::to_string).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rights_only_shrink_on_the_way_down(rules in rules(), chain in chain()) {
        let governance = Governance::new(policy(&rules), Arc::new(DenyAll)).handoffs(to_depth(10));
        let denied: BTreeSet<&str> = rules.iter().filter(|(_, kind)| matches!(kind, RuleKind::Deny)).map(|(at, _)| TOOLS[*at].0).collect();
        let mut parent = root(&governance);
        for (depth, declared) in chain.iter().enumerate() {
            prop_assert!(held(&parent).iter().all(|tool| !denied.contains(tool.as_str())), "deny wins");
            let names: Vec<ToolName> = declared.iter().map(|name| name.as_str().into()).collect();
            match governance.subagent_rights(&Declaration::new(format!("child{depth}")).tools(names.clone()), &parent, None) {
                Ok(child) => {
                    let expected: BTreeSet<String> = held(&parent).into_iter().filter(|tool| declared.contains(tool)).collect();
                    prop_assert_eq!(held(&child), expected, "declaration and parent, and nothing else");
                    prop_assert_eq!(child.depth(), parent.depth() + 1);
                    for name in &names {
                        let cut = child.cut().iter().any(|denial| &denial.tool == name);
                        prop_assert!(cut != child.tools().contains_key(name), "what is cut is said: {}", name);
                        let allowed = governance.verdict(&child, name);
                        prop_assert!(child.tools().contains_key(name) || matches!(allowed, Verdict::Deny(_)));
                    }
                    parent = child;
                }
                Err(error) => {
                    prop_assert!(!names.is_empty(), "declaring nothing is no error");
                    prop_assert_eq!(error.cut.len(), names.iter().collect::<BTreeSet<_>>().len());
                    break;
                }
            }
        }
    }

    #[test]
    fn no_declaration_and_no_conversation_widens_anything(
        rules in rules(),
        lists in (names_or_none(), names_or_none()),
        chain in prop::collection::vec(wish(), 1..7),
        max_depth in 0u32..7,
    ) {
        let handoffs = HandoffPolicy {
            max_depth,
            allowed_tools: lists.0.clone().map(ToolList::of),
            denied_tools: lists.1.clone().map(ToolList::of),
            ..HandoffPolicy::default()
        };
        let governance = Governance::new(policy(&rules), Arc::new(DenyAll)).handoffs(handoffs);
        let listed = |tool: &str| {
            lists.0.as_ref().is_none_or(|list| list.contains(&tool)) && !lists.1.as_ref().is_some_and(|list| list.contains(&tool))
        };
        let mut parent = root(&governance);
        for wish in chain {
            let session = wish.begun_with.as_ref().map(|(depth, tools)| SessionRights {
                session: "s".into(),
                depth: *depth,
                tools: tools.iter().map(|tool| (*tool).into()).collect(),
            });
            let mut declaration = Declaration::new("child").tools(wish.named.clone());
            declaration.tools.inherit = wish.inherit;
            declaration.allowed_tools = wish.allowed.clone().map(ToolList::of);
            declaration.denied_tools = wish.denied.clone().map(ToolList::of);
            let Ok(child) = governance.subagent_rights(&declaration, &parent, session.as_ref()) else { break };
            prop_assert!(held(&child).is_subset(&held(&parent)));
            prop_assert!(child.depth() > parent.depth());
            for (tool, effect) in child.tools() {
                let name = tool.as_str();
                prop_assert!(wish.begun_with.as_ref().is_none_or(|(_, tools)| tools.contains(&name)));
                let must_be_named = matches!(effect, Effect::Shell | Effect::Web | Effect::Delegate | Effect::Manage);
                prop_assert!(wish.named.contains(&name) || (wish.inherit && !must_be_named), "{}", name);
                if *effect == Effect::Delegate {
                    prop_assert!(child.depth() < max_depth && listed(name));
                    prop_assert!(wish.allowed.as_ref().is_none_or(|list| list.contains(&name)));
                    prop_assert!(!wish.denied.as_ref().is_some_and(|list| list.contains(&name)));
                }
            }
            parent = child;
        }
    }

    #[test]
    fn the_order_of_rules_and_names_does_not_matter(rules in rules(), declared in prop::collection::vec(0..TOOLS.len(), 1..8)) {
        // Of two rules that are not denials the later one stands, so only those of one kind are turned round.
        let rules: Vec<_> = rules.into_iter().filter(|(_, kind)| !matches!(kind, RuleKind::Ask)).collect();
        let turned: Vec<_> = rules.iter().rev().copied().collect();
        let rights = |rules: &[(usize, RuleKind)], names: Vec<ToolName>| {
            let governance = Governance::new(policy(rules), Arc::new(DenyAll));
            governance.subagent_rights(&Declaration::new("child").tools(names), &root(&governance), None).map(|rights| held(&rights)).map_err(drop)
        };
        let names: Vec<ToolName> = declared.iter().map(|at| TOOLS[*at].0.into()).collect();
        let backwards: Vec<ToolName> = names.iter().rev().cloned().collect();
        prop_assert_eq!(rights(&rules, names), rights(&turned, backwards));
    }
}

#[test]
fn depth_means_the_same_on_both_sides_of_the_limit() {
    for max_depth in 0..4u32 {
        let governance = Governance::new(Policy::default(), Arc::new(DenyAll)).handoffs(to_depth(max_depth));
        let mut rights = root(&governance);
        for depth in 0..5u32 {
            let verdict = governance.verdict(&rights, &"subagent_plan".into());
            assert_eq!(
                verdict == Verdict::Allow,
                depth < max_depth,
                "max_depth {max_depth}, delegating at depth {depth}"
            );
            rights = governance
                .subagent_rights(
                    &Declaration::new("child").tools(["subagent_plan", "read_file"]),
                    &rights,
                    None,
                )
                .unwrap();
        }
    }
}
