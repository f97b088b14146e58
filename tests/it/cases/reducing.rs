//! Collapsing within a conversation, and what is left of it.

use std::time::Duration;

use concertina::{
    proto::v1::{self as pb, WireFormat, overlay::Kind},
    tokens::MESSAGE_TOKENS,
};
use tonic::Status;

use super::support::{Talk, asking, assistant, text};
use crate::projection::support::of_tokens;

pub(crate) fn range(first_seq: i64, last_seq: i64) -> pb::SeqRange {
    pb::SeqRange { first_seq, last_seq }
}

pub(crate) fn preparing(first: i64, last: i64) -> pb::PrepareCollapseRequest {
    pb::PrepareCollapseRequest {
        session_id: "s".into(),
        rows: Some(range(first, last)),
        kind: Kind::Collapse.into(),
        ..Default::default()
    }
}

impl Talk {
    /// Turns whose answers have about so many tokens.
    pub(crate) async fn turns(&mut self, count: usize, tokens: i64) {
        for nth in 1..=count {
            self.exchange(&format!("Do part {nth} of it now."), &of_tokens(tokens)).await;
        }
    }

    /// An answer after which the view has exactly so many tokens.
    pub(crate) async fn fill_to(&mut self, tokens: i64) -> pb::TokenBudget {
        let now = self.context(WireFormat::OpenaiChat).await.budget.unwrap();
        assert!((now.calibration - 1.0).abs() < 1e-9, "{now:?}");
        let more = tokens - now.fixed - now.messages - MESSAGE_TOKENS;
        let answer = self.say(vec![assistant(vec![text(&of_tokens(more))])]).await;
        let budget = answer.budget.unwrap();
        assert_eq!(budget.fixed + budget.messages, tokens);
        budget
    }

    pub(crate) async fn collapse(&mut self, first: i64, last: i64) -> Result<pb::Overlay, Status> {
        let request = pb::CreateCollapseRequest {
            session_id: "s".into(),
            rows: Some(range(first, last)),
            ..Default::default()
        };
        Ok(self.overlays.create_collapse(request).await?.into_inner().overlay.unwrap())
    }

    pub(crate) async fn prepare(
        &mut self,
        first: i64,
        last: i64,
    ) -> Result<pb::PrepareCollapseResponse, Status> {
        Ok(self.overlays.prepare_collapse(preparing(first, last)).await?.into_inner())
    }

    pub(crate) async fn commit(
        &mut self,
        plan: &pb::PrepareCollapseResponse,
        summary: &str,
    ) -> Result<pb::Overlay, Status> {
        let request = pb::CommitCollapseRequest {
            session_id: "s".into(),
            plan_id: plan.plan_id.clone(),
            summary: summary.into(),
            ..Default::default()
        };
        Ok(self.overlays.commit_collapse(request).await?.into_inner().overlay.unwrap())
    }

    pub(crate) async fn roll_back(&mut self, id: &str) -> pb::RollbackOverlayResponse {
        let request = pb::RollbackOverlayRequest {
            session_id: "s".into(),
            overlay_id: id.into(),
            ..Default::default()
        };
        self.overlays.rollback_overlay(request).await.unwrap().into_inner()
    }

    /// Every overlay that a view ever had.
    pub(crate) async fn ever(&mut self, view: &str) -> Vec<pb::Overlay> {
        let request = pb::ListOverlaysRequest {
            session_id: "s".into(),
            view: view.into(),
            include_rolled_back: true,
            ..Default::default()
        };
        self.overlays.list_overlays(request).await.unwrap().into_inner().overlays
    }

    pub(crate) async fn revision(&mut self) -> i64 {
        let request = pb::GetSessionRequest { session_id: "s".into(), ..Default::default() };
        self.client.get_session(request).await.unwrap().into_inner().session.unwrap().revision
    }

    /// What a context that was asked for comes to once nothing is under way.
    pub(crate) async fn settled(&mut self, request: pb::GetContextRequest) -> pb::Context {
        let looking = async {
            loop {
                let context = self.try_context(request.clone()).await.unwrap();
                if !context.reduction_pending {
                    return context;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(2), looking).await.expect("it comes to rest")
    }

    /// The main view at rest.
    pub(crate) async fn at_rest(&mut self) -> pb::Context {
        self.settled(asking(WireFormat::OpenaiChat)).await
    }
}

pub(crate) fn stage<'a>(context: &'a pb::Context, name: &str) -> &'a pb::StageReport {
    context.stages.iter().find(|it| it.stage == name).unwrap()
}

pub(crate) fn used(context: &pb::Context) -> i64 {
    let budget = context.budget.as_ref().unwrap();
    budget.fixed + budget.messages
}

/// The overlays of a stage that are in force.
pub(crate) fn made_by<'a>(ever: &'a [pb::Overlay], stage: &str) -> Vec<&'a pb::Overlay> {
    ever.iter().filter(|it| it.stage == stage && it.rollback_revision == 0).collect()
}
