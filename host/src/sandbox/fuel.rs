//! A store's fuel, drawn from the purse and looked at whenever the guest calls its host. Must not decide how much
//! there is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::{CallHook, Store};

use crate::capability::GuestState;
use crate::governance::{FuelMeter, Purse};

/// The fuel of one store.
#[derive(Debug)]
pub(super) struct Fuel(Arc<Mutex<FuelMeter>>);

/// What a guest burnt in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burnt {
    pub(super) burnt: u64,
    /// True where the purse, and not the guest's own limit, gave no more.
    pub(super) of_the_purse: bool,
}

impl Fuel {
    pub(super) fn draw(purse: &Arc<Purse>, limit: u64) -> Self {
        Self(Arc::new(Mutex::new(FuelMeter::new(purse, limit))))
    }

    /// Gives the store its first slice, and a new one at each call of the host where the purse limits fuel.
    /// Compiled code keeps its count in a register between calls, so that a call is the place to look.
    pub(super) fn fill(&self, store: &mut Store<GuestState>) -> wasmtime::Result<()> {
        store.set_fuel(self.meter().slice())?;
        if self.meter().is_sliced() {
            let meter = self.0.clone();
            store.call_hook(move |mut store, hook| {
                if matches!(hook, CallHook::CallingHost) {
                    let left = store.get_fuel()?;
                    let slice = meter.lock().unwrap_or_else(PoisonError::into_inner).look(left);
                    store.set_fuel(slice)?;
                }
                Ok(())
            });
        }
        Ok(())
    }

    /// The guest has ended with `left` in its store.
    pub(super) fn settle(&self, left: u64) -> Burnt {
        let mut meter = self.meter();
        let of_the_purse = meter.ran_out_of_the_purse();
        meter.settle(left);
        Burnt { burnt: meter.burnt(), of_the_purse }
    }

    fn meter(&self) -> MutexGuard<'_, FuelMeter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
