//! Audit. Every method comes with its own work.

use tonic::{Request, Response, Status};

use super::{status::unimplemented, stream::Answers};
use crate::proto::v1 as pb;

/// Serves `TranscriptService`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transcripts;

#[tonic::async_trait]
impl pb::transcript_service_server::TranscriptService for Transcripts {
    type ReadTranscriptStream = Answers<pb::ReadTranscriptResponse>;

    async fn list_transcripts(
        &self,
        _: Request<pb::ListTranscriptsRequest>,
    ) -> Result<Response<pb::ListTranscriptsResponse>, Status> {
        Err(unimplemented())
    }

    async fn get_transcript(
        &self,
        _: Request<pb::GetTranscriptRequest>,
    ) -> Result<Response<pb::GetTranscriptResponse>, Status> {
        Err(unimplemented())
    }

    async fn read_transcript(
        &self,
        _: Request<pb::ReadTranscriptRequest>,
    ) -> Result<Response<Self::ReadTranscriptStream>, Status> {
        Err(unimplemented())
    }

    async fn verify_transcripts(
        &self,
        _: Request<pb::VerifyTranscriptsRequest>,
    ) -> Result<Response<pb::VerifyTranscriptsResponse>, Status> {
        Err(unimplemented())
    }
}
