//! The thread that writes a journal, so that the engine's task never waits for a disk.
//!
//! Records go through a bounded queue. If it is full they are dropped and counted; once there is
//! room again the gap is marked, and the engine's state follows so that what comes next can be
//! replayed. A segment that is full asks for the state too, and the next segment begins with it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

use kerf_journal::{Encoder, Header, Record, Sink};
use tracing::error;

use super::files::JournalFiles;

#[cfg(test)]
mod tests;

/// How much a journal may take, of the disk and of memory.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Records of a segment, in bytes; the state it begins with comes on top.
    segment_bytes: u64,
    /// Records that may wait to be written.
    records_waiting: usize,
}

/// 64 MiB a segment, so that one is easily copied and read. What may wait is the first listing of a
/// large cluster: a few hundred megabytes at worst, since records share what is large.
const BOUNDS: Bounds = Bounds { segment_bytes: 64 * 1024 * 1024, records_waiting: 65_536 };

/// A journal being written. Ends when it is dropped, with everything written.
#[derive(Debug)]
pub struct JournalWriter {
    sender: Option<SyncSender<Record>>,
    shared: Arc<Shared>,
    records_max: usize,
    lost: u64,
    thread: Option<JoinHandle<()>>,
}

/// What the engine's task and the thread tell each other besides records.
#[derive(Debug, Default)]
struct Shared {
    waiting: AtomicUsize,
    is_segment_full: AtomicBool,
}

impl JournalWriter {
    /// Opens the first file, writes its header and starts the thread.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn start(files: JournalFiles, header: Header) -> io::Result<Self> {
        Self::start_within(BOUNDS, files, header)
    }

    fn start_within(bounds: Bounds, mut files: JournalFiles, header: Header) -> io::Result<Self> {
        let (sender, records) = sync_channel(bounds.records_waiting);
        let shared = Arc::new(Shared::default());
        let mut encoder = Encoder::default();
        let file = open(&mut files, &mut encoder, &header)?;
        let writing = Writing {
            files,
            header,
            encoder,
            file,
            bytes: 0,
            bytes_max: bounds.segment_bytes,
            has_asked: false,
            records,
            shared: shared.clone(),
        };
        let thread = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            if let Err(error) = writing.run() {
                error!(%error, "the journal cannot be written and ends here");
            }
        })?;
        let (sender, thread) = (Some(sender), Some(thread));
        let records_max = bounds.records_waiting;
        Ok(Self { sender, shared, records_max, lost: 0, thread })
    }

    /// Hands a record over. Says whether there was room.
    fn send(&mut self, record: Record) -> bool {
        let Some(sender) = &self.sender else { return true };
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        match sender.try_send(record) {
            Ok(()) => return true,
            // The thread ended and said why.
            Err(TrySendError::Disconnected(_)) => self.sender = None,
            Err(TrySendError::Full(_)) => {}
        }
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        false
    }

    /// Whether so much was written meanwhile that it is worth going on after a gap.
    fn has_room(&self) -> bool {
        self.shared.waiting.load(Ordering::Relaxed) <= self.records_max / 2
    }
}

impl Sink for JournalWriter {
    fn take(&mut self, record: Record) {
        let is_state = matches!(record, Record::State(_));
        if self.lost > 0 && !is_state {
            self.lost += 1;
            return;
        }
        if self.lost > 0 {
            let records = self.lost;
            if !self.send(Record::Gap { records }) {
                return;
            }
            self.lost = 0;
        }
        if !self.send(record) {
            self.lost += 1;
        }
        if is_state {
            self.shared.is_segment_full.store(false, Ordering::Relaxed);
        }
    }

    fn wants_state(&self) -> bool {
        let is_after_gap = self.lost > 0 && self.has_room();
        self.sender.is_some()
            && (is_after_gap || self.shared.is_segment_full.load(Ordering::Relaxed))
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread's side.
struct Writing {
    files: JournalFiles,
    header: Header,
    encoder: Encoder,
    file: BufWriter<File>,
    /// Written to this segment after its header and state.
    bytes: u64,
    bytes_max: u64,
    /// Whether the state that the next segment begins with was asked for.
    has_asked: bool,
    records: Receiver<Record>,
    shared: Arc<Shared>,
}

impl Writing {
    fn run(mut self) -> io::Result<()> {
        while let Some(record) = self.next()? {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            self.write(&record)?;
        }
        self.file.flush()
    }

    /// The next record. What was written reaches the file before anybody waits, so that little is
    /// lost with the process.
    fn next(&mut self) -> io::Result<Option<Record>> {
        match self.records.try_recv() {
            Ok(record) => Ok(Some(record)),
            Err(TryRecvError::Disconnected) => Ok(None),
            Err(TryRecvError::Empty) => {
                self.file.flush()?;
                Ok(self.records.recv().ok())
            }
        }
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        let is_state = matches!(record, Record::State(_));
        if is_state && self.bytes >= self.bytes_max {
            self.file.flush()?;
            self.header.segment += 1;
            self.file = open(&mut self.files, &mut self.encoder, &self.header)?;
            self.bytes = 0;
            self.has_asked = false;
        }
        let lines = self.encoder.encode(record)?;
        self.file.write_all(lines.as_bytes())?;
        if !is_state {
            self.bytes += lines.len() as u64;
        }
        if self.bytes >= self.bytes_max && !self.has_asked {
            // Once: what waits in the queue belongs to this segment still.
            self.has_asked = true;
            self.shared.is_segment_full.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn open(
    files: &mut JournalFiles,
    encoder: &mut Encoder,
    header: &Header,
) -> io::Result<BufWriter<File>> {
    let mut file = BufWriter::new(files.next()?);
    file.write_all(encoder.start(header)?.as_bytes())?;
    file.flush()?;
    Ok(file)
}
