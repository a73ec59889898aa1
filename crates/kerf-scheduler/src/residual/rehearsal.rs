//! Whether pods fit in whatever order kube-scheduler binds them.
//!
//! It does not know the plan: it takes pods as they come and gives each to the node that is least in
//! use. So the removal is rehearsed in that way, with pods coming in several orders, and counts only
//! if nobody is left over in any.

use crate::residual::Refusal;
use crate::residual::left::Left;
use crate::residual::new_nodes::EmptyNode;
use crate::residual::placing::Choice;
use crate::solution::Displaced;

/// The order in which pods come is not known, so several are tried.
#[derive(Clone, Copy)]
enum Arrival {
    /// The smallest first: later much is left in pieces too small for the others.
    SmallestFirst,
    LargestFirst,
    /// One of each kind in turn, as when their owners make them at the same time.
    InTurn,
}

impl Arrival {
    const ALL: [Self; 3] = [Self::SmallestFirst, Self::LargestFirst, Self::InTurn];
}

impl Left<'_> {
    /// Tries every order, beside new nodes if there are any; changes nothing.
    pub(super) fn rehearse(
        &mut self,
        pods: &[Displaced],
        new_nodes: &[EmptyNode],
    ) -> Result<(), Refusal> {
        // A single pod that fits somewhere fits wherever it is put.
        if pods.len() < 2 {
            return Ok(());
        }
        let classes = self.classes(pods);
        let is_one_kind = classes.iter().all(|(_, class)| *class == classes[0].1);
        let arrivals = if is_one_kind { &Arrival::ALL[..1] } else { &Arrival::ALL[..] };
        for arrival in arrivals {
            let ordered = self.in_order(&classes, *arrival);
            let before = self.mark();
            self.new_nodes = new_nodes.to_vec();
            let outcome = self.place_in_order(&ordered, Choice::LeastInUse);
            self.undo(&before);
            self.new_nodes.clear();
            outcome.map_err(|pod| Refusal::NotInEveryOrder { pod })?;
        }
        Ok(())
    }

    fn in_order(&self, pods: &[(Displaced, usize)], arrival: Arrival) -> Vec<(Displaced, usize)> {
        let mut ordered = pods.to_vec();
        ordered.sort_by(|(one, first), (other, second)| {
            let size = |class: usize| (&self.base.classes[class].requests, class);
            size(*first).cmp(&size(*second)).then_with(|| one.cmp(other))
        });
        match arrival {
            Arrival::SmallestFirst => ordered,
            Arrival::LargestFirst => ordered.into_iter().rev().collect(),
            Arrival::InTurn => in_turn(&ordered),
        }
    }
}

/// One of each class, then the second of each, and so on.
fn in_turn(by_class: &[(Displaced, usize)]) -> Vec<(Displaced, usize)> {
    let mut turn = 0;
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(by_class.len());
    for place in 0..by_class.len() {
        let is_same = place > 0 && by_class[place].1 == by_class[place - 1].1;
        turn = if is_same { turn + 1 } else { 0 };
        places.push((turn, place));
    }
    places.sort_unstable();
    places.into_iter().map(|(_, place)| by_class[place]).collect()
}
