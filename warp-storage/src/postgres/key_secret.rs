//! The secret behind hashed fields of keys (R35).

use sqlx::Row;

use super::Inner;
use super::error::PostgresError;
use super::session::statement;
use crate::error::StoreError;

impl Inner {
    pub(super) async fn agree_on_key_secret(&self, fingerprint: String) -> Result<(), StoreError> {
        let keep = || statement(&self.statements.key_secret).bind(fingerprint.clone());
        let rows = self.rows(keep).await?;
        let is_kept = rows.first().map_or(Ok(false), |row| row.try_get(0));
        if is_kept.map_err(|error| PostgresError::of(&self.place, error))? {
            Ok(())
        } else {
            Err(StoreError::OtherKeySecret)
        }
    }
}
