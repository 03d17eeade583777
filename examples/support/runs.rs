//! Runs, each kept in a file of its own: what was killed goes on where it was.
#![allow(dead_code, reason = "examples are programs of their own, and each takes what it wants")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use isoflat::{Error, ErrorCode, Result};
use serde_json::Value;

fn failed(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::InvalidOption, format!("{}: {error}", path.display()))
}

/// Whole or not at all: what is cut off while it is written must not be taken for a result.
pub fn write(path: &Path, value: &Value) -> Result<()> {
    write_text(path, format!("{value:#}\n"))
}

/// Likewise on one line: states are millions of numbers.
pub fn keep(path: &Path, value: &Value) -> Result<()> {
    write_text(path, format!("{value}\n"))
}

fn write_text(path: &Path, text: String) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    }
    let part = path.with_extension("part");
    std::fs::write(&part, text).map_err(|error| failed(&part, error))?;
    std::fs::rename(&part, path).map_err(|error| failed(path, error))
}

/// To six digits, as files and figures have numbers of which there are many.
pub fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Nothing where there is no such file.
pub fn read(path: &Path) -> Result<Option<Value>> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| failed(path, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}

/// The results of all `keys` in their order: those that are in `folder`, and by `work` those that are not, `jobs` at a time. Every result
/// has in `seconds` what its run took, with what the work says there of runs before it that were killed. With no jobs those that are there
/// are all.
pub fn all<K: Sync>(
    folder: &Path,
    jobs: usize,
    keys: &[K],
    name: impl Fn(&K) -> String + Sync,
    work: impl Fn(&K) -> Result<Value> + Sync,
) -> Result<Vec<Value>> {
    completed(folder, jobs, keys, name, |_, _| Ok(false), |key, _| work(key))
}

/// As [`all`], where what is there may lack what its run is asked for by now: then it is handed to the work, which gives it back with what it
/// lacked.
pub fn completed<K: Sync>(
    folder: &Path,
    jobs: usize,
    keys: &[K],
    name: impl Fn(&K) -> String + Sync,
    lacks: impl Fn(&K, &Value) -> Result<bool> + Sync,
    work: impl Fn(&K, Option<Value>) -> Result<Value> + Sync,
) -> Result<Vec<Value>> {
    let path_of = |key: &K| folder.join(format!("{}.json", name(key)));
    if jobs == 0 {
        let found = keys.iter().filter_map(|key| read(&path_of(key)).transpose()).collect::<Result<Vec<_>>>()?;
        return if found.is_empty() { Err(failed(folder, "none of these runs is there")) } else { Ok(found) };
    }
    let next = AtomicUsize::new(0);
    let fault = Mutex::new(None);
    let found: Vec<_> = keys.iter().map(|_| Mutex::new(None)).collect();
    let one = |key: &K| -> Result<Value> {
        let path = path_of(key);
        let before = match read(&path)? {
            Some(value) if !lacks(key, &value)? => return Ok(value),
            before => before,
        };
        let start = Instant::now();
        let mut value = work(key, before)?;
        let seconds = start.elapsed().as_secs_f64() + value["seconds"].as_f64().unwrap_or(0.0);
        value["seconds"] = seconds.into();
        eprintln!("{}: {seconds:.0} s", name(key));
        write(&path, &value)?;
        Ok(value)
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(keys.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(key) = keys.get(at) else { break };
                    match one(key) {
                        Ok(value) => *found[at].lock().expect("no thread panics here") = Some(value),
                        Err(error) => {
                            // The others finish what they are at, and begin nothing.
                            next.store(keys.len(), Ordering::Relaxed);
                            fault.lock().expect("no thread panics here").get_or_insert(error);
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = fault.into_inner().expect("no thread panics here") {
        return Err(error);
    }
    Ok(found.into_iter().map(|value| value.into_inner().expect("no thread panics here").expect("a result")).collect())
}

/// What all runs took together.
pub fn seconds(found: &[Value]) -> f64 {
    found.iter().filter_map(|run| run["seconds"].as_f64()).sum()
}
