//! Who may do what: every call and every delegation passes here, and only here leave is made.
//! Knows calls and rights; does no IO, runs nothing.

mod admission;
mod approver;
mod declaration;
mod denial;
mod effect;
mod handoff_policy;
mod permit;
mod policy;
mod purse;
mod review;
mod revoked;
mod rights;
mod rules;

pub use admission::Admission;
pub use approver::{ApprovalRequest, Approver, DenyAll};
pub use declaration::{Declaration, SessionRights, ToolRequest};
pub use denial::{Denial, ListSetting, Rule};
pub use effect::Effect;
pub use handoff_policy::{
    DelegationSurface, FilterPanicked, HandoffFailureAction, HandoffPolicy, InputFilter, ToolList,
};
pub use permit::Permit;
pub use policy::{Policy, Setting};
pub(crate) use purse::{FuelMeter, Seat};
pub use purse::{Prices, Purse, PurseLimits, PursePart, PurseReport, Spent, TurnReserve};
pub use review::{Governance, Verdict};
pub use rights::{Rights, RightsError};
