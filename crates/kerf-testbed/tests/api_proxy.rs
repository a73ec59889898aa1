//! The proxy in front of a real API server.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Debug;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kerf_testbed::{ApiFault, ApiProxy, ApiRule, Calls, ControlPlane, Held, Options};
use kube::api::{Api, ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, Resource};
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};

/// Long enough for whatever is passed on.
const SOON: Duration = Duration::from_secs(60);

/// A client that calls through the proxy and tries nothing twice.
struct Caller {
    runtime: Runtime,
    client: Client,
}

impl Caller {
    fn new(proxy: &ApiProxy) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let file = Kubeconfig::read_from(proxy.kubeconfig()).unwrap();
        let client = runtime.block_on(async {
            let options = KubeConfigOptions::default();
            let mut config = Config::from_custom_kubeconfig(file, &options).await.unwrap();
            config.default_retry = false;
            Client::try_from(config).unwrap()
        });
        Self { runtime, client }
    }

    /// Makes a ConfigMap.
    fn make(&self, name: &str) -> kube::Result<()> {
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), "default");
        let mut config_map = ConfigMap::default();
        config_map.metadata.name = Some(name.to_owned());
        self.runtime.block_on(api.create(&PostParams::default(), &config_map)).map(drop)
    }

    fn list<K>(&self) -> kube::Result<()>
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
    {
        let api = Api::<K>::all(self.client.clone());
        self.runtime.block_on(api.list(&ListParams::default())).map(drop)
    }
}

/// The code of an answer that is a refusal.
fn code<T>(answer: kube::Result<T>) -> u16 {
    match answer {
        Err(kube::Error::Api(status)) => status.code,
        _ => 0,
    }
}

#[test]
fn calls_pass_unless_a_rule_says_otherwise_and_writes_are_remembered() {
    let control_plane = ControlPlane::start(Options::api_server()).unwrap();
    let proxy = ApiProxy::start(&control_plane, None).unwrap();
    let caller = Caller::new(&proxy);
    caller.make("passed").unwrap();
    let written = proxy.writes();
    assert_eq!((written.len(), written[0].resource.as_str()), (1, "configmaps"));
    assert!(written[0].is_done());

    proxy.set_rules(vec![
        ApiRule::each(Calls::Writes, ApiFault::code(409)).of("configmaps"),
        ApiRule::each(Calls::All, ApiFault::code(500)).of("secrets"),
    ]);
    assert_eq!(code(caller.make("refused")), 409);
    caller.list::<ConfigMap>().unwrap();
    assert_eq!(code(caller.list::<Secret>()), 500);

    proxy.set_rules(vec![ApiRule::each(Calls::Writes, ApiFault::LostAnswer)]);
    caller.make("lost").unwrap_err();
    proxy.set_rules(vec![]);
    let names = control_plane.kubectl(&["get", "configmaps", "--output=name"]).unwrap();
    assert!(names.contains("passed") && names.contains("lost") && !names.contains("refused"));
}

#[test]
fn a_write_can_be_held_before_or_after_the_server_does_it_and_nothing_follows() {
    let control_plane = ControlPlane::start(Options::api_server()).unwrap();
    let proxy = ApiProxy::start(&control_plane, None).unwrap();
    let caller = Caller::new(&proxy);
    for (held, nth, done) in [(Held::Before, 1, false), (Held::After, 2, true)] {
        let told = proxy.hold(nth, held);
        let names: Vec<String> = (1..=nth + 1).map(|it| format!("held-{nth}-{it}")).collect();
        names.iter().for_each(|name| drop(caller.make(name)));
        assert!(told.recv_timeout(SOON).is_ok());
        proxy.freeze(false);
        let there = control_plane.kubectl(&["get", "configmaps", "--output=name"]).unwrap();
        let last = usize::try_from(nth).unwrap() - 1;
        assert_eq!(there.contains(&names[last]), done, "{held:?}: {there}");
        assert!(!there.contains(&names[last + 1]), "nothing follows: {there}");
    }
    caller.make("free").unwrap();
}

/// Lines that a watch through the proxy brings, as they come.
fn watch(control_plane: &ControlPlane, proxy: &ApiProxy) -> mpsc::Receiver<Option<String>> {
    use std::io::{BufRead, BufReader, Read, Write};
    let (sender, lines) = mpsc::channel();
    let (address, token) = (proxy.address(), control_plane.admin_token().to_owned());
    std::thread::spawn(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let request = format!(
            "GET /api/v1/configmaps?watch=true HTTP/1.1\r\nHost: x\r\n\
             Authorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
            let _ = sender.send(Some(std::mem::take(&mut line)));
        }
        let _ = reader.read_to_end(&mut Vec::new());
        let _ = sender.send(None);
    });
    lines
}

/// Whether a line with these words comes in time; `None` is the end.
fn comes(lines: &mpsc::Receiver<Option<String>>, words: Option<&str>, within: Duration) -> bool {
    let deadline = Instant::now() + within;
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        match (&line, words) {
            (Some(line), Some(words)) if line.contains(words) => return true,
            (None, None) => return true,
            _ => {}
        }
    }
    false
}

#[test]
fn a_watch_that_runs_can_be_told_of_an_end_cut_off_or_silenced_for_good() {
    let control_plane = ControlPlane::start(Options::api_server()).unwrap();
    let proxy = ApiProxy::start(&control_plane, None).unwrap();
    let make = |name: &str| {
        control_plane.kubectl(&["create", "configmap", name, "--from-literal=a=b"]).unwrap()
    };
    let rule = |fault| vec![ApiRule::each(Calls::Watches, fault).of("configmaps")];
    make("first");
    let started = || {
        let lines = watch(&control_plane, &proxy);
        assert!(comes(&lines, Some("first"), SOON), "it runs");
        lines
    };
    let expired = started();
    proxy.set_rules(rule(ApiFault::code(410)));
    assert!(comes(&expired, Some(r#""code":410"#), SOON), "its stream says so");

    proxy.set_rules(vec![]);
    let cut = started();
    proxy.set_rules(rule(ApiFault::HangUp));
    assert!(comes(&cut, None, SOON));

    proxy.set_rules(vec![]);
    let silent = started();
    proxy.set_rules(rule(ApiFault::Silence));
    proxy.set_rules(vec![]);
    make("second");
    let fresh = started();
    assert!(comes(&fresh, Some("second"), SOON), "a new watch works");
    let later: Vec<_> = silent.try_iter().flatten().collect();
    assert!(!later.iter().any(|line| line.contains("second")), "the old one never does");
}
