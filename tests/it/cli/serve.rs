//! `concertina serve`.

use super::support::{Server, concertina, stderr};

#[test]
fn a_server_that_is_told_to_stop_ends_with_0_and_keeps_what_it_acknowledged() {
    let server = Server::start();
    assert!(server.address.starts_with("127.0.0.1:"));
    server.run(&["create", "s"]);
    server.run(&["append", "s", "Keep this."]);
    let (code, folder) = server.terminate();
    assert_eq!(code, Some(0));
    assert_eq!(Server::over(folder).run(&["content", "s", "1", "0"]), "Keep this.");
}

#[test]
fn off_loopback_it_refuses_without_insecure() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_str().expect("a name");
    let assert = concertina(&["serve", "--data", data, "--listen", "0.0.0.0:0"]).assert().code(2);
    assert!(stderr(&assert).contains("--insecure"), "{}", stderr(&assert));
}

#[test]
fn a_second_server_over_the_same_data_is_refused() {
    let server = Server::start();
    let data = server.folder.path().join("data");
    let data = data.to_str().expect("a name");
    let assert = concertina(&["serve", "--data", data, "--listen", "127.0.0.1:0"]).assert().code(1);
    assert!(stderr(&assert).starts_with("error: "), "{}", stderr(&assert));
}
