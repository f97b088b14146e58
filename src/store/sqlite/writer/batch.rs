//! Appends of one group, written together.
//!
//! Most appends find their place on what is in memory. Those wait in
//! `Writer::placed` and share statements; before anything is read or anything
//! else is written, they are.

use std::collections::VecDeque;

use super::{
    super::{
        command::{Command, PackedAppend},
        error::{Failure, Shared},
        queue::Reply,
        statements,
    },
    Writer,
};
use crate::store::Appended;

/// As many as the longest statement takes.
const MOST_AT_ONCE: usize = statements::APPENDS_AT_ONCE.len();

/// The database refused one of some appends, and undid them all.
pub(super) struct Undone;

impl Writer {
    /// Places the appends that a group begins with, as far as that needs
    /// nothing that is not in memory.
    pub(super) fn place_leading(&mut self, group: &mut VecDeque<Command>) {
        while self.placed.len() < MOST_AT_ONCE {
            let next = match group.pop_front() {
                Some(Command::Append(append, reply)) => match self.place_from_memory(append) {
                    Ok(placed) => {
                        self.placed.push((placed, reply));
                        continue;
                    }
                    Err(append) => Command::Append(*append, reply),
                },
                Some(other) => other,
                None => return,
            };
            return group.push_front(next);
        }
    }

    /// Takes an append in, to be written with others.
    pub(super) async fn take_append(
        &mut self,
        append: PackedAppend,
        reply: Reply<Appended>,
    ) -> Result<(), Shared> {
        if self.placed.len() >= MOST_AT_ONCE
            && let Err(failure) = self.write_placed().await
        {
            Command::Append(append, reply).fail(&failure);
            return Err(failure);
        }
        let append = match self.place_from_memory(append) {
            Ok(placed) => {
                self.placed.push((placed, reply));
                return Ok(());
            }
            Err(append) => *append,
        };
        // What it has to look up may be what waits.
        if let Err(failure) = self.write_placed().await {
            Command::Append(append, reply).fail(&failure);
            return Err(failure);
        }
        let result = self.append(append).await;
        self.answer(reply, result)
    }

    /// Writes what is placed.
    pub(super) async fn write_placed(&mut self) -> Result<(), Shared> {
        if self.insert_placed().await?.is_ok() {
            return Ok(());
        }
        // One of them was refused: each for itself, from heads that know nothing
        // of the others.
        for (placed, _) in &self.placed {
            self.heads.take(&placed.packed.append.session);
        }
        let mut rest = std::mem::take(&mut self.placed).into_iter();
        while let Some((placed, reply)) = rest.next() {
            let result = self.append(placed.packed).await;
            if let Err(failure) = self.answer(reply, result) {
                self.placed = rest.collect();
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Writes what is placed by one statement, all or none.
    pub(super) async fn insert_placed(&mut self) -> Result<Result<(), Undone>, Shared> {
        let placed = std::mem::take(&mut self.placed);
        match self.insert(placed.iter().map(|(it, _)| it)).await {
            Ok(()) => {
                for (placed, reply) in placed {
                    self.answer(reply, Ok(placed.appended))?;
                }
                Ok(Ok(()))
            }
            Err(Failure::Lost(failure)) => {
                self.placed = placed;
                Err(failure)
            }
            Err(Failure::Undone(_) | Failure::Refused(_)) => {
                self.placed = placed;
                Ok(Err(Undone))
            }
        }
    }

    /// Tells who waits for what is placed that the group was lost.
    pub(super) fn fail_placed(&mut self, failure: &Shared) {
        for (placed, reply) in self.placed.drain(..) {
            Command::Append(placed.packed, reply).fail(failure);
        }
    }
}
