//! Setting context items.

use super::{
    super::{
        content::{Packed, Piece},
        error::Failure,
        read::{self, ItemRow},
        statements,
    },
    Writer,
    heads::{Head, micros},
};
use crate::{
    codec::session::item_to_pb,
    model::{ContextItem, Revision, ViewName},
    store::{Entity, Error, SetItem},
};

impl Writer {
    pub(super) async fn set_item(
        &mut self,
        set: SetItem,
        content: Packed,
    ) -> Result<Revision, Failure> {
        let mut head = self.head(&set.session).await?;
        if let Some(view) = &set.item.view {
            self.reduced_at(&head, view).await?;
        }
        let is_same = match self.item(&head, &set.item).await? {
            Some(item) => item == set.item,
            None => set.item.content.is_empty(),
        };
        if is_same {
            let revision = head.revision;
            self.heads.put(&set.session, head);
            return Ok(revision);
        }
        let revision = head.next_revision();
        self.insert_item(&set, content, head.key, revision).await?;
        self.heads.put(&set.session, head);
        Ok(revision)
    }

    /// When a view was last reduced.
    pub(super) async fn reduced_at(
        &mut self,
        head: &Head,
        view: &ViewName,
    ) -> Result<Revision, Failure> {
        let found: Option<i64> = sqlx::query_scalar(statements::VIEW_REDUCED_AT)
            .bind(head.key)
            .bind(view.as_str())
            .fetch_optional(&mut self.conn)
            .await?;
        let found = found.ok_or_else(|| Error::NotFound(Entity::View(view.to_string())))?;
        Ok(Revision(found))
    }

    /// The item of that name that holds.
    async fn item(
        &mut self,
        head: &Head,
        item: &ContextItem,
    ) -> Result<Option<ContextItem>, Failure> {
        let row: Option<ItemRow> = sqlx::query_as(statements::ITEM)
            .bind(head.key)
            .bind(item.name.as_str())
            .bind(item.view.as_ref().map_or("", ViewName::as_str))
            .fetch_optional(&mut self.conn)
            .await?;
        Ok(row.map(read::item_from).transpose()?)
    }

    async fn insert_item(
        &mut self,
        set: &SetItem,
        content: Packed,
        key: i64,
        revision: Revision,
    ) -> Result<(), Failure> {
        let item = item_to_pb(&set.item);
        let piece: Option<&Piece> = content.pieces.first().filter(|_| !set.item.content.is_empty());
        self.last_content += 1;
        let statement = sqlx::query(statements::SET_ITEM)
            .bind(key)
            .bind(revision.0)
            .bind(micros(set.at))
            .bind(set.author.as_str())
            .bind(item.name)
            .bind(item.view)
            .bind(piece.map(|_| self.last_content))
            .bind(piece.map(|it| it.codec as i64))
            .bind(content.bytes)
            .bind(i64::from(item.placement))
            .bind(i64::from(item.format))
            .bind(set.item.tokens);
        self.write(statement).await
    }
}
