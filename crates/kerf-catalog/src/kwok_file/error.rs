//! What can be wrong with a file of instance types.

use kerf_model::price::PriceError;
use kerf_model::quantity::QuantityError;
use thiserror::Error;

/// Why a file of instance types cannot be used. The file must change; retrying does not help.
#[derive(Debug, Error)]
pub enum FileError {
    /// The text is no JSON, or a member has the wrong type.
    #[error("not a list of instance types: {0}")]
    Json(#[from] serde_json::Error),
    /// There are too many types.
    #[error("the file has {found} instance types; at most {most} are read")]
    TooMany {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A type has no name, or one that cannot be a label's value.
    #[error(
        "instance type number {number} has the name {name:?}; a name is 1 to 63 letters, digits, \
         -, _ and ., with a letter or digit at both ends"
    )]
    Name {
        /// Counted from one.
        number: usize,
        /// The name as written.
        name: String,
    },
    /// Two types have the same name and run the same.
    #[error(
        "instance type {name:?} is there twice with the same architecture and operating systems"
    )]
    Repeated {
        /// The name.
        name: String,
    },
    /// A type does not say on what it runs.
    #[error("instance type {name:?} has no {field:?}")]
    Missing {
        /// The type.
        name: String,
        /// The member that is missing or empty.
        field: &'static str,
    },
    /// An amount is unusable.
    #[error("instance type {name:?}, resource {resource:?}: {problem}")]
    Resource {
        /// The type.
        name: String,
        /// The resource.
        resource: String,
        /// What is wrong with it.
        #[source]
        problem: ResourceProblem,
    },
    /// An offering is unusable.
    #[error("instance type {name:?}, offering number {number}: {problem}")]
    Offering {
        /// The type.
        name: String,
        /// Counted from one.
        number: usize,
        /// What is wrong with it.
        #[source]
        problem: OfferingProblem,
    },
}

/// What is wrong with an amount.
#[derive(Debug, Error)]
pub enum ResourceProblem {
    /// It is missing, and no node is without.
    #[error("it is missing; every type needs it")]
    Missing,
    /// It is neither text nor a number.
    #[error("{0} is not a quantity such as \"16\" or \"64Gi\"")]
    NotAQuantity(String),
    /// It is text that is no quantity.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// It is below zero.
    #[error("{0} is below zero")]
    Negative(String),
}

/// What is wrong with an offering.
#[derive(Debug, Error)]
pub enum OfferingProblem {
    /// Without a price it cannot be compared with others.
    #[error("it has no \"Price\"")]
    NoPrice,
    /// The price is no amount of money.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// An offering must say where or how it is sold.
    #[error("its \"Requirements\" have no {key:?} with the operator In and a value")]
    NoValue {
        /// The label that is missing.
        key: &'static str,
    },
    /// The way it is sold is unknown.
    #[error("capacity type {0:?} is none of on-demand, spot, reserved")]
    CapacityType(String),
    /// A requirement's operator does not exist.
    #[error("the requirement on {key:?} has the operator {operator:?}, which does not exist")]
    Operator {
        /// The label.
        key: String,
        /// The operator as written.
        operator: String,
    },
    /// A requirement's operator takes one number.
    #[error("the requirement on {key:?} compares, so it needs exactly one whole number")]
    Bound {
        /// The label.
        key: String,
    },
    /// A reserved offering holds less than nothing, or more than can be counted.
    #[error("\"ReservationCapacity\" cannot be {0}")]
    ReservationCapacity(i64),
}
