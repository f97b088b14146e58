//! What every server of gRPC is asked: health, reflection, and an end.

use tonic::Code;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::{v1, v1alpha};

use super::support::{TestServer, append, create, history, seqs, user};

const SERVICES: [&str; 3] = [
    "concertina.v1.SessionService",
    "concertina.v1.CollapseService",
    "concertina.v1.TranscriptService",
];

#[tokio::test]
async fn a_server_that_takes_traffic_says_so() {
    let server = TestServer::start().await;
    let mut client = HealthClient::new(server.channel().await);
    // The store is asked once the server listens.
    let request = HealthCheckRequest { service: String::new() };
    let mut changes = client.watch(request).await.unwrap().into_inner();
    while changes.message().await.unwrap().unwrap().status() != ServingStatus::Serving {}
    for service in SERVICES {
        let request = HealthCheckRequest { service: service.into() };
        let mut changes = client.watch(request).await.unwrap().into_inner();
        while changes.message().await.unwrap().unwrap().status() != ServingStatus::Serving {}
    }
    let request = HealthCheckRequest { service: "nobody".into() };
    assert_eq!(client.check(request).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn reflection_of_both_ages_lists_the_services() {
    let server = TestServer::start().await;
    let channel = server.channel().await;

    let mut client = v1::server_reflection_client::ServerReflectionClient::new(channel.clone());
    let request = v1::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(v1::server_reflection_request::MessageRequest::ListServices(
            String::new(),
        )),
    };
    let answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let Some(v1::server_reflection_response::MessageResponse::ListServicesResponse(listed)) =
        answer.message_response
    else {
        panic!("no list")
    };
    let names: Vec<_> = listed.service.into_iter().map(|it| it.name).collect();
    assert!(SERVICES.iter().all(|it| names.iter().any(|name| name == it)), "{names:?}");

    let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(channel);
    let request = v1alpha::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(
            v1alpha::server_reflection_request::MessageRequest::FileContainingSymbol(
                SERVICES[0].to_owned(),
            ),
        ),
    };
    let answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    assert!(matches!(
        answer.message_response,
        Some(v1alpha::server_reflection_response::MessageResponse::FileDescriptorResponse(_))
    ));
}

#[tokio::test]
async fn i9_what_was_acknowledged_is_there_after_a_restart() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    create(&mut client, "s").await;
    append(&mut client, vec![user("one"), user("two")]).await;
    let before = history(&mut client).await;
    let server = server.restart().await;
    let mut client = server.client().await;
    assert_eq!(history(&mut client).await, before);
    assert_eq!(append(&mut client, vec![user("three")]).await.first_seq, 3);
    assert_eq!(seqs(&history(&mut client).await), [1, 2, 3]);
}
