//! The AWS stand-in answers plain requests, so no AWS SDK is needed to know that it runs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

use kerf_testbed::AwsStandIn;

#[test]
fn the_stand_in_answers_and_goes_away() {
    let started = Instant::now();
    let aws = AwsStandIn::start().unwrap();
    println!("AWS stand-in ready after {} ms", started.elapsed().as_millis());

    let asked = Instant::now();
    let regions = ec2(aws.endpoint_url(), "DescribeRegions");
    assert!(regions.starts_with("HTTP/1.1 200"), "{regions}");
    assert!(regions.contains("<regionName>us-east-1</regionName>"), "{regions}");
    let types = ec2(aws.endpoint_url(), "DescribeInstanceTypes&InstanceType.1=m5.large");
    assert!(types.contains("<instanceType>m5.large</instanceType>"), "{types}");

    println!("two calls answered after {} ms", asked.elapsed().as_millis());

    let pids = aws.pids();
    assert_eq!(pids.len(), 2, "the stand-in and its keeper: {pids:?}");
    drop(aws);
    let left: Vec<_> =
        pids.into_iter().filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).collect();
    assert!(left.is_empty(), "still alive: {left:?}");
}

#[test]
fn two_stand_ins_do_not_share_what_is_made_in_one() {
    let (first, second) = (AwsStandIn::start().unwrap(), AwsStandIn::start().unwrap());
    assert_ne!(first.endpoint_url(), second.endpoint_url());
    let made = ec2(first.endpoint_url(), "CreateKeyPair&KeyName=only-in-the-first");
    assert!(made.starts_with("HTTP/1.1 200"), "{made}");
    assert!(ec2(first.endpoint_url(), "DescribeKeyPairs").contains("only-in-the-first"));
    assert!(!ec2(second.endpoint_url(), "DescribeKeyPairs").contains("only-in-the-first"));
}

/// Calls an EC2 action the way every SDK does underneath; the signature is not looked at.
fn ec2(endpoint_url: &str, action: &str) -> String {
    let address = endpoint_url.strip_prefix("http://").unwrap();
    let body = format!("Action={action}&Version=2016-11-15");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/ec2/aws4_request, \
         SignedHeaders=host, Signature=unchecked\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
