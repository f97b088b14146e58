//! Methods that come with their own work.

use concertina::proto::v1 as pb;
use tonic::Code;

use super::support::TestServer;

/// Asks each method with an empty request.
macro_rules! unimplemented {
    ($client:ident: $($method:ident($request:ident)),+ $(,)?) => {
        $(
            let answer = $client.$method(pb::$request::default()).await;
            let code = answer.err().map(|status| status.code());
            assert_eq!(code, Some(Code::Unimplemented), stringify!($method));
        )+
    };
}

#[tokio::test]
async fn methods_of_later_work_say_so() {
    let server = TestServer::start().await;
    let mut sessions = server.client().await;
    unimplemented!(sessions:
        recover_context(RecoverContextRequest),
        search_history(SearchHistoryRequest),
        watch_session(WatchSessionRequest),
    );
    let mut collapses = server.collapses().await;
    unimplemented!(collapses:
        compact_session(CompactSessionRequest),
    );
    let mut transcripts = server.transcripts().await;
    unimplemented!(transcripts:
        list_transcripts(ListTranscriptsRequest),
        get_transcript(GetTranscriptRequest),
        read_transcript(ReadTranscriptRequest),
        verify_transcripts(VerifyTranscriptsRequest),
    );
}
