//! The program itself, from words to status and files.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output};
#[cfg(unix)]
use std::time::{Duration, Instant};

use isoflat::ProblemFile;
use isoflat::cli::exit;
use serde_json::Value;

use crate::cli::CASE;

fn program(words: &[&str]) -> Output {
    Process::new(env!("CARGO_BIN_EXE_isoflat")).args(words).output().expect("the program")
}

fn program_in(folder: &Path, words: &[&str]) -> Output {
    Process::new(env!("CARGO_BIN_EXE_isoflat")).current_dir(folder).args(words).output().expect("the program")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("a text")
}

#[test]
fn the_program_ends_with_the_status_that_it_promises() {
    for (words, status, out, err) in [
        (&["version"][..], exit::FINE, env!("CARGO_PKG_VERSION"), ""),
        (&["help", "train"], exit::FINE, "--epochs N", ""),
        (&["reprot"], exit::USAGE, "", "did you mean report?"),
        // Before a file is looked for.
        (&["landscape", "no-such-file.npz", "--points", "1"], exit::USAGE, "", "needs 2 or more"),
        (&["eigenvalues", "x", "--space", "g_space", "--density"], exit::USAGE, "", "not of --space g_space"),
        (&["report", "no-such-file.npz"], exit::FAILED, "", "no-such-file.npz: there is no such file"),
        (&["report", "Cargo.toml"], exit::FAILED, "", "Cargo.toml"),
        (&["report", CASE, "--html", "no-such-folder/x.html"], exit::FAILED, "", "there is no folder no-such-folder"),
        (&["report", CASE, "--sections", "point", "--backend", "cpu"], exit::FINE, "accuracy", ""),
        (&["report", CASE, "--sections", "point", "--backend", "cpu", "--quiet"], exit::FINE, "", ""),
    ] {
        let found = program(words);
        assert_eq!(found.status.code(), Some(status.into()), "{words:?}: {}", said(&found.stderr));
        let [stdout, stderr] = [&found.stdout, &found.stderr].map(|bytes| said(bytes));
        assert!(stdout.contains(out) && stdout.is_empty() == out.is_empty(), "{words:?}: {stdout}");
        assert!(stderr.contains(err) && stderr.is_empty() == err.is_empty(), "{words:?}: {stderr}");
        assert!(stderr.lines().count() <= 1, "one sentence: {stderr}");
        assert!(!stdout.contains('\x1b'), "colours are for terminals");
    }
}

