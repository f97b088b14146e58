//! How full the window is.

/// The parts of a window. All counts are calibrated tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenBudget {
    /// The model's context window, or the lower one that a provider reported.
    pub window: i64,
    /// Context items, and what the caller says it adds.
    pub fixed: i64,
    /// The projected messages.
    pub messages: i64,
    /// Kept free for the answer.
    pub output_reserve: i64,
    /// How full (fixed + messages) / (window − reserve).
    pub pressure: Pressure,
    /// False from the policy's spawn ratio on.
    pub spawn_allowed: bool,
    /// The factor that is already in these counts.
    pub calibration: f64,
    /// All base rows, unreduced.
    pub history: i64,
    /// What fills it.
    pub parts: Vec<BudgetPart>,
}

impl TokenBudget {
    /// window − reserve: what a context may be.
    #[must_use]
    pub fn limit(&self) -> i64 {
        self.window - self.output_reserve
    }

    /// What is still free; never below zero.
    #[must_use]
    pub fn available(&self) -> i64 {
        (self.limit() - self.fixed - self.messages).max(0)
    }

    /// (fixed + messages) / limit.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub fn usage_ratio(&self) -> f64 {
        (self.fixed + self.messages) as f64 / (self.limit().max(1)) as f64
    }
}

/// One of the things that fill a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetPart {
    /// What sort of thing.
    pub kind: PartKind,
    /// A context item's name; empty otherwise.
    pub name: String,
    /// Calibrated tokens.
    pub tokens: i64,
}

/// What sort of thing fills a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartKind {
    /// Items of the system prompt.
    System,
    /// Tool definitions.
    Tools,
    /// Other context items.
    ContextItem,
    /// What the caller adds itself.
    Caller,
    /// Text of user and system messages.
    User,
    /// Text of assistant messages.
    Assistant,
    /// Reasoning.
    Thinking,
    /// Tool calls.
    ToolUse,
    /// Tool results.
    ToolResult,
    /// Pictures.
    Image,
    /// Summaries and markers.
    Summary,
}

/// How full, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pressure {
    /// Below the policy's `elevated`.
    Normal,
    /// From there.
    Elevated,
    /// From the policy's `warning`.
    Warning,
    /// From the policy's `critical`.
    Critical,
}
