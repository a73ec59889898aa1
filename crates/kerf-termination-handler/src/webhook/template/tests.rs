use std::sync::Arc;

use super::*;

fn data() -> Value {
    let labels = [("zone".to_owned(), Value::from("a")), ("team".to_owned(), Value::from("web"))];
    let pods = ["web-0", "web-1"].map(Value::from);
    let time = "2022-04-11T16:23:33Z".parse().unwrap();
    let fields = [
        ("EventID", Value::from("spot-itn-event-1")),
        ("Kind", Value::from("SPOT_ITN")),
        ("NodeName", Value::from("ip-10-0-0-1.ec2.internal")),
        ("Quoted", Value::from("a \"b\"\n")),
        ("StartTime", Value::Time(Some(time))),
        ("EndTime", Value::Time(None)),
        ("IsManaged", Value::Bool(true)),
        ("Pods", Value::List(pods.into())),
        ("None", Value::List([].into())),
        ("NodeLabels", Value::Map(Arc::new(labels.into()))),
    ];
    Value::Record(Arc::new(fields.map(|(name, value)| (name.to_owned(), value)).into()))
}

fn render(template: &str) -> Result<String, TemplateError> {
    Template::parse(template)?.render(&data())
}

#[test]
fn templates_render_as_go_renders_them() {
    for (template, expected) in [
        ("", ""),
        ("no action", "no action"),
        ("{{ .Kind }}-{{.NodeName}}", "SPOT_ITN-ip-10-0-0-1.ec2.internal"),
        (
            "{{ .StartTime }}|{{ .EndTime }}",
            "2022-04-11 16:23:33 +0000 UTC|0001-01-01 00:00:00 +0000 UTC",
        ),
        (
            "{{ .Pods }} {{ .NodeLabels }} {{ .IsManaged }}",
            "[web-0 web-1] map[team:web zone:a] true",
        ),
        ("{{ .NodeLabels.team }}/{{ .NodeLabels.missing }}", "web/<no value>"),
        ("a {{- /* trims */ -}} b", "ab"),
        ("a\n{{- .Kind -}}\n b", "aSPOT_ITNb"),
        ("{{ \"}}\" }}{{ `raw\\n` }}{{ \"tab\\t\\u00e9\" }}", "}}raw\\ntab\té"),
        ("{{ if .None }}yes{{ else if .IsManaged }}managed{{ else }}no{{ end }}", "managed"),
        ("{{ if and .IsManaged (not .None) }}both{{ end }}", "both"),
        ("{{ if or .None .Kind }}{{ or .None .Kind }}{{ end }}", "SPOT_ITN"),
        ("{{ range .Pods }}<{{ . }}>{{ end }}", "<web-0><web-1>"),
        ("{{ range $i, $pod := .Pods }}{{ if $i }}, {{ end }}{{ $pod }}{{ end }}", "web-0, web-1"),
        (
            "{{ range $key, $value := .NodeLabels }}{{ $key }}={{ $value }};{{ end }}",
            "team=web;zone=a;",
        ),
        ("{{ range .None }}x{{ else }}none{{ end }}", "none"),
        ("{{ with .NodeLabels }}{{ .team }} {{ $.Kind }}{{ end }}", "web SPOT_ITN"),
        ("{{ with $x := .None }}{{ $x }}{{ else }}empty{{ end }}", "empty"),
        ("{{ $n := 0 }}{{ range .Pods }}{{ $n = add $n 1 }}{{ end }}{{ $n }}", "2"),
        ("{{ .Kind | lower | replace \"_\" \"-\" | printf \"%s!\" }}", "spot-itn!"),
        (
            "{{ eq .Kind \"X\" \"SPOT_ITN\" }} {{ ne 1 2 }} {{ lt 1 2 }} {{ ge \"b\" \"a\" }}",
            "true true true true",
        ),
        ("{{ index .Pods 1 }} {{ index .NodeLabels \"zone\" }} {{ len .Pods }}", "web-1 a 2"),
        ("{{ (index .Pods 0) | trimPrefix \"web-\" }}", "0"),
        ("{{ .Quoted | toJson }} {{ quote 1 .Kind }}", "\"a \\\"b\\\"\\n\" \"1\" \"SPOT_ITN\""),
        (
            "{{ toJson .Pods }}{{ toJson .NodeLabels }}",
            "[\"web-0\",\"web-1\"]{\"team\":\"web\",\"zone\":\"a\"}",
        ),
        ("{{ .NodeLabels.owner | default \"nobody\" }}", "nobody"),
        (
            "{{ ternary \"a\" \"b\" .IsManaged }}{{ coalesce .None \"c\" }}{{ empty .None }}",
            "actrue",
        ),
        (
            "{{ join \", \" .Pods }} {{ splitList \".\" .NodeName | first }}",
            "web-0, web-1 ip-10-0-0-1",
        ),
        (
            "{{ printf \"%-5s|%05d|%q|%v|%%|%x\" \"ab\" 42 \"c\" .IsManaged 255 }}",
            "ab   |00042|\"c\"|true|%|ff",
        ),
        ("{{ printf \"%s %d\" 1 \"x\" }}{{ printf \"%s\" }}", "%!s(1) %!d(x)%!s(MISSING)"),
        ("{{ date \"2006-01-02 15:04:05\" .StartTime }}", "2022-04-11 16:23:33"),
        ("{{ .StartTime | date \"Mon, 2 Jan 06 3:04 PM MST\" }}", "Mon, 11 Apr 22 4:23 PM UTC"),
        (
            "{{ dateInZone \"2006-01-02T15:04:05Z07:00\" .StartTime \"UTC\" }}",
            "2022-04-11T16:23:33Z",
        ),
        ("{{ unixEpoch .StartTime }}", "1649694213"),
        (
            "{{ trunc 3 \"abcdef\" }}{{ trunc -2 \"abcdef\" }}{{ abbrev 5 \"abcdefgh\" }}",
            "abcefab...",
        ),
        (
            "{{ upper \"a\" }}{{ title \"ab cd\" }}{{ trim \" x \" }}{{ nospace \"a b\" }}",
            "AAb Cdxab",
        ),
        ("{{ nindent 2 \"a\\nb\" }}", "\n  a\n  b"),
        ("{{ urlquery \"a b&c\" }} {{ html \"<a>\" }}", "a+b%26c &lt;a&gt;"),
        ("{{ slice \"abcdef\" 1 3 }}{{ substr 0 2 \"xyz\" }}", "bcxy"),
        ("{{ sub 5 2 }} {{ mul 2 3 4 }} {{ div 7 2 }} {{ mod 7 2 }} {{ max 1 9 3 }}", "3 24 3 1 9"),
        ("{{ (dict \"a\" 1 \"b\" 2).b }}{{ get (dict \"a\" \"x\") \"a\" }}", "2x"),
        ("{{ has \"web-0\" .Pods }} {{ contains \"10\" .NodeName }}", "true true"),
    ] {
        assert_eq!(render(template).as_deref(), Ok(expected), "{template}");
    }
}

