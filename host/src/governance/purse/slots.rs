//! How many runs work at one time. A run that waits for another gives its slot back, so nothing that a child may
//! need is held while waiting. Must not know what a run does with its slot.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The slots of one tree.
#[derive(Clone, Debug)]
pub(crate) struct Slots(Arc<Semaphore>);

impl Slots {
    pub(super) fn new(most: u32) -> Self {
        let most = usize::try_from(most.max(1)).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(most)))
    }

    /// True where a slot is free now.
    pub(crate) fn has_room(&self) -> bool {
        self.0.available_permits() > 0
    }

    /// Waits for a slot, in turn.
    pub(crate) async fn seat(&self) -> Seat {
        let held = self.take().await;
        Seat { slots: Some(self.clone()), state: Mutex::new(State { waiting: 0, held }), ..Seat::default() }
    }

    async fn take(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.0.clone().acquire_owned().await.ok()
    }
}

/// A run's place among those that work. The parent's run needs none.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    slots: Option<Slots>,
    state: Mutex<State>,
    retaking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Children that the run waits for.
    waiting: usize,
    held: Option<OwnedSemaphorePermit>,
}

impl Seat {
    /// Awaits a child: the slot is free meanwhile, and taken again before the run goes on. One that is `stopped`
    /// goes on without: all that it still does is to end.
    pub(crate) async fn while_waiting<T>(
        &self,
        child: impl Future<Output = T>,
        stopped: &CancellationToken,
    ) -> T {
        let waits = Waits::begin(self);
        let ended = child.await;
        drop(waits);
        if let Some(slots) = &self.slots {
            tokio::select! {
                biased;
                () = self.retake(slots) => {}
                () = stopped.cancelled() => {}
            }
        }
        ended
    }

    async fn retake(&self, slots: &Slots) {
        // Of children that end at once one takes the slot, and the others see that it is there: two that waited
        // for a slot each would wait for ever where there is one.
        let _one = self.retaking.lock().await;
        if self.lock().needs_one() {
            let held = slots.take().await;
            let mut state = self.lock();
            // A child that began meanwhile needs the slot more than the run does, which takes one at that child's end.
            if state.needs_one() {
                state.held = held;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn needs_one(&self) -> bool {
        self.waiting == 0 && self.held.is_none()
    }
}

/// Counts a child that is waited for, also where the waiting is given up.
struct Waits<'a>(&'a Seat);

impl<'a> Waits<'a> {
    fn begin(seat: &'a Seat) -> Self {
        let mut state = seat.lock();
        state.waiting = state.waiting.saturating_add(1);
        state.held = None;
        drop(state);
        Self(seat)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.waiting = state.waiting.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Seat {
        async fn waits_for<T>(&self, child: impl Future<Output = T>) -> T {
            self.while_waiting(child, &CancellationToken::new()).await
        }
    }

    #[tokio::test]
    async fn a_chain_longer_than_the_slots_goes_through_since_whoever_waits_gives_back() {
        let slots = Slots::new(1);
        let (a, b) = (slots.seat().await, slots.clone());
        let deepest = a
            .waits_for(async {
                let b_seat = b.seat().await;
                b_seat.waits_for(async { b.seat().await.slots.is_some() }).await
            })
            .await;
        assert!(deepest);
        assert_eq!(slots.0.available_permits(), 0, "the first run works again");
        drop(a);
        assert_eq!(slots.0.available_permits(), 1);
    }

    #[tokio::test]
    async fn two_children_side_by_side_leave_the_run_with_one_slot() {
        for most in [1, 2] {
            let slots = Slots::new(most);
            let seat = slots.seat().await;
            // Others are at work when both children end, so that both wait for the slot at once.
            let others = slots.clone();
            let child = async || drop(others.seat().await);
            tokio::join!(seat.waits_for(child()), seat.waits_for(child()));
            assert_eq!(slots.0.available_permits(), usize::try_from(most).unwrap() - 1);
        }
    }

    /// What a future gives within so many turns of the executor.
    async fn soon<T>(future: impl Future<Output = T>) -> Option<T> {
        let turns = async {
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            done = future => Some(done),
            () = turns => None,
        }
    }

    #[tokio::test]
    async fn a_child_that_begins_while_the_run_waits_for_its_slot_gets_it() {
        let slots = Slots::new(1);
        let seat = slots.seat().await;
        let elsewhere = Mutex::new(None);
        // Somebody else has the slot when the first child ends; the second one needs it and begins before it is free.
        let first = seat.waits_for(async {
            let other = slots.seat().await;
            *elsewhere.lock().unwrap() = Some(other);
        });
        let second = seat.waits_for(async {
            drop(elsewhere.lock().unwrap().take());
            drop(slots.seat().await);
        });
        let both = soon(async { tokio::join!(first, second) }).await;
        assert!(both.is_some(), "the run holds what its child waits for");
        assert_eq!(slots.0.available_permits(), 0, "the run works again");
    }

    #[tokio::test]
    async fn a_stopped_run_waits_for_no_slot() {
        let slots = Slots::new(1);
        let seat = slots.seat().await;
        let stopped = CancellationToken::new();
        let other = seat.while_waiting(slots.seat(), &stopped);
        stopped.cancel();
        let other = other.await;
        assert!(seat.lock().held.is_none() && other.lock().held.is_some());
    }

    #[tokio::test]
    async fn a_run_without_a_seat_takes_none() {
        let slots = Slots::new(1);
        Seat::default().waits_for(async {}).await;
        assert_eq!(slots.0.available_permits(), 1);
    }
}
