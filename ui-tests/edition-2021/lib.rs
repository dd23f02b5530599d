//! What a user of the edition 2021 writes stands in `tests/`.
