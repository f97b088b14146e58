//! Committing overlays and rolling them back.

use super::{
    super::{
        command::PackedCommit,
        content::Packed,
        error::Failure,
        read, statements,
        values::{self, json},
    },
    Writer,
    heads::{Head, micros},
    overlay_rows::{committed, overlay_rows},
    requests::Scope,
};
use crate::{
    codec::overlay::kind_from_pb,
    model::{
        Overlay, OverlayId, OverlayKind, Pin, PlanId, Revision, RowSet, Timestamp, ViewName,
        overlay::Rollback,
    },
    store::{
        CommitOverlays, Committed, Entity, Error, PlannedOn, RequestKey, RollbackOverlay,
        RolledBack, SessionRef,
        rules::{self, InForce},
    },
};

/// Kinds of a revision, as `revisions.kind` numbers them.
const COMMITTED: i64 = 2;
const ROLLED_BACK: i64 = 3;
const PINNED: i64 = 4;

/// What is answered to a repeated commit: the overlays' ids, and the revision.
type Known = (Vec<String>, i64);

/// An overlay in force, and where it stands.
#[derive(Debug)]
pub(super) struct Standing {
    commit_revision: i64,
    pub(super) rule: InForce,
}

/// What changes a view's overlays: who, when, and what.
struct Change<'a> {
    view: &'a ViewName,
    author: &'a str,
    reason: &'a str,
    at: Timestamp,
    request: Option<(&'a RequestKey, Known)>,
    commits: &'a [Overlay],
    contents: Packed,
    /// Commit revision and id of each that ends.
    ends: Vec<(i64, OverlayId)>,
    /// Set afterwards, at the last revision.
    pin: Option<&'a Pin>,
    /// The plan of each commit, where it was planned so.
    plans: &'a [PlanId],
}

impl Writer {
    pub(super) async fn commit_overlays(
        &mut self,
        packed: PackedCommit,
    ) -> Result<Committed, Failure> {
        let PackedCommit { commit, contents } = packed;
        let mut head = self.head(&commit.session).await?;
        let scope = Scope::Session(head.key);
        if let Some(known) = self.known::<Known>(scope, commit.request.as_ref()).await? {
            let committed = self.known_commit(&commit.session, known).await?;
            self.heads.put(&commit.session, head);
            return Ok(committed);
        }
        let ends = match self.check_commit(&head, &commit).await {
            Ok(ends) => ends,
            Err(failure) => {
                self.heads.put(&commit.session, head);
                return Err(failure);
            }
        };
        if commit.overlays.is_empty() && ends.is_empty() {
            let revision = head.revision;
            self.heads.put(&commit.session, head);
            return Ok(Committed { overlays: Vec::new(), revision, replayed: false });
        }
        let overlays = committed(&commit, head.revision);
        let changes = overlays.len() + ends.len();
        let last = head.revision.0 + i64::try_from(changes).unwrap_or(i64::MAX);
        let ids = overlays.iter().map(|it| it.id.to_string()).collect();
        let change = Change {
            view: &commit.view,
            author: &commit.author,
            reason: Rollback::SUPERSEDED,
            at: commit.at,
            request: commit.request.as_ref().map(|it| (it, (ids, last))),
            commits: &overlays,
            contents,
            ends,
            pin: None,
            plans: match &commit.planned_on {
                PlannedOn::View(_) => &[],
                PlannedOn::Plans(plans) => plans,
            },
        };
        self.change_overlays(&mut head, change).await?;
        let revision = head.revision;
        self.heads.put(&commit.session, head);
        Ok(Committed { overlays, revision, replayed: false })
    }

