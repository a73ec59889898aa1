//! The journal of the controller under test. Each test replays at its end what came since the last
//! one did: whatever the tests make the controller do, it decides the same again.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use kerf_journal::Replay;
use kerf_kube::JournalFiles;

/// A journal that is being written and, test by test, replayed.
pub(crate) struct Journal {
    path: PathBuf,
    replayed: Mutex<Replayed>,
}

#[derive(Default)]
struct Replayed {
    replay: Replay,
    /// Where in the file to go on.
    offset: u64,
}

impl Journal {
    /// A journal in the work folder of the control plane, which goes with it.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join("journal.jsonl"), replayed: Mutex::default() }
    }

    pub(crate) fn files(&self) -> JournalFiles {
        JournalFiles::open(&self.path).unwrap()
    }

    /// Replays what is new.
    pub(crate) fn assert_replays(&self) {
        let mut replayed = self.replayed.lock().unwrap();
        replayed.go_on(&self.path);
        let report = replayed.replay.report();
        if let Some(difference) = &report.difference {
            self.keep();
            panic!("the journal does not replay: {difference:#?}");
        }
        assert_eq!(report.skipped, 0, "every record is there");
        assert!(report.actions > 0, "something was compared");
    }

    /// Copies the journal to where it outlives the tests, and says where.
    pub(crate) fn keep(&self) {
        let kept = std::env::temp_dir().join(format!("kerf-journal-{}.jsonl", std::process::id()));
        match fs::copy(&self.path, &kept) {
            Ok(_) => eprintln!("the controller's journal is kept: {}", kept.display()),
            Err(error) => eprintln!("the controller's journal cannot be kept: {error}"),
        }
    }
}

impl Replayed {
    fn go_on(&mut self, path: &Path) {
        let mut file = File::open(path).unwrap();
        if file.metadata().unwrap().len() < self.offset {
            // It was full, and the next one begins.
            self.offset = 0;
            self.replay.next_file();
        }
        file.seek(SeekFrom::Start(self.offset)).unwrap();
        let (mut file, mut line) = (BufReader::new(file), String::new());
        while file.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            self.offset += line.len() as u64;
            self.replay.line(&line).unwrap();
            line.clear();
        }
    }
}
