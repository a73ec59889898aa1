//! Turns that are given out by class: so many at once, the most urgent first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use kerf_engine::action::ActionClass;
use tokio::sync::oneshot;

/// So many turns at once, of which the less urgent may not take all.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// By class: how many turns it leaves to the more urgent.
    left: [usize; ActionClass::ALL.len()],
    waiting: [VecDeque<oneshot::Sender<Turn>>; ActionClass::ALL.len()],
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    state: Arc<Mutex<State>>,
}

impl Turns {
    /// So many at once; each class leaves so many of them to the more urgent.
    pub(crate) fn new(at_once: usize, left: [usize; ActionClass::ALL.len()]) -> Self {
        let state = State { free: at_once, left, waiting: Default::default() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a turn, behind whatever is more urgent and whoever of the class came before.
    pub(crate) async fn turn(&self, class: ActionClass) -> Turn {
        let receiver = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let (sender, receiver) = oneshot::channel();
            state.waiting[class as usize].push_back(sender);
            receiver
        };
        give_out(&self.state);
        receiver.await.expect("who waits is given a turn as long as this is there to give one")
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).free += 1;
        give_out(&self.state);
    }
}

/// Gives the free turns to those who wait. Nobody is told under the lock: one who has gone away
/// meanwhile gives the turn back at once.
fn give_out(state: &Arc<Mutex<State>>) {
    loop {
        let next = state.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(next) = next else { return };
        drop(next.send(Turn { state: state.clone() }));
    }
}

impl State {
    /// Takes a free turn for the first who may have one and still waits.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        for (waiting, left) in self.waiting.iter_mut().zip(self.left) {
            while self.free > left
                && let Some(next) = waiting.pop_front()
            {
                if !next.is_closed() {
                    self.free -= 1;
                    return Some(next);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;
    use tokio::time::{sleep, timeout};

    use super::*;

    const NONE_LEFT: [usize; ActionClass::ALL.len()] = [0; ActionClass::ALL.len()];

    /// Lets so many of a class wait for a turn; each says its class once it has one.
    async fn queue(
        turns: &Turns,
        class: ActionClass,
        count: usize,
        said: &mpsc::UnboundedSender<ActionClass>,
    ) {
        for _ in 0..count {
            let (turns, said) = (turns.clone(), said.clone());
            tokio::spawn(async move {
                let _turn = turns.turn(class).await;
                said.send(class).expect("the test listens");
            });
        }
        for _ in 0..count {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn the_most_urgent_comes_first_however_many_wait() {
        let turns = Turns::new(1, NONE_LEFT);
        let (sender, mut said) = mpsc::unbounded_channel();
        let busy = turns.turn(ActionClass::Background).await;
        queue(&turns, ActionClass::Background, 500, &sender).await;
        queue(&turns, ActionClass::Normal, 10, &sender).await;
        queue(&turns, ActionClass::Urgent, 2, &sender).await;
        queue(&turns, ActionClass::Closing, 1, &sender).await;
        drop((busy, sender));
        let mut order = Vec::new();
        while let Some(class) = said.recv().await {
            order.push(class);
        }
        assert_eq!(order.len(), 513);
        assert!(order.is_sorted(), "closing, urgent, normal, background");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_hang_in_the_background_leave_turns_for_the_urgent() {
        let turns = Turns::new(4, [0, 0, 1, 2]);
        let mut hung = Vec::new();
        while let Ok(turn) = timeout(SOON, turns.turn(ActionClass::Background)).await {
            hung.push(turn);
        }
        assert_eq!(hung.len(), 2);
        hung.push(timeout(SOON, turns.turn(ActionClass::Normal)).await.expect("one is left"));
        assert!(timeout(SOON, turns.turn(ActionClass::Normal)).await.is_err());
        let urgent = timeout(SOON, turns.turn(ActionClass::Urgent)).await;
        assert!(urgent.is_ok(), "the last is kept for it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_is_not_lost_on_somebody_who_went_away() {
        let turns = Turns::new(1, NONE_LEFT);
        let busy = turns.turn(ActionClass::Normal).await;
        assert!(timeout(SOON, turns.turn(ActionClass::Urgent)).await.is_err());
        drop(busy);
        sleep(SOON).await;
        assert!(timeout(SOON, turns.turn(ActionClass::Normal)).await.is_ok());
    }

    const SOON: Duration = Duration::from_millis(10);
}
