//! Whether the server takes traffic, as the standard health service tells it.

use std::{sync::Arc, time::Duration};

use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{
    proto::v1::{collapse_service_server, session_service_server, transcript_service_server},
    service::Ctx,
    store::Readiness,
};

/// How often the store is asked whether it is still well.
const PERIOD: Duration = Duration::from_secs(5);

/// The whole server, then each service.
const NAMES: [&str; 4] = [
    "",
    session_service_server::SERVICE_NAME,
    collapse_service_server::SERVICE_NAME,
    transcript_service_server::SERVICE_NAME,
];

/// Sets one status for the server and each service.
pub(super) async fn set(reporter: &HealthReporter, status: ServingStatus) {
    for name in NAMES {
        reporter.set_service_status(name, status).await;
    }
}

/// Asks the store and tells what it says.
pub(super) async fn refresh(reporter: &HealthReporter, ctx: &Ctx) {
    let status = match ctx.store.readiness().await {
        Readiness::Ready => ServingStatus::Serving,
        Readiness::NotReady(reason) => {
            tracing::warn!(reason, "the store takes no traffic");
            ServingStatus::NotServing
        }
    };
    set(reporter, status).await;
}

/// Refreshes for ever.
pub(super) async fn watch(reporter: HealthReporter, ctx: Arc<Ctx>) {
    loop {
        refresh(&reporter, &ctx).await;
        tokio::time::sleep(PERIOD).await;
    }
}