    async fn known_commit(
        &mut self,
        session: &SessionRef,
        (ids, revision): Known,
    ) -> Result<Committed, Failure> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let overlays = read::get_overlays(&mut self.conn, session, &ids).await?;
        Ok(Committed { overlays, revision: Revision(revision), replayed: true })
    }

    /// Checks a commit; returns where the overlays stand that it supersedes.
    async fn check_commit(
        &mut self,
        head: &Head,
        commit: &CommitOverlays,
    ) -> Result<Vec<(i64, OverlayId)>, Failure> {
        let reduced_at = self.reduced_at(head, &commit.view).await?;
        let in_force = self.in_force(head.key, &commit.view).await?;
        match &commit.planned_on {
            PlannedOn::View(planned_at) => check_planned_at(*planned_at, reduced_at, &in_force)?,
            PlannedOn::Plans(plans) => self.check_plans(commit, plans, &in_force).await?,
        }
        let mut ends = Vec::with_capacity(commit.supersedes.len());
        for id in &commit.supersedes {
            let Some(standing) = in_force.iter().find(|it| it.rule.id == *id) else {
                self.overlay_in_force(head, &commit.session, id).await?;
                // It is, in another view.
                return Err(Error::NotFound(Entity::Overlay(id.to_string())).into());
            };
            ends.push((standing.commit_revision, id.clone()));
        }
        let rules = in_force.into_iter().map(|it| it.rule).collect();
        rules::check_ranges(&commit.overlays, &commit.supersedes, rules)?;
        Ok(ends)
    }

    pub(super) async fn roll_back(
        &mut self,
        rollback: RollbackOverlay,
    ) -> Result<RolledBack, Failure> {
        let session = rollback.session.clone();
        let mut head = self.head(&session).await?;
        let done = self.end_overlay(&mut head, rollback).await;
        self.put_back(&session, head, &done);
        done
    }

    async fn end_overlay(
        &mut self,
        head: &mut Head,
        rollback: RollbackOverlay,
    ) -> Result<RolledBack, Failure> {
        let overlay = self.overlay_in_force(head, &rollback.session, &rollback.overlay).await?;
        let mut in_force = self.in_force(head.key, &overlay.view).await?;
        in_force.retain(|it| it.rule.id != overlay.id);
        let rules: Vec<InForce> = in_force.iter().map(|it| it.rule.clone()).collect();
        let mut ends = vec![(overlay.commit_revision.0, overlay.id.clone())];
        if rollback.clears_too && overlay.is_range() {
            let inside = rules::clears_inside(&overlay.covered, &rules);
            let standing = in_force.iter().filter(|it| inside.contains(&it.rule.id));
            ends.extend(standing.map(|it| (it.commit_revision, it.rule.id.clone())));
        }
        let first = head.revision.next();
        let mut pin = rules::pin_beside(&rollback, &overlay.view);
        if let Some(pin) = &mut pin {
            pin.since =
                Revision(head.revision.0 + i64::try_from(ends.len()).unwrap_or(i64::MAX)).next();
        }
        let change = Change {
            view: &overlay.view,
            author: &rollback.author,
            reason: &rollback.reason,
            at: rollback.at,
            request: None,
            commits: &[],
            contents: Packed::default(),
            ends,
            pin: pin.as_ref(),
            plans: &[],
        };
        self.change_overlays(head, change).await?;
        let end = Rollback {
            revision: first,
            time: rules::kept(rollback.at),
            author: rollback.author,
            reason: rollback.reason,
        };
        Ok(RolledBack {
            hidden_by: rules::hidden_by(&overlay.covered, &rules),
            overlay: Overlay { rollback: Some(end), ..overlay },
            revision: head.revision,
            pin,
        })
    }

    /// An overlay, where it is there, of a view that is, and in force.
    async fn overlay_in_force(
        &mut self,
        head: &Head,
        session: &SessionRef,
        id: &OverlayId,
    ) -> Result<Overlay, Failure> {
        let mut found = read::get_overlays(&mut self.conn, session, &[id.as_str()]).await?;
        let overlay =
            found.pop().ok_or_else(|| Error::NotFound(Entity::Overlay(id.to_string())))?;
        if overlay.commit_revision <= self.deleted_at(head, &overlay.view).await? {
            return Err(Error::NotFound(Entity::View(overlay.view.to_string())).into());
        }
        match &overlay.rollback {
            Some(end) => Err(Error::AlreadyRolledBack(end.revision).into()),
            None => Ok(overlay),
        }
    }

    /// A view's overlays in force, by commit revision.
    pub(super) async fn in_force(
        &mut self,
        key: i64,
        view: &ViewName,
    ) -> Result<Vec<Standing>, Failure> {
        let rows: Vec<(i64, String, i32, String, String)> =
            sqlx::query_as(statements::OVERLAYS_IN_FORCE)
                .bind(key)
                .bind(view.as_str())
                .fetch_all(&mut self.conn)
                .await?;
        let standing = |(commit_revision, id, kind, covered, kept): (i64, String, i32, _, _)| {
            let bad = |column| Error::Corrupt { table: "overlays", column, row: commit_revision };
            let rows = |text: String, column| -> Result<RowSet, Error> {
                values::ranges_from(&text).ok_or_else(|| bad(column))
            };
            let kind = kind_from_pb(kind).map_err(|_| bad("kind"))?;
            let rule = InForce {
                id: OverlayId::new(&id),
                is_range: kind != OverlayKind::Clear,
                covered: rows(covered, "covered")?,
                kept: rows(kept, "kept")?,
            };
            Ok(Standing { commit_revision, rule })
        };
        rows.into_iter().map(standing).collect()
    }

    /// Writes a change; each overlay that comes or goes is a revision, and so is
    /// the pin.
    async fn change_overlays(
        &mut self,
        head: &mut Head,
        mut change: Change<'_>,
    ) -> Result<(), Failure> {
        let rows = overlay_rows(change.commits, &mut change.contents, &mut self.last_content);
        let mut revisions = Vec::new();
        let mut ends = Vec::new();
        for overlay in change.commits {
            revisions.push((head.next_revision().0, COMMITTED, overlay.id.to_string()));
        }
        for (commit_revision, id) in &change.ends {
            let revision = head.next_revision().0;
            ends.push((*commit_revision, revision));
            revisions.push((revision, ROLLED_BACK, id.to_string()));
        }
        let pin = change.pin.map(|it| (it.id.as_str(), it.rows.first.0, it.rows.last.0));
        if let Some(pin) = change.pin {
            revisions.push((head.next_revision().0, PINNED, pin.id.to_string()));
        }
        let plans: Vec<(&str, &str)> = change
            .plans
            .iter()
            .zip(change.commits)
            .map(|(plan, overlay)| (plan.as_str(), overlay.id.as_str()))
            .collect();
        let request = change.request.as_ref();
        let statement = sqlx::query(statements::CHANGE_OVERLAYS)
            .bind(head.key)
            .bind(head.revision.0)
            .bind(micros(change.at))
            .bind(change.author)
            .bind(change.view.as_str())
            .bind(rows)
            .bind(change.contents.bytes)
            .bind(json(&ends))
            .bind(change.reason)
            .bind(json(&revisions))
            .bind(head.next_seq().0)
            .bind(request.map(|(it, _)| it.id.as_str()))
            .bind(request.map(|(it, _)| it.digest.as_slice()))
            .bind(request.map(|(_, known)| json(known)))
            .bind(json(&pin.into_iter().collect::<Vec<_>>()))
            .bind(json(&plans));
        self.write(statement).await
    }
}

/// Checks that a view's reductions are as they were; its overlays in force tell
/// what came meanwhile.
pub(super) fn check_planned_at(
    planned_at: Revision,
    reduced_at: Revision,
    in_force: &[Standing],
) -> Result<(), Error> {
    if reduced_at == planned_at {
        return Ok(());
    }
    let came = in_force.last().filter(|it| it.commit_revision > planned_at.0);
    Err(Error::PlanOutdated { overlay: came.map(|it| it.rule.id.clone()) })
}
