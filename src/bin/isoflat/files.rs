//! Files and folders, read and written.

use std::cell::RefCell;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use isoflat::cli::{self, Invocation, Opened};
use isoflat::engine::Store;
use isoflat::io::{File, Sliced, Source};
use isoflat::{Error, ErrorCode};

/// How deep folders are looked into: deeper are loops of links, or something that was not meant.
const DEEPEST: usize = 16;

/// What was read, under the names that were given; files of a folder have the folder's before their own.
pub struct Buffers {
    files: Vec<Buffer>,
}

struct Buffer {
    name: String,
    path: PathBuf,
    bytes: Vec<u8>,
    /// Of data that are read as they are needed, and not here: how they lie.
    sliced: Option<Sliced>,
}

impl Buffers {
    /// Reads files, and all files in folders, hidden ones left out.
    pub fn read(names: &[&str]) -> Result<Self, String> {
        let mut files = listed(names)?;
        files.iter_mut().try_for_each(Buffer::read)?;
        Ok(Self { files })
    }

    /// The same, but not data whose samples can be read by themselves, unless all of them are to be written.
    pub fn read_but_data(invocation: &Invocation) -> Result<Self, String> {
        let mut files = listed(&invocation.reads())?;
        files.iter_mut().try_for_each(Buffer::read_unless_sliced)?;
        let data = cli::data_names(invocation, &as_files(&files));
        let mut of_data = files.iter().filter(|file| data.contains(&file.name));
        let may = of_data.all(|file| file.sliced.is_some())
            && !cli::writes_data(invocation).map_err(|error| error.message)?;
        let is_here = |file: &&mut Buffer| file.sliced.is_some() && !(may && data.contains(&file.name));
        files.iter_mut().filter(is_here).try_for_each(Buffer::read)?;
        Ok(Self { files })
    }

    /// Reads what has been left out.
    pub fn read_data(&mut self) -> Result<(), String> {
        self.files.iter_mut().filter(|file| file.sliced.is_some()).try_for_each(Buffer::read)
    }

    /// Gives the memory back of data that were made a problem of.
    pub fn forget_data(&mut self, opened: &Opened) {
        let is_data = |name: &String| opened.data.files.contains(name) && !opened.model.files.contains(name);
        self.files.iter_mut().filter(|file| is_data(&file.name)).for_each(|file| file.bytes = Vec::new());
    }

    /// As the library takes them.
    pub fn files(&self) -> Vec<File<'_>> {
        as_files(&self.files)
    }

    /// The data that were left out.
    pub fn sliced(&self) -> Vec<Sliced> {
        self.files.iter().filter_map(|file| file.sliced.clone()).collect()
    }

    /// Fails unless all ranks have the same; of data that each has a share of, how they lie.
    pub fn ensure_same(&self, ranks: &isoflat::ranks::Ranks) -> Result<(), Error> {
        let lies: Vec<String> =
            self.files.iter().filter_map(|file| Some(file.sliced.as_ref()?.description())).collect();
        let bytes = self.files.iter().map(|file| &file.bytes[..]);
        ranks.ensure_same("files", &bytes.chain(lies.iter().map(|lies| lies.as_bytes())).collect::<Vec<_>>())
    }
}

/// A file that is read as it is needed.
struct Disk {
    file: RefCell<std::fs::File>,
    length: u64,
}

impl Source for Disk {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<(), Error> {
        let mut file = self.file.borrow_mut();
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(into));
        read.map_err(|error| Error::new(ErrorCode::Parse, in_words(&error)))
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
        let before = found.len();
        add(&mut found, Path::new(name), if trimmed.is_empty() { name } else { trimmed }, 0)?;
        if found.len() == before {
            return Err(format!("{name}: there is no file in this folder"));
        }
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
        self.sliced = None;
        Ok(())
    }

    /// All of it, unless its samples can be read by themselves.
    fn read_unless_sliced(&mut self) -> Result<(), String> {
        let open = || {
            let file = std::fs::File::open(&self.path)?;
            Ok::<_, std::io::Error>(Disk { length: file.metadata()?.len(), file: RefCell::new(file) })
        };
        let disk = open().map_err(|error| self.fault(error))?;
        self.sliced = Sliced::of(&self.name, Rc::new(disk));
        if self.sliced.is_none() { self.read() } else { Ok(()) }
    }
}

