//! What is read from manifests for whoever wants more than a verdict.

use kerf_lint::{Input, Objects, objects};

fn read(text: &str) -> Objects {
    objects(&[Input::new("a.yaml", text)])
}

fn names(read: &Objects) -> Vec<&str> {
    read.objects.iter().map(|it| it.value["metadata"]["name"].as_str().unwrap_or("?")).collect()
}

#[test]
fn objects_come_in_order_with_the_line_they_start_on() {
    let read = read("kind: A\nmetadata: {name: a}\n---\n# more\nkind: B\nmetadata: {name: b}\n");
    assert_eq!(names(&read), ["a", "b"]);
    let lines: Vec<usize> = read.objects.iter().map(|object| object.position.line).collect();
    assert_eq!(lines, [1, 5]);
    assert!(read.findings.is_empty() && read.unreadable.is_empty());
}

#[test]
fn a_list_gives_its_items_and_lends_them_its_kind() {
    let text = "apiVersion: g/v1\nkind: AList\nitems:\n- metadata: {name: a}\n\
                - {kind: B, metadata: {name: b}}\n";
    let read = read(text);
    assert_eq!(names(&read), ["a", "b"]);
    let kinds: Vec<_> = read.objects.iter().map(|object| &object.value["kind"]).collect();
    assert_eq!(kinds, ["A", "B"]);
    assert_eq!(read.objects[1].position.line, 5);
}

#[test]
fn a_key_given_twice_is_named_with_the_item_it_stands_in() {
    let text = "kind: List\nitems:\n- {kind: A, spec: {v: 1, v: 2}}\n- {kind: B}\n";
    let read = read(text);
    let repeated = |place: usize| {
        let paths = read.objects[place].repeated_keys.iter();
        paths.map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(repeated(0), ["spec.v"]);
    assert!(repeated(1).is_empty());
    assert_eq!(read.objects[0].value["spec"]["v"], 2, "the last one holds");
}

#[test]
fn a_broken_document_hides_no_other() {
    let read = read("kind: A\n---\nkind: [\n---\nkind: C\nmetadata: {name: c}\n");
    assert_eq!(names(&read), ["?", "c"]);
    assert_eq!(read.findings.len(), 1);
    assert_eq!(read.findings[0].position.map(|position| position.line), Some(3));
}

#[test]
fn bytes_that_are_no_text_are_unreadable() {
    let read = objects(&[Input::new("a.yaml", vec![0xff, 0xfe, b'a'])]);
    assert!(read.objects.is_empty());
    assert_eq!(read.unreadable.len(), 1);
}
