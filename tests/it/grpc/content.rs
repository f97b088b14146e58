//! Reading back what a projection shortens.

use concertina::proto::v1::{self as pb, Role};

use super::support::{Sessions, append, call, is_wrong, message, result, with_session};

struct Read {
    bytes: Vec<u8>,
    media_type: String,
    total_bytes: i64,
    largest: usize,
}

async fn read(
    client: &mut Sessions,
    content: pb::ContentRef,
    offset: i64,
    limit: i64,
) -> Result<Read, tonic::Status> {
    let request =
        pb::ReadContentRequest { session_id: "s".into(), content: Some(content), offset, limit };
    let mut stream = client.read_content(request).await?.into_inner();
    let mut read =
        Read { bytes: Vec::new(), media_type: String::new(), total_bytes: 0, largest: 0 };
    while let Some(chunk) = stream.message().await? {
        read.largest = read.largest.max(chunk.chunk.len());
        read.bytes.extend_from_slice(&chunk.chunk);
        if read.total_bytes == 0 {
            (read.media_type, read.total_bytes) = (chunk.media_type, chunk.total_bytes);
        }
    }
    Ok(read)
}

#[tokio::test]
async fn r1_large_content_comes_in_chunks_that_every_client_takes() {
    let (_server, mut client) = with_session().await;
    let large: Vec<u8> = (0..6 * 1024 * 1024_u32).map(|it| b'a' + (it % 26) as u8).collect();
    let messages = vec![
        message(Role::Assistant, vec![call("c", r#"{"a": 1}"#)]),
        message(Role::User, vec![result("c", large.clone())]),
    ];
    append(&mut client, messages).await;
    let whole = pb::ContentRef { seq: 2, block: 0, output: None };
    let got = read(&mut client, whole, 0, 0).await.unwrap();
    assert_eq!((got.largest, got.total_bytes), (256 * 1024, 6 * 1024 * 1024));
    assert_eq!(got.media_type, "text/plain; charset=utf-8");
    assert!(got.bytes == large, "the bytes differ");
    let output = pb::ContentRef { output: Some(0), ..whole };
    let got = read(&mut client, output, 1_000_000, 10).await.unwrap();
    assert_eq!(got.bytes, large[1_000_000..1_000_010]);
    let input = pb::ContentRef { seq: 1, block: 0, output: None };
    let got = read(&mut client, input, 0, 0).await.unwrap();
    assert_eq!((&*got.bytes, &*got.media_type), (&b"{\"a\": 1}"[..], "application/json"));
}

#[tokio::test]
async fn an_offset_lies_within_the_content() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![message(Role::User, vec![result("c", "abc")])]).await;
    let content = pb::ContentRef { seq: 1, block: 0, output: None };
    let end = read(&mut client, content, 3, 0).await.unwrap();
    assert_eq!((end.bytes.len(), end.total_bytes), (0, 3));
    is_wrong(read(&mut client, content, 4, 0).await.map(|it| it.bytes), &["offset"]);
    is_wrong(read(&mut client, content, -1, 0).await.map(|it| it.bytes), &["offset"]);
    is_wrong(read(&mut client, content, 0, -1).await.map(|it| it.bytes), &["limit"]);
}