#[test]
fn what_is_wrong_with_a_template_is_told_with_its_line() {
    for (template, line, why) in [
        ("a\n{{ nosuch .Kind }}", 2, "there is no function nosuch"),
        ("{{ .Kind", 1, "{{ without }}"),
        ("{{ if .Kind }}\n\nx", 1, "if without {{end}}"),
        ("\n\n{{ end }}", 3, "without a beginning"),
        ("{{ $x }}", 1, "the variable $x is not known here"),
        ("{{ range $x := .Pods }}{{ end }}{{ $x }}", 1, "the variable $x is not known here"),
        ("{{ (.Kind }}", 1, "a parenthesis that is not closed"),
        ("{{ .Kind | }}", 1, "a value is missing"),
        ("{{ }}", 1, "a value is missing"),
        ("{{ template \"x\" }}", 1, "template is not supported"),
        ("{{ \"a }}", 1, "{{ without }}"),
        ("{{ 1.5 }}", 1, "1.5 is no whole number"),
        ("{{ ! }}", 1, "'!' is not understood"),
    ] {
        match render(template) {
            Err(TemplateError::Unreadable { line: at, why: said }) => {
                assert!(at == line && said.contains(why), "{template}: line {at}: {said}");
            }
            other => panic!("{template}: {other:?}"),
        }
    }
    for (template, why) in [
        ("{{ .NoSuchField }}", "there is no field NoSuchField"),
        ("{{ .Kind.Sub }}", "text has no field Sub"),
        ("{{ index .Pods 7 }}", "index: there are not so many"),
        ("{{ range .Kind }}{{ end }}", "range does not go over text"),
        ("{{ div 1 0 }}", "div: the result is out of range"),
        ("{{ list (list 1) }}", "a list inside of it is not supported"),
        ("{{ .Kind 1 }}", "a value that is no function gets arguments"),
        ("{{ lt 1 \"a\" }}", "have no order"),
        ("{{ repeat 100000000 \"abc\" }}", "the text grows too long"),
        ("{{ printf \"%9999999d\" 1 }}", "nothing may be wider than 1000"),
    ] {
        let said = render(template).unwrap_err();
        assert!(
            matches!(&said, TemplateError::Unfit(said) if said.contains(why)),
            "{template}: {said}"
        );
    }
}

