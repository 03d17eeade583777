//! Work that was cut off and goes on from its journal, against work that nobody has cut off: every pass of every executor.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::ranks::{device, on_ranks, same};
use crate::sharded::problem_of;
use crate::support::everything::{everything, tolerance};
use crate::support::*;
use isoflat::Result;
use isoflat::engine::{Device, Engine, Journal, Precision, Store};
use isoflat::ranks::Ranks;

/// A folder in memory, which all ranks' threads can reach.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Store for Files {
    fn name(&self) -> &str {
        "memory"
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.0.lock().expect("a folder").get(name).cloned())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.0.lock().expect("a folder").insert(name.into(), bytes.to_vec());
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.0.lock().expect("a folder").remove(name);
        Ok(())
    }
}

impl Files {
    /// What a kill leaves: the first of the pieces. How many there were.
    fn cut(&self, pieces: usize) -> usize {
        let mut files = self.0.lock().expect("a folder");
        let all = files.keys().filter(|name| name.ends_with(".passes")).count();
        files.retain(|name, _| !name.ends_with(".passes") || name[..6].parse::<usize>().expect("a number") < pieces);
        all
    }

    /// The device with a journal here, which is written at every pass.
    fn on(&self, device: Device, ranks: Option<Rc<Ranks>>) -> Device {
        let is_first = ranks.as_ref().is_none_or(|ranks| ranks.rank() == 0);
        let store = is_first.then(|| Box::new(self.clone()) as Box<dyn Store>);
        let journal = Journal::open(Ok(store), ranks, &[("what".into(), "everything".into())], 0.0);
        device.with_journal(journal.expect("a journal"))
    }
}

type Found = Vec<(&'static str, Vec<f64>)>;

fn alone(device: &Device, seed: u64, samples: usize) -> Found {
    let (problem, parameters) = problem_of(seed, samples);
    everything(&Engine::new(device, &problem).expect("an engine"), &parameters, seed)
}

fn together(size: usize, files: Option<&Files>, precision: Precision, seed: u64, samples: usize) -> Found {
    same(on_ranks(size, |ranks| {
        let device = device(precision, &ranks);
        let device = match files {
            Some(files) => files.on(device, Some(ranks)),
            None => device,
        };
        alone(&device, seed, samples)
    }))
}

#[test]
fn what_was_cut_off_goes_on_to_the_same_bits() {
    for seed in 0..12 {
        let samples = 20 + 7 * seed as usize;
        for precision in [Precision::F64, Precision::F32] {
            let expected = alone(&Device::cpu(precision), seed, samples);
            let files = Files::default();
            let run = || alone(&files.on(Device::cpu(precision), None), seed, samples);
            assert_eq!(run(), expected, "seed {seed}: a journal changes nothing");
            let all = files.cut(usize::MAX);
            assert!(all > 8, "{all} passes");
            assert_eq!(run(), expected, "seed {seed}: all of it again");
            for pieces in [0, 1, all / 3, all / 2, all - 1] {
                files.cut(pieces);
                assert_eq!(run(), expected, "seed {seed}: {pieces} of {all} passes");
            }
        }
    }
}

#[test]
fn ranks_go_on_to_the_same_bits_and_others_to_rounding() {
    let samples = 33;
    for (seed, precision) in [(1, Precision::F64), (4, Precision::F32), (6, Precision::F64)] {
        let expected = together(2, None, precision, seed, samples);
        let files = Files::default();
        let run = |size: usize| together(size, Some(&files), precision, seed, samples);
        assert_eq!(run(2), expected);
        let all = files.cut(usize::MAX);
        for pieces in [1, all / 2] {
            files.cut(pieces);
            assert_eq!(run(2), expected, "seed {seed}: {pieces} of {all} passes");
        }
        files.cut(all / 2);
        for ((name, found), (_, expected)) in run(3).iter().zip(&expected) {
            assert!(error(found, expected) <= tolerance(precision, 3 * samples), "seed {seed}: {name}");
        }
    }
}

#[test]
fn a_gpu_goes_on_to_the_same_bits() {
    let expected = alone(&gpu(), 3, 40);
    let files = Files::default();
    assert_eq!(alone(&files.on(gpu(), None), 3, 40), expected);
    let all = files.cut(usize::MAX);
    files.cut(all / 2);
    assert_eq!(alone(&files.on(gpu(), None), 3, 40), expected);
}
