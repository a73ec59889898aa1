//! Keeping up with what EC2 sells and what it costs.

use std::time::Duration;

use tokio::time::sleep;
use tracing::{info, warn};

use super::{Offers, Stock, on_demand, price_file, read, replace, spot};

/// Types, zones and on-demand prices change with announcements: twice a day is enough.
const SLOWLY: Duration = Duration::from_secs(12 * 3_600);
/// Spot prices move within the hour. A round costs some ten calls of the hundreds of thousands an
/// account has in that time.
const SPOT_EVERY: Duration = Duration::from_secs(600);
/// What could not be found out is tried again after so long.
const RETRY_AFTER: Duration = Duration::from_secs(60);

impl Offers {
    /// Asks EC2 and the price list from time to time, and forgets what was out of stock. Never
    /// ends.
    pub(crate) async fn keep_up(&self) {
        tokio::join!(
            self.keep_stock(),
            self.keep_on_demand(),
            self.keep_spot(),
            self.unavailable.forget_in_time(),
        );
    }

    async fn keep_stock(&self) {
        loop {
            let pause = match Stock::ask(&self.context).await {
                Ok(stock) if !stock.is_empty() => {
                    info!(types = stock.shapes.len(), "EC2 told its instance types");
                    self.set_stock(stock);
                    SLOWLY
                }
                Ok(_) => {
                    self.fall_back("EC2 lists no instance types");
                    RETRY_AFTER
                }
                Err(error) => {
                    self.fall_back(&error.to_string());
                    RETRY_AFTER
                }
            };
            sleep(pause).await;
        }
    }

    /// Uses the built-in tables where EC2 has never answered; what it told once stays.
    fn fall_back(&self, why: &str) {
        let region = &self.context.cluster.region;
        if !read(&self.stock).is_empty() {
            warn!(why, "instance types were not listed anew; what EC2 told last is used");
            return;
        }
        match Stock::built_in(region) {
            Ok(stock) => {
                warn!(
                    why,
                    region, "EC2 did not tell its instance types; the built-in ones are used"
                );
                self.set_stock(stock);
            }
            Err(error) => warn!(why, %error, "nothing is known of what EC2 sells here"),
        }
    }

    fn set_stock(&self, stock: Stock) {
        if replace(&self.stock, stock) {
            self.changes.note();
        }
    }

    async fn keep_on_demand(&self) {
        let region = &self.context.cluster.region;
        if self.context.settings.is_isolated || !on_demand::is_told(region) {
            info!(
                region,
                "on-demand prices are not asked for; the file's and the built-in ones are used"
            );
            return;
        }
        loop {
            let pause = match on_demand::ask(&self.context).await {
                Ok(told) => {
                    let mut prices = (*read(&self.prices)).clone();
                    prices.live.on_demand.extend(told);
                    self.set_prices(prices);
                    SLOWLY
                }
                Err(error) => {
                    warn!(%error, "on-demand prices were not told; the last known are used");
                    RETRY_AFTER
                }
            };
            sleep(pause).await;
        }
    }

    async fn keep_spot(&self) {
        loop {
            let told = spot::ask(&self.context).await;
            let mut prices = (*read(&self.prices)).clone();
            let pause = match told {
                Ok(told) => {
                    for (name, zones) in told {
                        prices.live.spot.entry(name).or_default().extend(zones);
                    }
                    SPOT_EVERY
                }
                Err(error) => {
                    warn!(%error, "spot prices were not told; the last known are used");
                    RETRY_AFTER
                }
            };
            if let Some(path) = &self.context.settings.price_file {
                match price_file::load(path) {
                    Ok(file) => prices.file = file,
                    Err(error) => warn!(%error, "the prices read before are used"),
                }
            }
            self.set_prices(prices);
            sleep(pause).await;
        }
    }

    pub(super) fn set_prices(&self, prices: super::Prices) {
        if replace(&self.prices, prices) {
            self.changes.note();
        }
    }
}
