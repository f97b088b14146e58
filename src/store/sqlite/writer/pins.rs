//! Pins.

use super::{
    super::{error::Failure, read, statements, values::json},
    Writer,
    heads::{Head, micros},
    requests::Scope,
};
use crate::{
    model::{Pin, Revision},
    store::{Entity, Error, NewPin, Unpin, rules},
};

/// What is answered to a repeated pin: its id, and the revision.
type Known = (String, i64);

impl Writer {
    pub(super) async fn pin(&mut self, new: NewPin) -> Result<(Pin, Revision, bool), Failure> {
        let session = new.session.clone();
        let mut head = self.head(&session).await?;
        let done = self.add_pin(&mut head, new).await;
        self.put_back(&session, head, &done);
        done
    }

    async fn add_pin(
        &mut self,
        head: &mut Head,
        new: NewPin,
    ) -> Result<(Pin, Revision, bool), Failure> {
        let scope = Scope::Session(head.key);
        if let Some((id, revision)) = self.known::<Known>(scope, new.request.as_ref()).await? {
            let found = read::get_pins(&mut self.conn, &new.session, &[&id]).await?.pop();
            let pin = found.ok_or(Error::NotFound(Entity::Pin(id)))?;
            return Ok((pin, Revision(revision), true));
        }
        self.reduced_at(head, &new.view).await?;
        let request = new.request.clone();
        let revision = head.next_revision();
        let pin = Pin { since: revision, ..rules::pin(new) };
        let statement = sqlx::query(statements::PIN)
            .bind(head.key)
            .bind(revision.0)
            .bind(micros(pin.create_time))
            .bind(pin.author.as_str())
            .bind(pin.view.as_str())
            .bind(pin.id.as_str())
            .bind(pin.rows.first.0)
            .bind(pin.rows.last.0)
            .bind(pin.reason.as_str())
            .bind(request.as_ref().map(|it| it.id.as_str()))
            .bind(request.as_ref().map(|it| it.digest.as_slice()))
            .bind(request.as_ref().map(|_| json(&(pin.id.as_str(), revision.0))));
        self.write(statement).await?;
        Ok((pin, revision, false))
    }

    pub(super) async fn unpin(&mut self, unpin: Unpin) -> Result<Revision, Failure> {
        let mut head = self.head(&unpin.session).await?;
        let done = self.end_pin(&mut head, &unpin).await;
        self.put_back(&unpin.session, head, &done);
        done
    }

    async fn end_pin(&mut self, head: &mut Head, unpin: &Unpin) -> Result<Revision, Failure> {
        let id = unpin.pin.as_str();
        let found = read::get_pins(&mut self.conn, &unpin.session, &[id]).await?.pop();
        let not_found = || Error::NotFound(Entity::Pin(id.to_owned()));
        let pin = found.filter(|it| it.until.is_none()).ok_or_else(not_found)?;
        if pin.since <= self.deleted_at(head, &pin.view).await? {
            return Err(not_found().into());
        }
        let revision = head.next_revision();
        let statement = sqlx::query(statements::UNPIN)
            .bind(head.key)
            .bind(revision.0)
            .bind(micros(unpin.at))
            .bind(pin.view.as_str())
            .bind(id);
        self.write(statement).await?;
        Ok(revision)
    }
}
