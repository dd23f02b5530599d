//! The admission planner, rule by rule, and in a naive store that checks every turn from its own books.
//!
//! The random driver in `random` runs a fixed list of seeds. `ADMISSION_SEEDS=5000` runs more of them, `ADMISSION_SEED=17` only that
//! one; a failure prints its seed and the last steps.

#[cfg(test)]
mod elders;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod model;
#[cfg(test)]
mod order;
#[cfg(test)]
mod random;
#[cfg(test)]
mod rates;
#[cfg(test)]
mod skips;
#[cfg(test)]
mod slots;
#[cfg(test)]
mod words;
#[cfg(test)]
mod yields;
