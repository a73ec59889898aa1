//! What becomes of an object whose reading panics.

use kerf_engine::observed::Revision;

use super::*;

#[test]
fn an_object_whose_reading_panics_is_unreadable_and_the_next_one_is_read() {
    let settings = Settings::default();
    let (mut observer, world) = (Observer::new(&settings), World::new(settings.clone()));
    let node = |name: &str| {
        let mut node = core::Node::default();
        node.metadata.name = Some(name.to_owned());
        node.metadata.resource_version = Some("7".to_owned());
        Change::Is(Box::new(node))
    };
    let source = || Source::Kind(Kind::Node);
    let key = |node: &core::Node| Key::Node(name_of(&node.metadata));
    let events = observer.follow(source(), node("bad"), &world, key, |_, _| panic!("provoked"));
    let [Event::Unreadable { key: Key::Node(name), revision }] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!((&**name, *revision), ("bad", Revision(7)));
    assert_eq!(observer.take_panics(), 1);
    assert_eq!(observer.take_panics(), 0, "it is counted once");
    let events = observer.observe(WatchUpdate::Node(node("good")), &world);
    assert!(matches!(&events[..], [Event::Seen(_)]), "{events:?}");
}
