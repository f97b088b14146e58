//! What every server of gRPC is asked: health, reflection, and an end.

use std::time::Duration;

use concertina::{
    config::Config,
    grpc::{self, StartError},
    store::sqlite::OpenError,
};
use tonic::{Code, transport::Channel};
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

#[tokio::test]
async fn a_folder_that_a_server_uses_is_refused() {
    let server = TestServer::start().await;
    let refused = server.second().await;
    assert!(matches!(refused, Err(StartError::Store(OpenError::InUse(_)))), "{refused:?}");
}

#[tokio::test]
async fn an_address_that_is_taken_is_refused_and_the_folder_stays_free() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dir = tempfile::TempDir::new().unwrap();
    let mut config = Config { data: dir.path().to_owned(), ..Config::default() };
    config.listen = taken.local_addr().unwrap();
    let refused = grpc::start(&config).await;
    assert!(matches!(refused, Err(StartError::Listen(..))), "{refused:?}");
    drop(taken);
    grpc::start(&config).await.unwrap().stop().await.unwrap();
}

#[tokio::test]
async fn a_table_of_models_of_ones_own_goes_before_the_embedded_one() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut config = Config { data: dir.path().join("data"), ..Config::default() };
    config.listen.set_port(0);
    config.models = Some(dir.path().join("models.toml"));
    assert!(matches!(grpc::start(&config).await, Err(StartError::ModelsFile(..))));
    std::fs::write(dir.path().join("models.toml"), "colour = 1").unwrap();
    assert!(matches!(grpc::start(&config).await, Err(StartError::Models(..))));
}

#[tokio::test]
async fn a_server_that_stops_says_so_and_does_not_wait_for_ever() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut config = Config { data: dir.path().to_owned(), ..Config::default() };
    config.listen.set_port(0);
    config.drain = Duration::from_millis(50);
    let running = grpc::start(&config).await.unwrap();
    let address = running.address();
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    let mut client = HealthClient::new(channel.connect().await.unwrap());
    let request = HealthCheckRequest { service: SERVICES[0].into() };
    let mut changes = client.watch(request).await.unwrap().into_inner();
    while changes.message().await.unwrap().unwrap().status() != ServingStatus::Serving {}
    // The stream above is never closed by its reader.
    running.stop().await.unwrap();
    let last = changes.message().await.unwrap().unwrap();
    assert_eq!(last.status(), ServingStatus::NotServing);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    // The store was closed: its folder is free.
    grpc::start(&config).await.unwrap().stop().await.unwrap();
}
