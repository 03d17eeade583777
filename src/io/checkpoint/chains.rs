//! In which orders layers can follow on each other.

/// More layers have too many orders to look for one.
const MOST: usize = 16;
/// Steps of the search, after which nothing is known.
const STEPS: usize = 20_000;
/// So many orders are as good as none.
const ENOUGH: usize = 8;

/// The orders of `count` layers in which each may read what the one before it gives; none where there are too many to be looked for.
pub(super) fn orders(count: usize, may_precede: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    if (1..=MOST).contains(&count) {
        let mut steps = 0;
        let is_whole = search(&mut Vec::new(), count, &may_precede, &mut steps, &mut found);
        if !is_whole && found.len() < ENOUGH {
            found.clear();
        }
    }
    found
}

/// Goes on from the beginning of an order; false where it was given up.
fn search(
    order: &mut Vec<usize>,
    count: usize,
    may_precede: &impl Fn(usize, usize) -> bool,
    steps: &mut usize,
    found: &mut Vec<Vec<usize>>,
) -> bool {
    if order.len() == count {
        found.push(order.clone());
        return found.len() < ENOUGH;
    }
    for next in 0..count {
        *steps += 1;
        if *steps > STEPS {
            return false;
        }
        let fits = !order.contains(&next) && order.last().is_none_or(|&last| may_precede(last, next));
        if fits {
            order.push(next);
            let goes_on = search(order, count, may_precede, steps, found);
            order.pop();
            if !goes_on {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_found_or_none() {
        let widths = [[3, 2], [2, 5], [7, 3]];
        assert_eq!(orders(3, |a, b| widths[a][1] == widths[b][0]), [[2, 0, 1]]);
        assert_eq!(orders(2, |_, _| true), [[0, 1], [1, 0]]);
        assert!(orders(2, |_, _| false).is_empty());
        assert_eq!(orders(16, |_, _| true).len(), ENOUGH);
        // A search that is given up has found nothing.
        assert!(orders(16, |a, b| b != 15 || a == 15).is_empty());
        assert!(orders(17, |_, _| true).is_empty());
    }
}