#[test]
fn the_program_writes_pages_and_json() {
    let folder: PathBuf = std::env::temp_dir().join(format!("isoflat-program-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let [html, out] = ["page.html", "result.json"].map(|name| folder.join(name).display().to_string());
    let words = ["eigenvalues", CASE, "--count", "3", "--backend", "cpu", "--json", "--html", &html, "--out", &out];
    let found = program(&words);
    assert!(found.status.success(), "{}", said(&found.stderr));
    let printed: Value = serde_json::from_slice(&found.stdout).expect("a JSON");
    let written: Value = serde_json::from_slice(&std::fs::read(&out).expect("a file")).expect("a JSON");
    assert_eq!(printed, written);
    assert!(std::fs::read_to_string(&html).expect("a page").contains("<svg"));
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 2, "nothing else is left");
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder: PathBuf = std::env::temp_dir().join(format!("isoflat-kept-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let model = folder.join("model.json");
    std::fs::copy(CASE, &model).expect("a copy");
    let before = std::fs::read(&model).expect("a model");
    let whole = model.display().to_string();
    let other = folder.join(".").join("model.json").display().to_string();
    let within = folder.display().to_string();
    for (read, option, written) in [(&whole, "--out", &whole), (&whole, "--html", &other), (&within, "--out", &whole)] {
        let words = ["report", read, "--sections", "point", "--backend", "cpu", option, written];
        let found = program(&words);
        assert_eq!(found.status.code(), Some(exit::FAILED.into()), "{words:?}");
        assert!(said(&found.stderr).contains("is read, and would be lost"), "{}", said(&found.stderr));
        assert_eq!(std::fs::read(&model).expect("it is there"), before, "{words:?}");
    }
    // Nor is it where nobody names what is written, which has the model's name then.
    let named = folder.file_name().and_then(|name| name.to_str()).expect("a name");
    std::fs::copy(CASE, folder.join(named).with_extension("json")).expect("a copy");
    for read in ["./model.json", &whole, &format!("../{named}/model.json"), &format!("../{named}")] {
        let words = ["convert", read, "--to", "json", "--transformations", "nodewise"];
        let found = program_in(&folder, &words);
        assert_eq!(found.status.code(), Some(exit::FAILED.into()), "{words:?}");
        assert!(said(&found.stderr).contains("is read, and would be lost"), "{}", said(&found.stderr));
        assert_eq!(std::fs::read(&model).expect("it is there"), before, "{words:?}");
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

/// A file that nobody has named is not replaced, whatever it is.
#[test]
fn a_name_that_is_made_takes_no_files_place() {
    let folder = Temporary::new("made");
    let case = std::fs::canonicalize(CASE).expect("a case").display().to_string();
    let name = std::path::Path::new(&case).with_extension("npz");
    let name = name.file_name().and_then(|name| name.to_str()).expect("a name");
    std::fs::write(folder.name(name), "somebody's").expect("a file");
    let words = ["convert", &case, "--to", "npz"];
    let refused = program_in(&folder.0, &words);
    assert_eq!(refused.status.code(), Some(exit::FAILED.into()), "{refused:?}");
    assert!(said(&refused.stderr).contains(&format!("{name} is there already")), "{}", said(&refused.stderr));
    assert_eq!(std::fs::read(folder.name(name)).expect("it is there"), b"somebody's");
    let asked = program_in(&folder.0, &["convert", &case, "--to", "npz", "--out", name]);
    assert_eq!(asked.status.code(), Some(0), "{asked:?}");
    assert!(std::fs::read(folder.name(name)).expect("it is there").starts_with(b"PK"));
    std::fs::remove_file(folder.name(name)).expect("it is there");
    assert_eq!(program_in(&folder.0, &words).status.code(), Some(0));
    // A folder without files is none, whatever it is given for.
    std::fs::create_dir(folder.name("empty")).expect("a folder");
    for words in [&["report", "empty"][..], &["report", &case, "--data", "empty"]] {
        let refused = program_in(&folder.0, words);
        assert!(said(&refused.stderr).contains("empty: there is no file in this folder"), "{}", said(&refused.stderr));
    }
}

#[test]
fn results_do_not_take_each_others_place() {
    let folder = Temporary::new("apart");
    let case = std::fs::canonicalize(CASE).expect("a case").display().to_string();
    let whole = folder.name("r.html");
    // Whether it is there already or not.
    for is_there in [false, true] {
        if is_there {
            std::fs::write(&whole, "before").expect("a file");
        }
        for other in ["./r.html", &whole] {
            let words =
                ["report", &case, "--sections", "point", "--backend", "cpu", "--out", "r.html", "--html", other];
            let found = program_in(&folder.0, &words);
            assert_eq!(found.status.code(), Some(exit::FAILED.into()), "{words:?}");
            let says = format!("{other} and r.html are one file");
            assert!(said(&found.stderr).contains(&says), "{}", said(&found.stderr));
        }
    }
    assert_eq!(std::fs::read_to_string(&whole).expect("a file"), "before");
}

/// Waits until a program listens to Ctrl-C, which takes seconds where the computer is busy, and a while more; where nobody says that it
/// does, the while alone.
#[cfg(unix)]
fn until_it_listens(id: u32) {
    const SIGINT: u64 = 1 << 1;
    let begun = Instant::now();
    let is_deaf = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(caught.trim(), 16).expect("a mask") & SIGINT == 0)
    };
    while begun.elapsed() < Duration::from_secs(60) && is_deaf() == Some(true) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1500));
}

/// What the program comes to that is asked to finish after a while.
#[cfg(unix)]
fn interrupted(words: &[&str]) -> Value {
    use std::process::Stdio;
    let mut process = Process::new(env!("CARGO_BIN_EXE_isoflat"));
    let child = process.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
    until_it_listens(child.id());
    let killed = Process::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let found = child.wait_with_output().expect("its end");
    assert_eq!(found.status.code(), Some(exit::INTERRUPTED.into()), "{}", said(&found.stderr));
    let printed: Value = serde_json::from_slice(&found.stdout).expect("a JSON");
    assert_eq!(printed["stopped"], true);
    printed
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished() {
    let folder = Temporary::new("interrupted");
    let out = folder.name("trained.json");
    interrupted(&["train", CASE, "--epochs", "100000000", "--backend", "cpu", "--json", "--out", &out]);
    let text = std::fs::read_to_string(&out).expect("the weights");
    assert_eq!(ProblemFile::from_json(&text).expect("a problem file").parameters.len(), 91);
}

#[cfg(unix)]
#[test]
fn a_training_goes_on_after_ctrl_c() {
    let folder = Temporary::new("goes-on");
    let [out, checkpoint] = ["trained.safetensors", "checkpoint"].map(|name| folder.name(name));
    let words = ["train", CASE, "--epochs", "100000000", "--backend", "cpu", "--json", "--out", &out];
    let words = [&words[..], &["--checkpoint", &checkpoint]].concat();
    let steps = [0, 1].map(|_| interrupted(&words)["training"]["steps"].as_u64().expect("steps"));
    assert!(0 < steps[0] && steps[0] < steps[1], "{steps:?}");
}

/// A folder that is gone when this is.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("isoflat-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn name(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The training of so many epochs: what it says but for its time, or its fault.
fn trained(epochs: &str, out: &str, checkpoint: Option<&str>) -> Result<Value, String> {
    let mut words = vec!["train", CASE, "--epochs", epochs, "--batch", "5", "--backend", "cpu", "--json", "--out", out];
    words.extend(checkpoint.iter().flat_map(|folder| ["--checkpoint", folder, "--checkpoint-every", "0.001"]));
    let found = program(&words);
    if !found.status.success() {
        return Err(said(&found.stderr));
    }
    let mut printed: Value = serde_json::from_slice(&found.stdout).expect("a JSON");
    printed.as_object_mut().expect("an object").remove("seconds");
    Ok(printed)
}

#[test]
fn a_training_goes_on_to_more_epochs_and_to_no_fewer() {
    let folder = Temporary::new("more-epochs");
    let [out, checkpoint] = ["trained.safetensors", "checkpoint"].map(|name| folder.name(name));
    let expected = [3, 8, 20].map(|epochs| (epochs, trained(&epochs.to_string(), &out, None).expect("a training")));
    for (epochs, expected) in &expected {
        for again in 0..2 {
            let found = trained(&epochs.to_string(), &out, Some(&checkpoint)).expect("a training");
            assert_eq!(found, *expected, "{epochs} epochs, time {again}");
        }
    }
    let fault = trained("19", &out, Some(&checkpoint)).expect_err("it has gone further");
    assert!(fault.starts_with("isoflat: the checkpoint is 100 steps on the way, and 19 epochs are 95: "), "{fault}");
}

/// Who holds a checkpoint is named, and once it has ended nobody does, though the file is there.
#[test]
fn a_checkpoint_is_of_one_process_at_a_time() {
    let folder = Temporary::new("one-at-a-time");
    let [out, checkpoint] = ["trained.safetensors", "checkpoint"].map(|name| folder.name(name));
    trained("2", &out, Some(&checkpoint)).expect("a training");
    let file = std::fs::File::options().read(true).write(true).open(format!("{checkpoint}/lock")).expect("the lock");
    let before = std::fs::read_to_string(format!("{checkpoint}/lock")).expect("the lock");
    assert!(before.starts_with("process "), "{before}");
    file.try_lock().expect("nobody has it");
    let fault = trained("2", &out, Some(&checkpoint)).expect_err("it is in use");
    assert!(fault.contains(&format!("is in use by {before}: wait until that has ended")), "{fault}");
    drop(file);
    trained("2", &out, Some(&checkpoint)).expect("a training");
}
