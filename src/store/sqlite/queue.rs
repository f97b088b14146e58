//! The way to the writer, bounded in commands and in bytes.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::command::Command;
use crate::store::Error;

/// Commands that may wait.
const MAX_COMMANDS: usize = 1024;

/// Bytes of content that may wait.
const MAX_BYTES: u32 = 64 << 20;

/// Commands that share one transaction, and so one flush of the disk.
const GROUP_COMMANDS: usize = 256;

/// Bytes of content at which a group is closed.
const GROUP_BYTES: u32 = 8 << 20;

/// The callers' end.
#[derive(Debug)]
pub(super) struct Sender {
    commands: mpsc::Sender<Queued>,
    bytes: Arc<Semaphore>,
}

/// The writer's end.
#[derive(Debug)]
pub(super) struct Receiver(mpsc::Receiver<Queued>);

/// A command that waits, and its share of the bytes that may.
#[derive(Debug)]
struct Queued {
    command: Command,
    bytes: u32,
    _share: OwnedSemaphorePermit,
}

/// What the writer finds.
#[derive(Debug)]
pub(super) enum Next {
    /// Commands to run in one transaction.
    Group(Vec<Command>),
    /// No command waits.
    Nothing,
    /// None will come any more.
    End,
}

/// What a caller is told, once it is durable.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

pub(super) fn channel() -> (Sender, Receiver) {
    let (commands, receiver) = mpsc::channel(MAX_COMMANDS);
    let bytes = Arc::new(Semaphore::new(MAX_BYTES as usize));
    (Sender { commands, bytes }, Receiver(receiver))
}

impl Sender {
    /// Hands a command over and waits for its answer.
    ///
    /// The command runs whether or not the caller goes on waiting.
    pub(super) async fn ask<T>(
        &self,
        bytes: usize,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, Error> {
        // One command above the bound may still pass, alone.
        let bytes = u32::try_from(bytes).unwrap_or(MAX_BYTES).min(MAX_BYTES);
        let share = Arc::clone(&self.bytes).try_acquire_many_owned(bytes).map_err(|_| {
            if self.commands.is_closed() { Error::Closed } else { Error::Overloaded }
        })?;
        let (reply, answer) = oneshot::channel();
        let queued = Queued { command: command(reply), bytes, _share: share };
        self.commands.try_send(queued).map_err(|err| match err {
            mpsc::error::TrySendError::Full(_) => Error::Overloaded,
            mpsc::error::TrySendError::Closed(_) => Error::Closed,
        })?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Asks the writer to finish what waits and to end; waits for a place in
    /// the queue, for a close must not be refused.
    pub(super) async fn close(&self) -> Result<(), Error> {
        let share = Arc::clone(&self.bytes).try_acquire_many_owned(0);
        let share = share.map_err(|_| Error::Closed)?;
        let (reply, answer) = oneshot::channel();
        let queued = Queued { command: Command::Close(reply), bytes: 0, _share: share };
        self.commands.send(queued).await.map_err(|_| Error::Closed)?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Says whether the writer is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.commands.is_closed()
    }
}

impl Receiver {
    /// The next group; where nothing waits, it is waited for if asked.
    pub(super) async fn next(&mut self, may_wait: bool) -> Next {
        let first = match self.0.try_recv() {
            Ok(first) => first,
            Err(mpsc::error::TryRecvError::Empty) if !may_wait => return Next::Nothing,
            Err(mpsc::error::TryRecvError::Disconnected) => return Next::End,
            Err(mpsc::error::TryRecvError::Empty) => match self.0.recv().await {
                Some(first) => first,
                None => return Next::End,
            },
        };
        Next::Group(self.fill(first))
    }

    /// Takes no more commands; those that wait still come.
    pub(super) fn close(&mut self) {
        self.0.close();
    }

    fn fill(&mut self, first: Queued) -> Vec<Command> {
        let mut bytes = first.bytes;
        let mut group = vec![first.command];
        while group.len() < GROUP_COMMANDS && bytes < GROUP_BYTES {
            let Ok(next) = self.0.try_recv() else { break };
            bytes = bytes.saturating_add(next.bytes);
            group.push(next.command);
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::model::Timestamp;

    /// What a caller is told at once; `None` where it has to wait.
    fn ask(sender: &Sender, bytes: usize) -> Option<Result<u64, Error>> {
        let expire = |reply| Command::Expire(Timestamp::default(), reply);
        sender.ask(bytes, expire).now_or_never()
    }

    #[test]
    fn r3_a_full_queue_refuses_and_drains() {
        let (sender, mut receiver) = channel();
        for _ in 0..MAX_COMMANDS {
            assert!(ask(&sender, 1).is_none());
        }
        assert!(matches!(ask(&sender, 1), Some(Err(Error::Overloaded))));
        let Some(Next::Group(group)) = receiver.next(false).now_or_never() else {
            panic!("commands wait");
        };
        assert_eq!(group.len(), GROUP_COMMANDS);
        assert!(ask(&sender, 1).is_none());
    }

    #[test]
    fn bytes_that_wait_are_bounded_and_so_is_a_group() {
        const MIB: usize = 1 << 20;
        let (sender, mut receiver) = channel();
        assert!(ask(&sender, 200 * MIB).is_none(), "alone, whatever its size");
        assert!(matches!(ask(&sender, 1), Some(Err(Error::Overloaded))));
        assert!(receiver.next(false).now_or_never().is_some());
        for _ in 0..16 {
            assert!(ask(&sender, 4 * MIB).is_none());
        }
        let Some(Next::Group(group)) = receiver.next(false).now_or_never() else {
            panic!("commands wait");
        };
        assert_eq!(group.len(), 2, "8 MiB");
    }

    #[test]
    fn a_queue_without_its_writer_is_closed() {
        let (sender, receiver) = channel();
        drop(receiver);
        assert!(sender.is_closed());
        assert!(matches!(ask(&sender, 1), Some(Err(Error::Closed))));
    }
}
