//! Files and folders, read and written.

use std::path::Path;

use isoflat::cli::OutputArguments;
use isoflat::io::File;

/// How deep folders are looked into: deeper are loops of links, or something that was not meant.
const DEEPEST: usize = 16;

/// What was read, under the names that were given; files of a folder have the folder's before their own.
pub struct Buffers(Vec<(String, Vec<u8>)>);

impl Buffers {
    /// Reads files, and all files in folders, hidden ones left out.
    pub fn read(names: &[&str]) -> Result<Self, String> {
        let mut found = Self(Vec::new());
        for name in names {
            let trimmed = name.trim_end_matches(['/', '\\']);
            found.add(Path::new(name), if trimmed.is_empty() { name } else { trimmed }, 0)?;
        }
        Ok(found)
    }

    fn add(&mut self, path: &Path, name: &str, depth: usize) -> Result<(), String> {
        let fault = |error: std::io::Error| format!("{name}: {}", in_words(&error));
        if !path.is_dir() {
            self.0.push((name.into(), std::fs::read(path).map_err(fault)?));
            return Ok(());
        }
        if depth == DEEPEST {
            return Err(format!("{name}: folders are nested more than {DEEPEST} deep"));
        }
        let entries: Result<Vec<_>, _> = std::fs::read_dir(path).map_err(fault)?.collect();
        let mut paths: Vec<_> = entries.map_err(fault)?.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let Some(base) = path.file_name().and_then(|base| base.to_str()) else {
                return Err(format!("{}: the name is no valid Unicode", path.display()));
            };
            if !base.starts_with('.') {
                let name = format!("{name}/{base}");
                self.add(&path, &name, depth + 1)?;
            }
        }
        Ok(())
    }

    /// As the library takes them.
    pub fn files(&self) -> Vec<File<'_>> {
        self.0.iter().map(|(name, bytes)| File::new(name.clone(), &bytes[..])).collect()
    }
}

/// Writes a file as a whole: what was there before stays until the new one is complete. Links and devices are written through.
pub fn write(name: &str, bytes: &[u8]) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{name} cannot be written: {}", in_words(&error));
    if std::fs::symlink_metadata(name).is_ok_and(|found| !found.is_file()) {
        return std::fs::write(name, bytes).map_err(fault);
    }
    let aside = format!("{name}.part");
    let written = std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, name));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&aside);
        fault(error)
    })
}

/// Fails before the work where results could not be written after it.
pub fn ensure_writable(output: &OutputArguments) -> Result<(), String> {
    for name in [&output.html, &output.out].into_iter().flatten() {
        let path = Path::new(name);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(format!("{name} cannot be written: there is no folder {}", folder.display()));
        }
        if path.is_dir() {
            return Err(format!("{name} cannot be written: it is a folder"));
        }
    }
    Ok(())
}

fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission is denied".into(),
        _ => error.to_string(),
    }
}
