//! Who may do what: every call and every delegation passes here, and only here leave is made.
//! Knows calls and rights; does no IO, runs nothing.

mod approver;
mod denial;
mod effect;
mod permit;
mod policy;
mod review;
mod rights;

pub use approver::{ApprovalRequest, Approver, DenyAll};
pub use denial::{Denial, Rule};
pub use effect::Effect;
pub use permit::Permit;
pub use policy::{Policy, Setting};
pub use review::{Governance, Verdict};
pub use rights::{Rights, RightsError};