#[test]
fn a_template_that_loops_or_explodes_ends() {
    let letters = "{{ $many := splitList \"\" (repeat 1000 \"x\") }}";
    let nested = format!("{letters}{}{}", "{{ range $many }}".repeat(9), "{{ end }}".repeat(9));
    assert_eq!(render(&nested), Err(TemplateError::Endless));
    let writes = format!("{letters}{{{{ range $many }}}}{}{{{{ end }}}}", "y".repeat(1000));
    assert_eq!(render(&writes), Err(TemplateError::Endless));
    // Each step doubles what the next begins with.
    let doubles = format!("{{{{ $x := \"ab\" }}}}{}", "{{ $x = print $x $x }}".repeat(60));
    assert!(matches!(render(&doubles), Err(TemplateError::Unfit(_))));
    let spreads = "{{ $x := repeat 100000 \"a\" }}{{ replace \"a\" $x $x }}";
    assert!(matches!(render(spreads), Err(TemplateError::Unfit(_))));
    let deep = format!("{}1{}", "{{ if 1 }}".repeat(10_000), "{{ end }}".repeat(10_000));
    assert!(matches!(render(&deep), Err(TemplateError::Unreadable { .. })));
    let deep = format!("{{{{ {}1{} }}}}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(matches!(render(&deep), Err(TemplateError::Unreadable { .. })));
    assert_eq!(Template::parse(&"x".repeat(300_000)).unwrap_err(), TemplateError::Endless);
}

#[test]
fn no_input_makes_it_panic() {
    // Every cut and every doubled piece of templates that use everything.
    let whole = "{{- $x := .Kind | printf \"%-5.2q\" -}}{{ range $i, $p := .Pods }}{{ if eq $i 1 }}é\
                 {{ (index $.Pods $i) | trunc -3 }}{{ else if .None }}{{ else }}{{ `a` }}{{ end }}\
                 {{ else }}{{/* c */}}{{ end }}{{ with .NodeLabels }}{{ .zone }}{{ end }}\
                 {{ date \"2006 %\" .StartTime }}{{ substr 1 -1 \"é\" }}{{ slice \"é\" 0 }}";
    let places: Vec<usize> = whole.char_indices().map(|(place, _)| place).collect();
    for &from in places.iter().step_by(3) {
        for &to in places.iter().filter(|to| **to >= from).step_by(5) {
            let part = &whole[from..to];
            let _ = render(part);
            let _ = render(&format!("{}{part}{}", &whole[..from], &whole[from..]));
        }
    }
    for odd in [
        "{{-}}",
        "{{--}}",
        "{{- -}}",
        "{{",
        "}}",
        "{{}}",
        "{{$}}",
        "{{.}}",
        "{{..}}",
        "{{ slice \"é\" 1 }}",
        "{{ index \"é\" 0 }}",
        "{{ \"\\u12\" }}",
        "{{ -9223372036854775808 }}",
        "{{ div -9223372036854775808 -1 }}",
        "{{ trunc -9223372036854775808 \"a\" }}",
        "{{ printf \"%\" }}",
        "{{ printf \"%.\" 1 }}",
        "{{ date \"\" .EndTime }}",
        "{{ else }}",
        "{{/* }}",
        "{{ /* x */ }}",
        "{{ 'a' }}",
        "{{ abbrev 0 \"abcdef\" }}",
    ] {
        let _ = render(odd);
    }
}
