//! Slots of a mutex, a semaphore or a throttle.

/// How many of `limit` slots are free while `used` are held: none where a lowered limit is below what runs (R53).
pub const fn free_slots(limit: u32, used: u32) -> u32 {
    limit.saturating_sub(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R53: "free" reads 0 above the limit, not a negative or a huge number.
    #[test]
    fn over_the_limit_nothing_is_free() {
        assert_eq!(free_slots(10, 8), 2);
        assert_eq!(free_slots(3, 3), 0);
        assert_eq!(free_slots(3, 8), 0);
        assert_eq!(free_slots(0, u32::MAX), 0);
    }
}
