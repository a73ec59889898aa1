//! Spot prices, as EC2 tells them.

use std::collections::HashMap;
use std::time::SystemTime;

use aws_sdk_ec2::operation::describe_spot_price_history::DescribeSpotPriceHistoryOutput;
use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::SpotPrice;
use kerf_model::price::Price;

use crate::Result;
use crate::aws_action::AwsAction;
use crate::provider::Context;

/// Two names for one thing: accounts differ in which they are told by.
const PRODUCTS: [&str; 2] = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"];
/// EC2 allows so many a page at most.
const PER_PAGE: i32 = 1_000;
/// Ten times the pages of the largest region.
const PAGES_MAX: usize = 200;

/// The prices of this moment, by type and zone.
pub(super) type SpotPrices = HashMap<String, HashMap<String, Price>>;

/// The newest price of each type and zone so far.
#[derive(Default)]
struct Newest(HashMap<(String, String), (Option<DateTime>, Price)>);

/// Asks EC2.
pub(super) async fn ask(context: &Context) -> Result<SpotPrices> {
    let now = DateTime::from(SystemTime::now());
    let mut newest = Newest::default();
    let call = |token| {
        let call = context.clients.ec2.describe_spot_price_history().start_time(now);
        call.set_product_descriptions(Some(PRODUCTS.map(str::to_owned).to_vec()))
            .max_results(PER_PAGE)
            .set_next_token(token)
            .send()
    };
    let take = |page: DescribeSpotPriceHistoryOutput| {
        page.spot_price_history().iter().for_each(|price| newest.take(price));
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeSpotPriceHistory, PAGES_MAX, call, take).await?;
    Ok(newest.into_prices())
}

impl Newest {
    fn take(&mut self, told: &SpotPrice) {
        let read = || {
            let price = Price::parse(told.spot_price()?).ok().filter(|it| *it > Price::ZERO)?;
            let instance_type = told.instance_type()?.as_str().to_owned();
            Some(((instance_type, told.availability_zone()?.to_owned()), price))
        };
        let Some((key, price)) = read() else { return };
        let at = told.timestamp().copied();
        let known = self.0.entry(key).or_insert((at, price));
        if known.0 < at {
            *known = (at, price);
        }
    }

    fn into_prices(self) -> SpotPrices {
        let mut prices = SpotPrices::new();
        for ((instance_type, zone), (_, price)) in self.0 {
            prices.entry(instance_type).or_default().insert(zone, price);
        }
        prices
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::InstanceType;

    use super::*;

    fn told(zone: &str, seconds: i64, price: &str) -> SpotPrice {
        SpotPrice::builder()
            .instance_type(InstanceType::from("m5.large"))
            .availability_zone(zone)
            .timestamp(DateTime::from_secs(seconds))
            .spot_price(price)
            .build()
    }

    #[test]
    fn of_several_prices_the_newest_counts_in_whatever_order_they_come() {
        let mut newest = Newest::default();
        for price in [
            told("z-a", 20, "0.031000"),
            told("z-a", 30, "0.035"),
            told("z-a", 10, "0.012"),
            told("z-b", 10, "0.029"),
            told("z-c", 10, "0.000"),
            told("z-d", 10, "dear"),
        ] {
            newest.take(&price);
        }
        let prices = newest.into_prices();
        let zones = &prices["m5.large"];
        assert_eq!(zones["z-a"].micros_per_hour(), 35_000);
        assert_eq!(zones["z-b"].micros_per_hour(), 29_000);
        assert_eq!(zones.len(), 2, "what is free or no number is no price");
    }
}
