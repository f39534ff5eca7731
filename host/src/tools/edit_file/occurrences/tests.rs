use proptest::prelude::*;

use super::{Occurrences, search};

proptest! {
    #[test]
    fn search_finds_what_comparing_at_every_place_finds(hay in "[ab\r\n]{0,40}", needle in "[ab\r\n]{1,4}") {
        let (hay, needle) = (hay.as_bytes(), needle.as_bytes());
        let slow: Vec<_> = (0..hay.len()).filter(|at| hay[*at..].starts_with(needle)).collect();
        let fast: Vec<_> = search(hay, needle).map(|range| range.start).collect();
        prop_assert_eq!(slow, fast);
    }

    #[test]
    fn text_copied_from_the_view_of_a_file_is_found_and_no_pair_is_parted(
        lines in prop::collection::vec(("[ab]{0,3}", any::<bool>()), 1..8), from in 0_usize..20, length in 1_usize..8,
    ) {
        let body: String = lines.iter().map(|(text, crlf)| format!("{text}{}", if *crlf { "\r\n" } else { "\n" })).collect();
        let view = body.replace("\r\n", "\n");
        let from = from.min(view.len() - 1);
        let old = &view[from..(from + length).min(view.len())];
        let found = Occurrences::find(body.as_bytes(), old.as_bytes());
        prop_assert!(!found.ranges.is_empty(), "{:?} in {:?}", old, body);
        for range in found.ranges {
            prop_assert_eq!(body[range].replace("\r\n", "\n"), old);
        }
    }
}
