//! The stand-in for ARC answers the public calls about zonal shifts, as far as Kerf and a person at
//! the `aws` command line need them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::TcpStream;

use kerf_testbed::ArcStandIn;
use serde_json::{Value, json};

const ARN: &str = "arn:aws:eks:us-east-1:123456789012:cluster/demo";
const MANAGED: &str =
    "GET /managedresources/arn%3Aaws%3Aeks%3Aus-east-1%3A123456789012%3Acluster%2Fdemo";

#[test]
fn a_shift_is_applied_from_its_start_to_its_end() {
    let arc = ArcStandIn::start().unwrap();
    assert_eq!(call(&arc, MANAGED, "").1["zonalShifts"], json!([]));
    let asked = json!({"resourceIdentifier": ARN, "awayFrom": "use1-az6", "expiresIn": "30m"});
    let (status, shift) = call(&arc, "POST /zonalshifts", &asked.to_string());
    assert_eq!((status, &shift["status"]), (201, &json!("ACTIVE")));
    let (start, expiry) = (shift["startTime"].as_u64().unwrap(), shift["expiryTime"].as_u64());
    assert_eq!(expiry, Some(start + 1800));

    let resource = call(&arc, MANAGED, "").1;
    assert_eq!((&resource["arn"], &resource["name"]), (&json!(ARN), &json!("demo")));
    assert_eq!(resource["appliedWeights"], json!({"use1-az6": 0}));
    assert_eq!(resource["zonalShifts"][0]["appliedStatus"], "APPLIED");
    let other = call(&arc, "GET /managedresources/arn:of:another", "").1;
    assert_eq!(other["zonalShifts"], json!([]), "a shift is of one resource");
    assert_eq!(call(&arc, "GET /zonalshifts?status=ACTIVE", "").1["items"], json!([shift]));
    assert_eq!(call(&arc, "GET /autoshifts?status=ACTIVE", "").1["items"], json!([]));

    let one = format!("/zonalshifts/{}", shift["zonalShiftId"].as_str().unwrap());
    let changed = call(&arc, &format!("PATCH {one}"), r#"{"expiresIn": "2h"}"#).1;
    assert!(changed["expiryTime"].as_u64().unwrap() >= start + 7200, "{changed}");
    let (status, ended) = call(&arc, &format!("DELETE {one}"), "");
    assert_eq!((status, &ended["status"]), (200, &json!("CANCELED")));
    assert_eq!(call(&arc, MANAGED, "").1["zonalShifts"], json!([]));
    assert_eq!(call(&arc, &format!("DELETE {one}"), "").0, 404);
}

#[test]
fn a_shift_that_is_over_by_time_is_listed_no_more() {
    let arc = ArcStandIn::start().unwrap();
    let asked = json!({"resourceIdentifier": ARN, "awayFrom": "use1-az6", "expiresIn": "0m"});
    assert_eq!(call(&arc, "POST /zonalshifts", &asked.to_string()).0, 201);
    assert_eq!(call(&arc, "GET /zonalshifts", "").1["items"], json!([]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let arc = ArcStandIn::start().unwrap();
    let odd =
        ["", "{", "{}", r#"{"resourceIdentifier": "x", "awayFrom": "y", "expiresIn": "soon"}"#];
    for body in odd {
        assert_eq!(call(&arc, "POST /zonalshifts", body).0, 400, "{body}");
    }
    assert_eq!(call(&arc, "GET /elsewhere", "").0, 404);
}

fn call(arc: &ArcStandIn, line: &str, body: &str) -> (u16, Value) {
    let url = arc.endpoint_url();
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let length = body.len();
    let head = format!("{line} HTTP/1.1\r\nHost: arc\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}
