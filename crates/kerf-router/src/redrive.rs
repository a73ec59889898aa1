//! Messages of a dead-letter queue, back to where they belong.

use std::time::Duration;

use kerf_aws::{CallError, Queues};

/// What a redrive did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    /// Messages moved.
    pub moved: u64,
    /// Messages that stayed.
    pub stayed: u64,
}

/// Moves up to `most` messages. Each is deleted only after its copy is stored, so an interrupted
/// redrive repeats messages and loses none.
pub async fn redrive(
    queues: &Queues,
    from: &str,
    to: &str,
    most: u64,
) -> Result<Redriven, CallError> {
    let mut redriven = Redriven::default();
    while redriven.moved + redriven.stayed < most {
        let messages = queues.receive(from, Duration::from_secs(1)).await?;
        if messages.is_empty() {
            break;
        }
        let bodies = messages.iter().map(|message| (message.body.clone(), Vec::new())).collect();
        let refused = queues.send(to, bodies).await?;
        let stored = messages.iter().enumerate();
        let stored =
            stored.filter(|(index, _)| !refused.iter().any(|refusal| refusal.index == *index));
        let receipts: Vec<_> = stored.map(|(_, message)| message.receipt.clone()).collect();
        redriven.moved += receipts.len() as u64;
        redriven.stayed += (messages.len() - receipts.len()) as u64;
        if !receipts.is_empty() {
            queues.delete(from, receipts).await?;
        }
    }
    Ok(redriven)
}
