//! What every use case needs.

use std::sync::Arc;

use super::{Background, Factors, InFlight, Limits, Live, Result, factors};
use crate::{
    clock::{Clock, SystemClock},
    id::{IdSource, UuidSource},
    policies::Presets,
    store::Store,
    summary::{Extractive, Summarizer},
    tokens::Models,
};

/// The store, the time, new ids, and what the server was configured with. A
/// clone is the same: work that goes on by itself holds one.
#[derive(Clone)]
pub struct Ctx {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// The policies there are by name.
    pub presets: &'static Presets,
    /// The models there are by name.
    pub models: Arc<Models>,
    /// What is kept of sessions in memory.
    pub live: Arc<Live>,
    /// The calibration factors in memory.
    pub factors: Arc<Factors>,
    /// Who writes summaries.
    pub summarizer: Arc<dyn Summarizer>,
    /// What is being collapsed in the background.
    pub background: Arc<Background>,
    /// Requests that take long and are under way.
    pub in_flight: Arc<InFlight>,
    /// How much a client may send.
    pub limits: Limits,
    /// The preset of a view that names none.
    pub default_preset: String,
}

impl Ctx {
    /// Over `store`, with the machine's clock and everything else as it ships.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidSource),
            presets: Presets::embedded(),
            // The embedded table alone; a test of `tokens` holds that it can be read.
            models: Arc::new(Models::over_embedded("").unwrap_or_default()),
            live: Arc::default(),
            factors: Arc::default(),
            summarizer: Arc::new(Extractive),
            background: Arc::default(),
            in_flight: Arc::default(),
            limits: Limits::default(),
            default_preset: "default".to_owned(),
        }
    }

    /// The window of the model of that name; `None` where it is not known.
    #[must_use]
    pub fn window_of(&self, name: &str) -> Option<i64> {
        self.models.find(name).map(|it| it.context_window)
    }

    /// The factor between our count and the provider's: learned, or the one
    /// that the model starts with.
    ///
    /// # Errors
    ///
    /// Only those of the store.
    pub async fn factor_of(&self, namespace: &str, name: &str) -> Result<f64> {
        factors::factor(self, namespace, name).await
    }
}
