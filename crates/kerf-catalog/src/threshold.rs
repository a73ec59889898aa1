//! Eviction thresholds: how much the kubelet keeps free.

use kerf_model::quantity::{Format, Quantity, QuantityError};
use thiserror::Error;

use crate::share::{Share, ShareError};

/// How much of a resource is to stay free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A share of the capacity. The whole switches the threshold off, as the kubelet has it.
    Share(Share),
    /// A fixed amount.
    Amount(Quantity),
}

/// Why a text is not a threshold. The text must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ThresholdError {
    /// It ends in `%` but is no percentage.
    #[error("eviction threshold {text:?} is not a percentage between 0% and 100%")]
    Percentage {
        /// The text as given.
        text: Box<str>,
        /// What is wrong with the number.
        source: ShareError,
    },
    /// It is no quantity either.
    #[error("eviction threshold {text:?} is neither a quantity such as 100Mi nor a percentage")]
    Quantity {
        /// The text as given.
        text: Box<str>,
        /// What is wrong with the quantity.
        source: QuantityError,
    },
    /// It is a quantity below zero.
    #[error("eviction threshold {text:?} is below zero")]
    Negative {
        /// The text as given.
        text: Box<str>,
    },
}

impl Threshold {
    /// Reads `5%` or `100Mi`.
    ///
    /// # Errors
    /// The text is neither a percentage from 0 to 100 nor a quantity that is not negative.
    pub fn parse(text: &str) -> Result<Threshold, ThresholdError> {
        if let Some(percent) = text.strip_suffix('%') {
            return Share::parse_percent(percent)
                .map(Threshold::Share)
                .map_err(|source| ThresholdError::Percentage { text: text.into(), source });
        }
        match Quantity::parse(text) {
            Ok(amount) if amount.is_negative() => {
                Err(ThresholdError::Negative { text: text.into() })
            }
            Ok(amount) => Ok(Threshold::Amount(amount)),
            Err(source) => Err(ThresholdError::Quantity { text: text.into(), source }),
        }
    }

    /// What stays free of a capacity in bytes; a share is rounded up to the byte.
    #[must_use]
    pub fn of(self, capacity: Quantity) -> Quantity {
        match self {
            Threshold::Amount(amount) => amount,
            Threshold::Share(Share::WHOLE) => Quantity::from_nanos(0, Format::BinarySi),
            Threshold::Share(share) => {
                let capacity_bytes = u64::try_from(capacity.value()).unwrap_or(0);
                let free_bytes = share.of_rounded_up(capacity_bytes);
                Quantity::from_bytes(i64::try_from(free_bytes).unwrap_or(i64::MAX))
            }
        }
    }
}