/// A folder of files that are written and read by name, by one process at a time.
pub struct Folder {
    name: String,
    /// Held until the process ends, in whatever way; none where files cannot be held.
    _lock: Option<std::fs::File>,
}

/// The file in a folder that says who has it.
const LOCK: &str = "lock";

impl Folder {
    /// Makes it, if it is not there, and takes it for this process alone.
    pub fn open(name: &str) -> Result<Self, Error> {
        std::fs::create_dir_all(name)
            .map_err(|error| failed(format!("the folder {name} cannot be made: {}", in_words(&error))))?;
        let name = name.trim_end_matches('/');
        Ok(Self { name: name.into(), _lock: lock(name)? })
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }
}

impl Store for Folder {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        match std::fs::read(self.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(format!("{} cannot be read: {}", self.path(name), in_words(&error)))),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        write(&self.path(name), bytes).map_err(failed)
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        match std::fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(failed(format!("{} cannot be removed: {}", self.path(name), in_words(&error))))
            }
            _ => Ok(()),
        }
    }
}

/// Takes a folder. The system gives it back when the process ends, however it does.
fn lock(folder: &str) -> Result<Option<std::fs::File>, Error> {
    let path = format!("{folder}/{LOCK}");
    let opened = std::fs::File::options().read(true).write(true).create(true).truncate(false).open(&path);
    // Where nothing can be written that will be said when something is, and some file systems hold no files.
    let Ok(mut file) = opened else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => {
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            let host = if host.is_empty() { host } else { format!(" on {}", host.trim()) };
            let _ = file.set_len(0).and_then(|()| write!(file, "process {}{host}", std::process::id()));
            Ok(Some(file))
        }
        Err(std::fs::TryLockError::WouldBlock) => {
            let who = std::fs::read_to_string(&path).ok().filter(|who| !who.is_empty());
            let who = who.unwrap_or_else(|| "another process".into());
            Err(failed(format!(
                "the checkpoint in {folder} is in use by {who}: wait until that has ended, or take another folder"
            )))
        }
        Err(std::fs::TryLockError::Error(_)) => Ok(None),
    }
}

fn failed(message: String) -> Error {
    Error::new(ErrorCode::InvalidOption, message)
}

/// Writes a file as a whole: what was there before stays until the new one is complete and on the disk. Links and devices are written
/// through.
pub fn write(name: &str, bytes: &[u8]) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{name} cannot be written: {}", in_words(&error));
    if std::fs::symlink_metadata(name).is_ok_and(|found| !found.is_file()) {
        return std::fs::write(name, bytes).map_err(fault);
    }
    let aside = format!("{name}.part");
    let whole = || {
        let mut file = std::fs::File::create(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&aside, name)
    };
    let written = whole();
    written.map_err(|error| {
        let _ = std::fs::remove_file(&aside);
        fault(error)
    })
}

/// Fails before the work where results could not be written after it, or would take the place of what is read, of each other, or of a file
/// that nobody has named.
pub fn ensure_writable(invocation: &Invocation) -> Result<(), String> {
    let said = |error: Error| error.message;
    let (writes, reads) = (invocation.writes().map_err(said)?, invocation.reads());
    let mut places: Vec<(&str, PathBuf)> = Vec::new();
    for name in &writes {
        let path = Path::new(name);
        let is_read = |read: &&&str| match (path.canonicalize(), Path::new(read).canonicalize()) {
            (Ok(path), Ok(read)) => path.starts_with(read) && path.is_file(),
            _ => false,
        };
        if let Some(read) = reads.iter().find(is_read) {
            return Err(format!("{name} cannot be written: {read} is read, and would be lost; name another file"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(format!("{name} cannot be written: there is no folder {}", folder.display()));
        }
        if path.is_dir() {
            return Err(format!("{name} cannot be written: it is a folder"));
        }
        let Some(place) = place(path) else { continue };
        if let Some((other, _)) = places.iter().find(|(_, taken)| *taken == place) {
            return Err(format!("{other} and {name} are one file: each result has its own"));
        }
        places.push((name, place));
    }
    match invocation.names_itself().map_err(said)?.filter(|name| Path::new(name).exists()) {
        Some(name) => Err(format!("{name} is there already: --out {name} replaces it, and another --out leaves it")),
        None => Ok(()),
    }
}

/// The one name of a file, which need not be there yet. What is no file, such as a terminal, takes more than one result.
fn place(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return path.canonicalize().ok().filter(|path| path.is_file());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission is denied".into(),
        _ => error.to_string(),
    }
}
