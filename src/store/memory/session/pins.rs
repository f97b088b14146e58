//! Pins.

use super::{Changed, SessionState};
use crate::{
    model::{Pin, PinId, Revision, ViewName},
    store::{Entity, Error, NewPin, Unpin, rules},
};

impl SessionState {
    pub(in super::super) fn pin(&mut self, new: NewPin) -> Result<Pin, Error> {
        self.view_mut(&new.view)?;
        self.check_pin_is_new(&new.id)?;
        let pin = self.add_pin(rules::pin(new));
        self.view_mut(&pin.view)?.reductions_revision = pin.since;
        Ok(pin)
    }

    /// Adds a pin, from the next revision on.
    pub(super) fn add_pin(&mut self, mut pin: Pin) -> Pin {
        pin.since = self.record(&pin.author, pin.create_time, Changed::Pinned(pin.id.clone()));
        self.pins.push(pin.clone());
        pin
    }

    pub(in super::super) fn unpin(&mut self, unpin: &Unpin) -> Result<Revision, Error> {
        let not_found = || Error::NotFound(Entity::Pin(unpin.pin.to_string()));
        let view = self.get_pin(&unpin.pin).ok_or_else(not_found)?.view.clone();
        if self.pins_of(&view).all(|it| it.id != unpin.pin) {
            return Err(not_found());
        }
        let revision = self.record("", unpin.at, Changed::Unpinned(unpin.pin.clone()));
        if let Some(pin) = self.pins.iter_mut().find(|it| it.id == unpin.pin) {
            pin.until = Some(revision);
        }
        self.view_mut(&view)?.reductions_revision = revision;
        Ok(revision)
    }

    /// The pins that hold in a view.
    pub(in super::super) fn pins_of<'a>(
        &'a self,
        view: &'a ViewName,
    ) -> impl Iterator<Item = &'a Pin> {
        let deleted_at = self.deleted_at(view, self.session.revision);
        self.pins
            .iter()
            .filter(move |it| it.view == *view && it.until.is_none() && it.since > deleted_at)
    }

    pub(in super::super) fn get_pin(&self, id: &PinId) -> Option<&Pin> {
        self.pins.iter().find(|it| it.id == *id)
    }

    pub(super) fn check_pin_is_new(&self, id: &PinId) -> Result<(), Error> {
        match self.get_pin(id) {
            Some(_) => Err(rules::misuse(format!("pin `{id}` exists already"))),
            None => Ok(()),
        }
    }
}
