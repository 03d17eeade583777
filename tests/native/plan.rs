//! `isoflat plan`: what more ranks would save.

use crate::cli::{number, run};

/// A plan's numbers hang together: shares, memory that falls with the ranks, times that never beat them, and a network that makes more
/// of them useless sooner or later.
#[test]
fn a_plan_says_what_more_ranks_save() {
    let found = run("plan tests/golden/mlp_bias.json --nodes 6 --precision f64");
    let (plan, samples) = (&found["plan"], found["data"]["samples"].as_u64().expect("samples"));
    let rows = plan["rows"].as_array().expect("rows");
    let ranks: Vec<u64> = rows.iter().map(|row| row["ranks"].as_u64().expect("ranks")).collect();
    assert_eq!(ranks, [1, 2, 4, 6]);
    assert!(ranks.contains(&plan["enough"].as_u64().expect("a number of ranks")));
    for (row, &ranks) in rows.iter().zip(&ranks) {
        assert_eq!(row["samples"], samples.div_ceil(ranks), "{row}");
        assert!(number(&row["speedup"]) <= ranks as f64 * (1.0 + 1e-9) && number(&row["seconds"]) > 0.0, "{row}");
    }
    assert_eq!((number(&rows[0]["waiting"]), number(&rows[0]["speedup"])), (0.0, 1.0));
    for pair in rows.windows(2) {
        assert!(number(&pair[1]["bytes"]) < number(&pair[0]["bytes"]), "{pair:?}");
        assert!(number(&pair[1]["waiting"]) > 0.0, "{pair:?}");
    }
    // There are no more ranks than samples.
    let all = run("plan tests/golden/mlp_bias.json --nodes 100000");
    assert_eq!(all["plan"]["nodes"], samples);
}
