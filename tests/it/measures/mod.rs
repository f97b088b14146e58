//! What `cargo bench --bench corpus` measures with: what counts as a fact, as
//! named, and as cached.

#[path = "../../../benches/corpus/cache.rs"]
#[expect(dead_code, reason = "the bench adds sessions up")]
mod cache;
mod costs;
mod facts;
#[path = "../../../benches/corpus/named.rs"]
mod named;
#[path = "../../../benches/corpus/numbers.rs"]
mod numbers;
#[path = "../../../benches/corpus/oracle.rs"]
mod oracle;
#[path = "../../../benches/corpus/simple.rs"]
mod simple;
#[path = "../../../benches/corpus/wire.rs"]
#[expect(dead_code, reason = "the bench reads contexts")]
mod wire;
