//! The secret behind hashed fields of keys (R35).

use sqlx::Row;

use super::Inner;
use super::error::SqliteError;
use super::statements::KEY_SECRET;
use crate::error::StoreError;

impl Inner {
    pub(super) async fn agree_on_key_secret(&self, fingerprint: String) -> Result<(), StoreError> {
        let mut session = self.writer.begin().await?;
        let rows = session
            .rows(sqlx::query(KEY_SECRET).bind(fingerprint))
            .await?;
        session.commit().await?;
        let is_kept = rows.first().map_or(Ok(false), |row| row.try_get(0));
        if is_kept.map_err(|error| SqliteError::of(&self.file, error))? {
            Ok(())
        } else {
            Err(StoreError::OtherKeySecret)
        }
    }
}
