//! What was measured of this computer's GPUs, a file each in the user's folder of caches.

use std::env::{self, consts::OS};
use std::ffi::OsString;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::PathBuf;

use isoflat::engine::gpu::Tuning;

/// The folder, where the system says where such things are.
fn folder() -> Option<PathBuf> {
    let caches = caches(OS, |name| env::var_os(name).filter(|value| !value.is_empty()))?;
    Some(caches.join("isoflat").join("gpu"))
}

fn caches(system: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let home = || variable("HOME").map(PathBuf::from);
    match system {
        "windows" => variable("LOCALAPPDATA").map(PathBuf::from),
        "macos" => home().map(|home| home.join("Library").join("Caches")),
        // A relative one is to be ignored (XDG Base Directory Specification).
        _ => variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
            .or_else(|| home().map(|home| home.join(".cache"))),
    }
}

/// All that are there. What cannot be read, or is another version's, is measured again.
pub fn kept() -> Vec<Tuning> {
    let files = folder().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.filter_map(|text| Tuning::from_json(&text).ok()).collect()
}

/// For the next time.
pub fn keep(tuning: &Tuning) -> Result<()> {
    let folder = folder().ok_or_else(|| Error::new(ErrorKind::NotFound, "this system names no folder for caches"))?;
    fs::create_dir_all(&folder)?;
    // Whole or not at all: another process may read it meanwhile.
    let name = tuning.name();
    let part = folder.join(format!("{name}.{}.part", std::process::id()));
    fs::write(&part, tuning.to_json())?;
    fs::rename(part, folder.join(format!("{name}.json")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::caches;

    #[test]
    fn caches_are_where_each_system_has_them() {
        let of = |system: &str, known: &[(&str, &str)]| {
            caches(system, |name| known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into()))
        };
        let home = ("HOME", "/home/a");
        assert_eq!(of("linux", &[home]).as_deref(), Some(Path::new("/home/a/.cache")));
        assert_eq!(of("linux", &[home, ("XDG_CACHE_HOME", "/c")]).as_deref(), Some(Path::new("/c")));
        assert_eq!(of("linux", &[home, ("XDG_CACHE_HOME", "c")]).as_deref(), Some(Path::new("/home/a/.cache")));
        assert_eq!(of("macos", &[home]).as_deref(), Some(Path::new("/home/a/Library/Caches")));
        assert_eq!(of("windows", &[home]), None);
        assert_eq!(of("linux", &[]), None);
    }
}
