//! The invariance table over networks that are graphs: what theory calls invariant is never found to have changed.

use crate::support::any_table::Case;
use crate::support::graphs::random_graph;
use crate::support::*;
use isoflat::Loss;
use isoflat::engine::{Device, Precision};
use isoflat::invariance::{Expected, Verdict};
use isoflat::measure::Measure;
use isoflat::symmetry::Transformation;

#[test]
fn what_is_invariant_stays_on_graphs() {
    let (mut tables, mut cells, mut changed, mut unresolved, mut wrong) = (0, 0, 0, 0, Vec::new());
    for seed in 0..80 {
        let mut rng = rng(45_000 + seed);
        let network = random_graph(&mut rng, &HOMOGENEOUS);
        if network.parameter_count() > 160 {
            continue;
        }
        let loss = if seed % 2 == 0 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let parameters = random_parameters(&mut rng, &network);
        let layerwise = Transformation::RandomLayerwise { seed, low: 0.1, high: 10.0 };
        let nodewise = Transformation::RandomNodewise { seed, low: 0.1, high: 10.0 };
        let permutation = Transformation::RandomPermutation { seed };
        let of = vec![permutation.clone(), nodewise.clone(), layerwise.clone()];
        let maps = vec![layerwise, nodewise, permutation, Transformation::Composition { of }];
        let measures: Vec<_> = Measure::defined_for(&network).collect();
        let case = Case { problem, parameters, maps, summary: format!("seed {seed}: {}", network.summary()) };
        let table = case.table(&Device::cpu(Precision::F64), &measures).expect("a table");
        tables += 1;
        for cell in table.cells {
            match (cell.expected, cell.verdict) {
                (Expected::Invariant, Verdict::Invariant) => cells += 1,
                (Expected::Invariant, Verdict::Unresolved) => unresolved += 1,
                (Expected::Invariant, Verdict::Changed) => wrong.push(format!("{}: {cell:?}", case.summary)),
                (_, verdict) => changed += usize::from(verdict == Verdict::Changed),
            }
        }
        if tables == 12 {
            break;
        }
    }
    assert!(wrong.is_empty(), "{} cells are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tables >= 10 && changed > 20 * tables, "{tables} tables, {changed} cells that changed");
    assert!(cells > 30 * unresolved, "{unresolved} cells beside {cells} are unresolved");
}
