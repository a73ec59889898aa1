//! The journal of a controller under test: kept while it runs, replayed when it is over.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A journal. Dropped after the controller that writes it, it is replayed; a test whose controller
/// does not decide the same again fails. Where a test failed, or the replay did, it is kept.
pub(crate) struct Journal(PathBuf);

impl Journal {
    /// Has a controller that is about to be started write one.
    pub(crate) fn of(controller: &mut Command) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("kerf-journal-{}-{number}.jsonl", std::process::id());
        let path = std::env::temp_dir().join(name);
        controller.env("KERF_JOURNAL", &path);
        Self(path)
    }

    /// Whether anything was written: a controller may be ended before it begins.
    fn has_lines(&self) -> bool {
        std::fs::read(&self.0).is_ok_and(|bytes| bytes.contains(&b'\n'))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let path = self.0.display();
        if std::thread::panicking() {
            eprintln!("the controller's journal is kept: {path}");
            return;
        }
        if self.has_lines() {
            let mut replay = Command::new(env!("CARGO_BIN_EXE_kerf"));
            let Output { status, stdout, stderr } =
                replay.arg("replay").arg(&self.0).output().unwrap();
            let said = [stdout, stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(status.success(), "the journal, kept as {path}, does not replay:\n{said}");
        }
        let _ = std::fs::remove_file(&self.0);
    }
}
