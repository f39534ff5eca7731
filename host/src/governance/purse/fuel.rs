//! Fuel of one guest, drawn from the purse in slices: no guest holds what it does not burn, and all together
//! never burn more than there is. Must not know the engine that burns it.

use std::sync::Arc;

use super::{Purse, Spending};

/// The smallest slice worth handing out.
const SMALLEST: u64 = 200_000;

/// The fuel of one guest.
#[derive(Debug)]
pub(crate) struct FuelMeter {
    purse: Arc<Purse>,
    /// What the guest's own limit leaves, the slice not counted.
    own: u64,
    slice: u64,
    burnt: u64,
}

impl FuelMeter {
    /// A meter with its first slice. `limit` is the guest's own.
    pub(crate) fn new(purse: &Arc<Purse>, limit: u64) -> Self {
        let mut meter = Self { purse: purse.clone(), own: limit, slice: 0, burnt: 0 };
        meter.refill();
        meter
    }

    /// What the guest may burn until the next look.
    pub(crate) fn slice(&self) -> u64 {
        self.slice
    }

    /// What it burnt so far.
    pub(crate) fn burnt(&self) -> u64 {
        self.burnt
    }

    /// True where slices are handed out at all: without a limit the first slice is the guest's whole fuel.
    pub(crate) fn is_sliced(&self) -> bool {
        self.purse.limits.fuel.is_some()
    }

    /// True where the purse, and not the guest's own limit, is what the guest ran out of.
    pub(crate) fn ran_out_of_the_purse(&self) -> bool {
        self.is_sliced() && self.own > 0
    }

    /// The guest has `left` of its slice: settles what it burnt and hands out a new slice.
    pub(crate) fn look(&mut self, left: u64) -> u64 {
        self.settle(left);
        self.refill();
        self.slice
    }

    /// The guest has ended with `left` of its slice: gives back what it did not burn.
    pub(crate) fn settle(&mut self, left: u64) {
        let left = left.min(self.slice);
        let burnt = self.slice - left;
        let mut spending = self.purse.lock();
        spending.fuel = spending.fuel.saturating_add(burnt);
        spending.reserved_fuel = spending.reserved_fuel.saturating_sub(self.slice);
        drop(spending);
        self.burnt = self.burnt.saturating_add(burnt);
        self.own = self.own.saturating_add(left);
        self.slice = 0;
    }

    fn refill(&mut self) {
        let mut spending = self.purse.lock();
        self.slice = self.own.min(share(&self.purse, &spending));
        spending.reserved_fuel = spending.reserved_fuel.saturating_add(self.slice);
        drop(spending);
        self.own = self.own.saturating_sub(self.slice);
    }
}

impl Drop for FuelMeter {
    fn drop(&mut self) {
        // A guest that was dropped where it waited burnt what it burnt; the slice counts as burnt.
        if self.slice > 0 {
            self.settle(0);
        }
    }
}

/// What one guest may hold of what is free: a part, so that others find something too.
fn share(purse: &Purse, spending: &Spending) -> u64 {
    let Some(limit) = purse.limits.fuel else { return u64::MAX };
    let free = limit.saturating_sub(spending.fuel).saturating_sub(spending.reserved_fuel);
    let parts = u64::from(purse.limits.concurrent_runs).saturating_add(1);
    (free / parts).max(SMALLEST.min(free))
}
