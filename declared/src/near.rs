//! Which known word a mistyped one was meant to be. Must not replace the one by the other.

/// The candidate nearest to `word`, where it is near enough to be a slip of the keyboard: a third of the
/// letters, at least one.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, drop, replace, or swap with their neighbour to make one word of the other; words of more
/// than 64 letters are far from everything.
pub(super) fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().max(other.len()) > 64 {
        return usize::MAX;
    }
    let (mut before_last, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=other.len()).collect());
    let mut left_of_one = None;
    for (row, a) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        let mut left_of_other = None;
        for (column, b) in other.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut best = at(&last, column) + usize::from(a != b);
            best = best.min(at(&last, column + 1) + 1).min(at(&current, column) + 1);
            if left_of_one == Some(b) && left_of_other == Some(a) && column > 0 {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            current.push(best);
            left_of_other = Some(b);
        }
        before_last = std::mem::replace(&mut last, current);
        left_of_one = Some(a);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("raed", "read"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("grpe", ["glob", "grep"]), Some("grep"));
        assert_eq!(nearest("usages", ["grep", "read"]), None);
        assert_eq!(distance(&"x".repeat(65), "x"), usize::MAX);
    }
}
