//! Limiter arithmetic against oracles that keep every start, and by the numbers of the scenarios.

#[cfg(test)]
mod changes;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod styles;
