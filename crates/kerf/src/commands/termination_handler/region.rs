//! The region of a queue, by the host of its URL.

/// The region in the host of a queue's URL: `sqs.<region>.amazonaws.com`, the older
/// `<region>.queue.amazonaws.com`, and the names of VPC endpoints.
pub(super) fn of_queue(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?']).next()?.split(':').next()?;
    let labels: Vec<&str> = host.split('.').collect();
    let is_aws = host.contains(".amazonaws.com") || host.ends_with(".vpce.amazonaws.com");
    let place = match labels.iter().position(|label| *label == "sqs" || *label == "queue") {
        Some(place) if labels[place] == "sqs" => place + 1,
        Some(place) => place.checked_sub(1)?,
        None => return None,
    };
    let region = labels.get(place).filter(|region| is_aws && is_region(region))?;
    Some((*region).to_owned())
}

/// Whether a text looks like `us-east-1` or `us-gov-west-1`.
fn is_region(text: &str) -> bool {
    let mut parts = text.split('-');
    let ends_in_number = parts.next_back().is_some_and(|last| last.parse::<u8>().is_ok());
    let words: Vec<&str> = parts.collect();
    ends_in_number
        && words.len() >= 2
        && words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::of_queue;

    #[test]
    fn a_region_is_read_from_the_host_and_from_nothing_else() {
        for (url, region) in [
            ("https://sqs.eu-west-1.amazonaws.com/123456789012/nth", Some("eu-west-1")),
            ("https://sqs.cn-north-1.amazonaws.com.cn/123456789012/nth", Some("cn-north-1")),
            ("https://us-gov-west-1.queue.amazonaws.com/1/nth", Some("us-gov-west-1")),
            ("https://vpce-1a-2b.sqs.us-east-2.vpce.amazonaws.com/1/nth", Some("us-east-2")),
            ("https://sqs.eu-west-1.amazonaws.com/1/us-east-1-queue", Some("eu-west-1")),
            ("http://127.0.0.1:4566/1/us-east-1", None),
            ("https://sqs.us-east-1.example.com/1/nth", None),
            ("https://queue.amazonaws.com/1/nth", None),
            ("nth", None),
            ("", None),
        ] {
            assert_eq!(of_queue(url).as_deref(), region, "{url}");
        }
    }
}
