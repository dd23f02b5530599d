//! R80–R86: workers whose store fails, by theme.

mod declared_dead;
mod flaky;
mod jobs;
mod outages;
mod refused;
mod unanswered;
