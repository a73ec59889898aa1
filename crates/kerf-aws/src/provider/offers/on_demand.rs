//! On-demand prices, as the price list service tells them.

use std::collections::HashMap;

use aws_sdk_pricing::operation::get_products::GetProductsOutput;
use aws_sdk_pricing::types::{Filter, FilterType};
use kerf_model::price::Price;
use serde_json::Value;

use crate::aws_action::AwsAction;
use crate::provider::Context;
use crate::{CallError, Result};

/// Ten times the pages of the largest region.
const PAGES_MAX: usize = 200;
/// The service allows so many a page at most.
const PER_PAGE: i32 = 100;

/// Instances that share hardware, and those that are the hardware. Bare metal is sold as dedicated
/// only.
const KINDS: [(&str, &str); 2] =
    [("Shared", "Compute Instance"), ("Dedicated", "Compute Instance (bare metal)")];

/// Whether the service knows prices of a region at all.
pub(super) fn is_told(region: &str) -> bool {
    !region.starts_with("us-gov")
}

/// The prices of a region.
pub(super) async fn ask(context: &Context) -> Result<HashMap<String, Price>> {
    let [shared, metal] = KINDS.map(|(tenancy, family)| of_kind(context, tenancy, family));
    let (mut shared, metal) = tokio::try_join!(shared, metal)?;
    if shared.is_empty() || metal.is_empty() {
        let (action, region) = (AwsAction::GetProducts.permission(), &context.cluster.region);
        return Err(CallError::refused(action, region, "no prices were listed"));
    }
    shared.extend(metal);
    Ok(shared)
}

async fn of_kind(
    context: &Context,
    tenancy: &'static str,
    family: &'static str,
) -> Result<HashMap<String, Price>> {
    let region = &context.cluster.region;
    let wanted = [
        ("regionCode", region.as_str()),
        ("serviceCode", "AmazonEC2"),
        ("preInstalledSw", "NA"),
        ("operatingSystem", "Linux"),
        ("capacitystatus", "Used"),
        ("marketoption", "OnDemand"),
        ("tenancy", tenancy),
        ("productFamily", family),
    ];
    let filters: Vec<Filter> =
        wanted.iter().filter_map(|(field, value)| filter(field, value)).collect();
    let currency = if region.starts_with("cn-") { "CNY" } else { "USD" };
    let mut prices = HashMap::new();
    let call = |token| {
        let call = context.clients.pricing.get_products().service_code("AmazonEC2");
        let call = call.set_filters(Some(filters.clone())).max_results(PER_PAGE);
        call.set_next_token(token).send()
    };
    let take = |page: GetProductsOutput| {
        prices.extend(page.price_list().iter().filter_map(|product| read(product, currency)));
        page.next_token
    };
    context.calls.pages(AwsAction::GetProducts, PAGES_MAX, call, take).await?;
    Ok(prices)
}

fn filter(field: &str, value: &str) -> Option<Filter> {
    Filter::builder().r#type(FilterType::TermMatch).field(field).value(value).build().ok()
}

/// The type and the price of a product; none for one that is given away, such as instances inside a
/// reservation.
fn read(product: &str, currency: &str) -> Option<(String, Price)> {
    let product: Value = serde_json::from_str(product).ok()?;
    let instance_type = product["product"]["attributes"]["instanceType"].as_str()?;
    let terms = product["terms"]["OnDemand"].as_object()?.values();
    let dimensions = terms.filter_map(|term| term["priceDimensions"].as_object());
    let amounts = dimensions.flat_map(|dimensions| dimensions.values());
    let mut prices = amounts.filter_map(|amount| {
        let text = amount["pricePerUnit"][currency].as_str()?;
        Price::parse(text).ok().filter(|price| *price > Price::ZERO)
    });
    Some((instance_type.to_owned(), prices.next()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn product(price: &Value) -> String {
        json!({
            "product": { "attributes": { "instanceType": "m5.large" } },
            "terms": { "OnDemand": { "A.B": { "priceDimensions": {
                "A.B.C": { "pricePerUnit": price } } } } },
        })
        .to_string()
    }

    #[test]
    fn a_price_is_read_in_the_currency_of_the_region() {
        let dollars = product(&json!({ "USD": "0.0960000000" }));
        let read_price = |text: &str, currency| Some(read(text, currency)?.1.micros_per_hour());
        assert_eq!(read_price(&dollars, "USD"), Some(96_000));
        assert_eq!(read_price(&dollars, "CNY"), None);
        let yuan = product(&json!({ "CNY": "0.6420000000" }));
        assert_eq!(read_price(&yuan, "CNY"), Some(642_000));
    }

    #[test]
    fn what_costs_nothing_or_is_no_product_has_no_price() {
        assert_eq!(read(&product(&json!({ "USD": "0.0000000000" })), "USD"), None);
        assert_eq!(read("{}", "USD"), None);
        assert_eq!(read("none", "USD"), None);
    }
}
