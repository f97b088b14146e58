//! The calibration factors in memory: read from the store once per namespace,
//! written through.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use super::{Ctx, Result};
use crate::tokens;

/// Learned factors, by namespace and model.
#[derive(Debug, Default)]
pub struct Factors {
    learned: RwLock<HashMap<String, HashMap<String, f64>>>,
}

enum Known {
    /// The namespace was not read from the store yet.
    NotRead,
    /// It has no factor for the model.
    NotLearned,
    Learned(f64),
}

impl Factors {
    fn find(&self, namespace: &str, model: &str) -> Known {
        let learned = self.learned.read().unwrap_or_else(PoisonError::into_inner);
        match learned.get(namespace).map(|models| models.get(model)) {
            None => Known::NotRead,
            Some(None) => Known::NotLearned,
            Some(Some(factor)) => Known::Learned(*factor),
        }
    }
}

/// The factor between the estimate and what the provider of `model` counts:
/// learned, or the one that the model starts with.
pub(super) async fn factor(ctx: &Ctx, namespace: &str, model: &str) -> Result<f64> {
    let starting = || ctx.models.find(model).map_or(1.0, |it| it.starting_factor);
    match ctx.factors.find(namespace, model) {
        Known::Learned(factor) => return Ok(factor),
        Known::NotLearned => return Ok(starting()),
        Known::NotRead => {}
    }
    let stored: HashMap<String, f64> =
        ctx.store.calibrations(namespace).await?.into_iter().collect();
    let mut learned = ctx.factors.learned.write().unwrap_or_else(PoisonError::into_inner);
    let models = learned.entry(namespace.to_owned()).or_insert(stored);
    Ok(models.get(model).copied().unwrap_or_else(starting))
}

/// Learns from what a provider reported for a context of `estimated` tokens.
pub(super) async fn learn(
    ctx: &Ctx,
    namespace: &str,
    model: &str,
    estimated: i64,
    reported: i64,
) -> Result<()> {
    let current = factor(ctx, namespace, model).await?;
    let learned = tokens::learn(current, estimated, reported);
    if (learned - current).abs() < 1e-9 {
        return Ok(());
    }
    ctx.store.set_calibration(namespace, model, learned).await?;
    let mut all = ctx.factors.learned.write().unwrap_or_else(PoisonError::into_inner);
    all.entry(namespace.to_owned()).or_default().insert(model.to_owned(), learned);
    Ok(())
}
