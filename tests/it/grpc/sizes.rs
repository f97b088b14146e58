//! How large things may be.

use concertina::proto::v1::{ContentRef, Role};
use tonic::Code;

use super::support::{append, appending, history, message, result, seqs, told, user, with_session};

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn r1_messages_above_a_stock_limit_are_stored_and_named_in_a_history() {
    let (_server, mut client) = with_session().await;
    for (seq, size) in [(1, 4 * MIB + 1), (2, 6 * MIB)] {
        let large = message(Role::User, vec![result("c", vec![b'x'; size])]);
        append(&mut client, vec![large]).await;
        let row = history(&mut client).await.pop().unwrap();
        assert_eq!(row.elided, [ContentRef { seq, block: 0, output: Some(0) }]);
    }
}

#[tokio::test]
async fn r1_a_message_above_the_limit_is_refused_and_the_connection_goes_on() {
    let (_server, mut client) = with_session().await;
    let large = message(Role::User, vec![result("c", vec![b'x'; 32 * MIB])]);
    let refused = told(client.append_turn(appending(vec![user("x"), large])).await);
    assert_eq!((refused.code, &*refused.reason), (Code::ResourceExhausted, "MESSAGE_TOO_LARGE"));
    assert_eq!(refused.metadata["limit"], (32 * MIB).to_string());
    assert!(refused.metadata["size"].parse::<usize>().unwrap() > 32 * MIB);
    assert_eq!(seqs(&history(&mut client).await), [0; 0], "nothing was written");
    assert_eq!(append(&mut client, vec![user("small")]).await.first_seq, 1);
}

#[tokio::test]
async fn r1_a_request_above_the_limit_is_refused_and_the_connection_goes_on() {
    let (_server, mut client) = with_session().await;
    let third = || message(Role::User, vec![result("c", vec![b'x'; 22 * MIB])]);
    let refused = told(client.append_turn(appending(vec![third(), third(), third()])).await);
    assert_eq!((refused.code, &*refused.reason), (Code::ResourceExhausted, "MESSAGE_TOO_LARGE"));
    let mut keys: Vec<_> = refused.metadata.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["limit", "size"]);
    assert_eq!(append(&mut client, vec![user("small")]).await.first_seq, 1);
}
