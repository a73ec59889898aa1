//! What a proxy before the stand-in refuses because it comes too fast.

use std::io::{Read, Write};
use std::net::TcpStream;

use kerf_testbed::FaultProxy;

use crate::account::Account;

#[test]
fn launches_beyond_the_burst_are_refused_as_ec2_does_and_counted() {
    let account = Account::open();
    let proxy = FaultProxy::start(account.aws.endpoint_url()).unwrap();
    let ask = |action: &str| call(&proxy.endpoint_url(), action);
    let zones = "DescribeAvailabilityZones";
    assert!(ask(zones).starts_with("HTTP/1.1 200"));
    proxy.limit_ec2();
    // All at once: however slow the machine is, they come faster than two a second.
    let launches: Vec<String> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..40).map(|_| scope.spawn(|| ask("CreateFleet"))).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let refused = launches.iter().filter(|one| one.contains("RequestLimitExceeded")).count();
    assert!(refused > 0 && refused <= 35, "five are taken at once: {refused} were refused");
    assert_eq!(proxy.throttled().len(), refused);
    assert!(proxy.throttled().iter().all(|action| action == "CreateFleet"));
    assert!(ask(zones).starts_with("HTTP/1.1 200"), "reads have a bucket of their own");
}

/// The answer to a call of EC2, its head included.
fn call(url: &str, action: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let body = format!("Action={action}&Version=2016-11-15");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/ec2/aws4_request, \
         SignedHeaders=host, Signature=unchecked\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
