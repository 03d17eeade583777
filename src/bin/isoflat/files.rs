//! Files and folders, read and written.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use isoflat::cli::{self, Invocation, OutputArguments};
use isoflat::io::{File, Sliced};
use isoflat::ranks::Ranks;

/// How deep folders are looked into: deeper are loops of links, or something that was not meant.
const DEEPEST: usize = 16;

/// What was read, under the names that were given; files of a folder have the folder's before their own.
pub struct Buffers {
    files: Vec<Buffer>,
    /// Is it a share of the data alone?
    is_share: bool,
}

struct Buffer {
    name: String,
    path: PathBuf,
    bytes: Vec<u8>,
    /// Of a file whose samples can be read by themselves, where they are.
    sliced: Option<Sliced>,
}

impl Buffers {
    /// Reads files, and all files in folders, hidden ones left out.
    pub fn read(names: &[&str]) -> Result<Self, String> {
        let mut files = listed(names)?;
        files.iter_mut().try_for_each(Buffer::read)?;
        Ok(Self { files, is_share: false })
    }

    /// The same of a rank: of data whose samples can be read by themselves, its share is enough.
    pub fn read_share(invocation: &Invocation, ranks: &Ranks) -> Result<Self, String> {
        let mut files = listed(&invocation.reads())?;
        files.iter_mut().try_for_each(Buffer::read_unless_sliced)?;
        let data = cli::data_names(invocation, &as_files(&files));
        let most = invocation.data.samples.unwrap_or(usize::MAX);
        let samples = |file: &Buffer| file.sliced.as_ref().map(|sliced| sliced.samples().min(most));
        let mut of_data = files.iter().filter(|file| data.contains(&file.name)).peekable();
        let is_share = of_data.peek().is_some()
            && of_data.all(|file| samples(file).is_some_and(|samples| samples >= ranks.size()))
            && !cli::writes_data(invocation).map_err(|error| error.message)?;
        for file in files.iter_mut().filter(|file| file.sliced.is_some()) {
            match samples(file).filter(|_| is_share && data.contains(&file.name)) {
                Some(samples) => file.read_samples(ranks.share_of(samples))?,
                None => file.read()?,
            }
        }
        Ok(Self { files, is_share })
    }

    /// As the library takes them.
    pub fn files(&self) -> Vec<File<'_>> {
        as_files(&self.files)
    }

    /// Is it a share of the data alone, and of everything else all?
    pub fn is_share(&self) -> bool {
        self.is_share
    }

    /// What has to be the same on all ranks: of data that each has a share of, how they begin.
    pub fn common(&self) -> Vec<&[u8]> {
        let is_common = |file: &&Buffer| !self.is_share || file.sliced.is_none();
        let beginnings = self.files.iter().filter_map(|file| Some(file.sliced.as_ref()?.beginning()));
        self.files.iter().filter(is_common).map(|file| &file.bytes[..]).chain(beginnings).collect()
    }
}

fn as_files(files: &[Buffer]) -> Vec<File<'_>> {
    files.iter().map(|file| File::new(file.name.clone(), &file.bytes[..])).collect()
}

/// Files, and all files in folders, not read yet.
fn listed(names: &[&str]) -> Result<Vec<Buffer>, String> {
    let mut found = Vec::new();
    for name in names {
        let trimmed = name.trim_end_matches(['/', '\\']);
        add(&mut found, Path::new(name), if trimmed.is_empty() { name } else { trimmed }, 0)?;
    }
    Ok(found)
}

fn add(found: &mut Vec<Buffer>, path: &Path, name: &str, depth: usize) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{name}: {}", in_words(&error));
    if !path.is_dir() {
        found.push(Buffer { name: name.into(), path: path.into(), bytes: Vec::new(), sliced: None });
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
            add(found, &path, &name, depth + 1)?;
        }
    }
    Ok(())
}

impl Buffer {
    fn fault(&self, error: std::io::Error) -> String {
        format!("{}: {}", self.name, in_words(&error))
    }

    /// All of it.
    fn read(&mut self) -> Result<(), String> {
        self.bytes = std::fs::read(&self.path).map_err(|error| self.fault(error))?;
        Ok(())
    }

    /// All of it, but of a file whose samples can be read by themselves the beginning.
    fn read_unless_sliced(&mut self) -> Result<(), String> {
        let mut begin = || {
            let file = std::fs::File::open(&self.path)?;
            let length = file.metadata()?.len();
            self.bytes.clear();
            file.take(Sliced::BEGINNING as u64).read_to_end(&mut self.bytes)?;
            Ok::<_, std::io::Error>(Sliced::of(&self.bytes, length))
        };
        let sliced = begin().map_err(|error| self.fault(error))?;
        if sliced.is_none() {
            self.read()?;
        }
        self.sliced = sliced;
        Ok(())
    }

    /// The file that these samples alone would be.
    fn read_samples(&mut self, samples: Range<usize>) -> Result<(), String> {
        let Some(sliced) = &self.sliced else { return self.read() };
        let place = sliced.place(&samples);
        let mut bytes = sliced.header(samples.len());
        let mut read = || {
            let mut file = std::fs::File::open(&self.path)?;
            file.seek(SeekFrom::Start(place.start))?;
            file.take(place.end - place.start).read_to_end(&mut bytes)
        };
        read().map_err(|error| self.fault(error))?;
        self.bytes = bytes;
        Ok(())
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
