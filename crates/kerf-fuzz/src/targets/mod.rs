//! What is fed. A target must come back from any bytes; what it asserts holds for all of them.

mod objects;
mod texts;
mod watch;

/// Something that reads from outside.
#[derive(Debug)]
pub(crate) struct Target {
    /// As the command line and the corpus name it.
    pub(crate) name: &'static str,
    /// Inputs in one process: as many as take a fraction of a second.
    pub(crate) batch: usize,
    /// Reads an input.
    pub(crate) feed: fn(&[u8]),
}

const fn target(name: &'static str, batch: usize, feed: fn(&[u8])) -> Target {
    Target { name, batch, feed }
}

/// All of them. The last is the longest way in.
pub(crate) static ALL: [Target; 12] = [
    target("text", 2_000, texts::text),
    target("notice", 2_000, texts::notice),
    target("routes", 1_000, texts::routes),
    target("api", 500, objects::api),
    target("legacy", 500, objects::legacy),
    target("lint", 100, objects::lint),
    target("kwok-types", 500, objects::kwok_types),
    target("scheduler-config", 500, objects::scheduler_config),
    target("scenario", 500, objects::scenario),
    target("journal", 100, objects::journal),
    target("manifests", 100, objects::manifests),
    target("watch", 100, watch::watch),
];

/// The target of that name.
pub(crate) fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

fn utf8(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ALL;
    use crate::corpus::Corpus;

    /// Whatever was found once stays mended: it is kept in the corpus.
    #[test]
    fn every_input_of_the_corpus_is_read_by_its_target() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        for target in &ALL {
            let corpus = Corpus::of(&folder, target.name).expect("the corpus can be read");
            assert!(corpus.inputs.len() >= 2, "{} has no corpus", target.name);
            corpus.inputs.iter().for_each(|input| (target.feed)(input));
        }
    }
}
