//! The layouts that a summary may have.

/// A summary's layout, by the name that policies spell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Template {
    /// A heading and four parts: tasks, files, state, what is pending.
    FourParts,
    /// The four parts, led by the turns that they are about.
    FourPartsAndRange,
    /// A running text for every turn.
    Turns,
    /// One running text.
    Span,
    /// One line.
    OneLine,
    /// Overview, decisions, files, pending tasks, context to go on.
    FivePartsDecisions,
    /// Goal, findings, files, remaining work, constraints.
    FivePartsGoal,
    /// Both of the five parts.
    AllParts,
    /// Nine parts.
    NineParts,
    /// As its writer likes.
    Free,
}

impl Template {
    /// Those of a collapse.
    pub const COLLAPSE: [Self; 5] =
        [Self::FourParts, Self::FourPartsAndRange, Self::Turns, Self::Span, Self::OneLine];
    /// Those of an auto-compact.
    pub const COMPACT: [Self; 5] = [
        Self::FivePartsDecisions,
        Self::FivePartsGoal,
        Self::AllParts,
        Self::NineParts,
        Self::Free,
    ];

    /// Its name, as a policy spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FourParts => "four_parts",
            Self::FourPartsAndRange => "four_parts_and_range",
            Self::Turns => "turns",
            Self::Span => "span",
            Self::OneLine => "one_line",
            Self::FivePartsDecisions => "five_parts_decisions",
            Self::FivePartsGoal => "five_parts_goal",
            Self::AllParts => "all_parts",
            Self::NineParts => "nine_parts",
            Self::Free => "free",
        }
    }

    /// The layout of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::COLLAPSE.into_iter().chain(Self::COMPACT).find(|it| it.name() == name)
    }
}
