//! The purse: every draw counts once, no draw passes a limit, and what is reserved comes back.

use proptest::prelude::*;

use super::*;

fn purse(limits: PurseLimits) -> Arc<Purse> {
    Purse::new(limits, None)
}

fn tokens(count: u64) -> Usage {
    Usage { input_tokens: count, ..Usage::default() }
}

#[test]
fn each_part_is_refused_at_its_limit_and_named_by_its_setting() {
    let one = PurseLimits {
        descendants: 1,
        depth: Some(1),
        turns: Some(1),
        tool_calls: Some(1),
        ..PurseLimits::default()
    };
    let purse = purse(one);
    assert_eq!(purse.draw_run(2).unwrap_err().part, PursePart::Depth);
    purse.draw_run(1).unwrap();
    purse.draw_tool_call().unwrap();
    purse.draw_turn(5).unwrap().settle(tokens(7));
    for (refused, setting) in [
        (purse.draw_run(1).unwrap_err(), "purse.descendants"),
        (purse.draw_tool_call().unwrap_err(), "purse.tool_calls"),
        (purse.draw_turn(0).unwrap_err(), "purse.turns"),
    ] {
        assert!(refused.to_string().contains(&format!("1 of 1 {}", refused.part)), "{refused}");
        assert!(refused.to_string().contains(setting), "{refused}");
    }
    let report = purse.report();
    assert_eq!((report.descendants, report.turns, report.tool_calls, report.tokens), (1, 1, 1, 7));
    assert_eq!(report.spent.map(|spent| spent.part), Some(PursePart::Depth), "the first refusal stands");
}

#[test]
fn tokens_are_reserved_and_then_settled() {
    let purse = purse(PurseLimits { tokens: Some(100), ..PurseLimits::default() });
    let first = purse.draw_turn(60).unwrap();
    assert_eq!(purse.draw_turn(60).unwrap_err().part, PursePart::Tokens, "two such turns do not fit");
    first.settle(tokens(20));
    let failed = purse.draw_turn(60).unwrap();
    drop(failed);
    purse.draw_turn(80).unwrap().settle(tokens(80));
    assert!(purse.draw_turn(0).is_err() && purse.draw_tool_call().is_err() && purse.draw_run(1).is_err());
}

#[test]
fn cost_follows_the_prices() {
    let prices = Prices { input: 2.0, output: 8.0, ..Prices::default() };
    let purse = Purse::new(PurseLimits { cost: Some(0.001), ..PurseLimits::default() }, Some(prices));
    purse.draw_turn(0).unwrap().settle(Usage { input_tokens: 100, output_tokens: 99, ..Usage::default() });
    purse.draw_turn(0).unwrap().settle(tokens(4));
    assert_eq!(purse.draw_turn(0).unwrap_err().part, PursePart::Cost);
    assert!(purse.report().cost.is_some_and(|cost| (cost - 0.001).abs() < 1e-9));
}

#[test]
fn time_refuses_everything() {
    let purse = purse(PurseLimits { time: Some(Duration::ZERO), ..PurseLimits::default() });
    assert_eq!(purse.draw_turn(0).unwrap_err().part, PursePart::Time);
    assert_eq!(purse.draw_run(1).unwrap_err().part, PursePart::Time);
    assert_eq!(purse.draw_tool_call().unwrap_err().part, PursePart::Time);
    assert_eq!(purse.time_left(), Some(Duration::ZERO));
}

#[test]
fn without_a_limit_a_guest_holds_its_own_fuel_at_once() {
    let purse = purse(PurseLimits::default());
    let mut meter = FuelMeter::new(&purse, 500);
    assert_eq!((meter.slice(), meter.is_sliced()), (500, false));
    meter.settle(200);
    assert_eq!((meter.burnt(), purse.report().fuel), (300, 300));
    assert!(!meter.ran_out_of_the_purse());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn guests_together_never_burn_more_than_there_is(
        limit in 0u64..2_000_000_000,
        own in prop::collection::vec(0u64..500_000_000, 1..6),
        looks in prop::collection::vec((0usize..6, 0u64..=100), 0..60),
    ) {
        let purse = purse(PurseLimits { fuel: Some(limit), ..PurseLimits::default() });
        let mut meters: Vec<FuelMeter> = own.iter().map(|own| FuelMeter::new(&purse, *own)).collect();
        for (at, percent_left) in looks {
            let at = at % meters.len();
            let left = meters[at].slice() * percent_left / 100;
            meters[at].look(left);
            let held: u64 = meters.iter().map(|meter| meter.slice() + meter.burnt()).sum();
            prop_assert!(held <= limit, "{held} of {limit}");
            for (meter, own) in meters.iter().zip(&own) {
                prop_assert!(meter.slice() + meter.burnt() <= *own);
            }
        }
        for meter in &mut meters {
            meter.settle(meter.slice());
        }
        let burnt: u64 = meters.iter().map(FuelMeter::burnt).sum();
        prop_assert_eq!(purse.report().fuel, burnt);
    }

    #[test]
    fn draws_are_counted_exactly_and_never_past_a_limit(
        limits in (0u32..20, 0u64..20, 0u64..20),
        draws in prop::collection::vec(0u8..3, 0..80),
    ) {
        let (descendants, turns, tool_calls) = limits;
        let purse = purse(PurseLimits {
            descendants,
            turns: Some(turns),
            tool_calls: Some(tool_calls),
            ..PurseLimits::default()
        });
        let mut granted = [0u64; 3];
        for draw in draws {
            let ok = match draw {
                0 => purse.draw_run(1).is_ok(),
                1 => purse.draw_turn(1).map(|reserve| reserve.settle(tokens(1))).is_ok(),
                _ => purse.draw_tool_call().is_ok(),
            };
            granted[usize::from(draw)] += u64::from(ok);
        }
        let report = purse.report();
        prop_assert_eq!([report.descendants, report.turns, report.tool_calls], granted);
        prop_assert!(granted[0] <= u64::from(descendants) && granted[1] <= turns && granted[2] <= tool_calls);
        prop_assert_eq!(report.tokens, granted[1]);
    }
}
