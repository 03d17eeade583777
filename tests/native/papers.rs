//! What the example `papers` does with its runs: keeping them, and correlations.

#[path = "../../examples/support/runs.rs"]
mod runs;
#[path = "../../examples/papers/statistics.rs"]
mod statistics;

use std::sync::atomic::{AtomicUsize, Ordering};

use isoflat::{Error, ErrorCode};
use serde_json::json;

use self::statistics::{kendall, pearson};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 5e-5
}

#[test]
fn runs_that_are_there_are_not_made_again() {
    let folder = std::env::temp_dir().join(format!("isoflat-papers-{}", std::process::id()));
    let made = AtomicUsize::new(0);
    let keys: Vec<u64> = (0..7).collect();
    let by = |jobs: usize, fails_at: Option<u64>| {
        runs::all(
            &folder,
            jobs,
            &keys,
            |key| format!("run-{key}"),
            |key| {
                if fails_at == Some(*key) {
                    return Err(Error::new(ErrorCode::NotFinite, "a run that fails"));
                }
                made.fetch_add(1, Ordering::Relaxed);
                Ok(json!({ "key": key }))
            },
        )
    };
    let all = |fails_at| by(3, fails_at);
    assert!(by(0, None).expect_err("no runs").message.contains("none of these runs is there"));
    // What was done before the failure is kept, and the failure is told.
    assert_eq!(all(Some(3)).expect_err("a failure").message, "a run that fails");
    let before = made.load(Ordering::Relaxed);
    assert!((3..7).contains(&before), "{before}");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), before);
    // Without jobs they are the results.
    assert_eq!((by(0, None).expect("results").len(), made.load(Ordering::Relaxed)), (before, before));
    let found = all(None).expect("results");
    assert_eq!(made.load(Ordering::Relaxed), 7);
    let order: Vec<_> = found.iter().map(|run| run["key"].as_u64().expect("a key")).collect();
    assert_eq!(order, keys);
    assert!(found.iter().all(|run| run["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0)));
    let together: f64 = found.iter().filter_map(|run| run["seconds"].as_f64()).sum();
    assert!(together > 0.0 && runs::seconds(&found) == together);
    // One that was cut off while it was written is none, and one that is no JSON is named.
    std::fs::rename(folder.join("run-2.json"), folder.join("run-2.part")).expect("a file");
    all(None).expect("results");
    assert_eq!(made.load(Ordering::Relaxed), 8);
    std::fs::write(folder.join("run-5.json"), "{").expect("a file");
    assert!(all(None).expect_err("a file that is no JSON").message.contains("run-5.json"));
    std::fs::remove_dir_all(&folder).expect("a folder");
}

#[test]
fn numbers_are_kept_to_six_digits() {
    assert_eq!([1234.567, -1.234_567_8e-7, 0.0].map(runs::short), [1234.57, -1.234_57e-7, 0.0]);
    assert!(runs::short(f64::INFINITY).is_infinite());
}

#[test]
fn correlations_have_the_values_and_intervals_of_their_definitions() {
    // r = 8 / √(10 · 10); atanh 0.8 = 1.0986 ± 1.9600 / √2.
    let pairs = [(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0), (5.0, 5.0)];
    let r = pearson(&pairs).expect("r");
    assert!(near(r.value, 0.8) && near(r.low, -0.27964) && near(r.high, 0.98620), "{r:?}");
    // Eight of ten pairs agree, two do not; atanh 0.6 = 0.6931 ± 1.9600 √0.437.
    let tau = kendall(&pairs).expect("tau");
    assert!(near(tau.value, 0.6) && near(tau.low, -0.53883) && near(tau.high, 0.96324), "{tau:?}");
    // Ties: 8 agree, one is tied in x and another in y: 8 / √(9 · 9).
    let tied = [(1.0, 1.0), (1.0, 2.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)];
    assert!(near(kendall(&tied).expect("tau").value, 8.0 / 9.0));
    let falling: Vec<_> = (0..9).map(|i| (f64::from(i), f64::from(-i * i))).collect();
    assert!(near(kendall(&falling).expect("tau").value, -1.0));
    // What says nothing is nothing.
    assert!(pearson(&pairs[..3]).is_none() && kendall(&pairs[..4]).is_none());
    assert!(pearson(&[(1.0, 1.0); 6]).is_none() && kendall(&[(1.0, 1.0); 6]).is_none());
}

/// A state is read as it was kept, and what a run took before it was killed counts.
#[test]
fn a_state_is_kept_and_its_seconds_count() {
    let folder = std::env::temp_dir().join(format!("isoflat-papers-state-{}", std::process::id()));
    let path = folder.join("run.state");
    assert_eq!(runs::read(&path).expect("no file is no failure"), None);
    let state = json!({ "seconds": 40.0, "state": { "coordinates": [0.1, f64::from(0.1_f32)] } });
    runs::keep(&path, &state).expect("a file");
    assert_eq!(runs::read(&path).expect("a file"), Some(state));
    let work = |_: &u64| Ok(json!({ "seconds": 40.0 }));
    let found = runs::all(&folder, 1, &[0_u64], |_| "run".into(), work).expect("a result");
    let seconds = found[0]["seconds"].as_f64().expect("a number");
    assert!((40.0..41.0).contains(&seconds), "{seconds}");
    std::fs::remove_dir_all(&folder).expect("a folder");
}

/// A run from before something was asked of it is handed to the work, once, and keeps what it had.
#[test]
fn runs_are_given_what_they_lack() {
    let folder = std::env::temp_dir().join(format!("isoflat-papers-lack-{}", std::process::id()));
    let keys = [0_u64, 1, 2];
    let name = |key: &u64| format!("run-{key}");
    runs::all(&folder, 1, &keys[..2], name, |key| Ok(json!({ "key": key, "seconds": 40.0 }))).expect("results");
    let worked = AtomicUsize::new(0);
    let completed = |jobs| {
        // One of them cannot be given it.
        let lacks = |key: &u64, found: &serde_json::Value| Ok(*key != 1 && found.get("more").is_none());
        let found = runs::completed(&folder, jobs, &keys, name, lacks, |key, before| {
            worked.fetch_add(1, Ordering::Relaxed);
            let mut entry = before.unwrap_or_else(|| json!({ "key": key }));
            entry["more"] = 7.into();
            Ok(entry)
        });
        found.expect("results")
    };
    assert_eq!(completed(0).len(), 2);
    let found = completed(2);
    assert_eq!(found, completed(2));
    assert_eq!(worked.load(Ordering::Relaxed), 2);
    let [old, without, new] = &found[..] else { panic!("three results") };
    assert!(
        old["more"] == 7 && old["seconds"].as_f64().is_some_and(|seconds| (40.0..41.0).contains(&seconds)),
        "{old}"
    );
    assert!(without.get("more").is_none() && new["more"] == 7, "{without} {new}");
    std::fs::remove_dir_all(&folder).expect("a folder");
}
