//! Administration of extended data. The caller checks permission.

use crate::service::{RESERVED_KEY, reserved_key_error};
use crate::{ExtendedDataOwner, ExtendedDataService, ObjectPath, StoredExtendedData};
use civitas_kernel::extended_data::check_size;
use civitas_kernel::records::{check_revision, revision_at};
use civitas_kernel::{Error, OrganizationId, Result};
use serde_json::{Map, Value};
use time::OffsetDateTime;

/// The data of a record before and after a replacement.
#[derive(Debug, Clone, PartialEq)]
pub struct DataReplacement {
    /// Before.
    pub before: Map<String, Value>,
    /// After.
    pub after: Map<String, Value>,
}

impl ExtendedDataService<'_> {
    /// The data of a record, visible or not.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn read_any(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
    ) -> Result<StoredExtendedData> {
        self.store.find_unrestricted(organization, owner).await?.ok_or(Error::NotFound)
    }

    /// Replaces all data of a record, visible or not, by the rules of a write at the root (contract 01 §11.3, steps 5 to
    /// 7): blank values are left out. `seen` is the revision that was read with the data. Data that is the same is not
    /// stored.
    ///
    /// # Errors
    /// `NotFound`; those of [`check_revision`]; `Rejected` for data that has U+0000, is no object, too large or too deep,
    /// and for a pending host of an organization that is not the stored one.
    pub async fn replace(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
        (data, seen): (Value, &str),
        now: OffsetDateTime,
    ) -> Result<DataReplacement> {
        let found = self.store.find_unrestricted_for_update(organization, owner).await?;
        let StoredExtendedData { data: before, updated_at } = found.ok_or(Error::NotFound)?;
        check_revision(Some(seen), &revision_at(updated_at))?;
        if has_nul(&data) {
            let text = "extended_data has the character U+0000";
            return Err(Error::rejected_field("extended_data", "nul", text));
        }
        let after = ObjectPath::root().write(Map::new(), data)?;
        let is_pending =
            matches!(owner, ExtendedDataOwner::Organization(_)) && after.contains_key(RESERVED_KEY);
        if is_pending && after.get(RESERVED_KEY) != before.get(RESERVED_KEY) {
            return Err(reserved_key_error());
        }
        check_size(&after, self.limit)?;
        if after != before {
            let data = StoredExtendedData { data: after.clone(), updated_at: now };
            self.store.save(organization, owner, &data).await?;
        }
        Ok(DataReplacement { before, after })
    }
}

/// Whether a key or a text has U+0000. The interface refuses it with the body.
fn has_nul(data: &Value) -> bool {
    match data {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockExtendedDataStore;
    use civitas_kernel::ProposalId;
    use civitas_kernel::limits::MAX_EXTENDED_DATA_BYTES;
    use serde_json::json;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const READ: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    /// A store with this data, which is saved so many times.
    fn store(data: &Value, saves: usize) -> MockExtendedDataStore {
        let data = data.as_object().cloned().unwrap();
        let mut store = MockExtendedDataStore::new();
        store
            .expect_find_unrestricted_for_update()
            .returning(move |_, _| Ok(Some(StoredExtendedData { data: data.clone(), updated_at: READ })));
        store.expect_save().times(saves).returning(|_, _, stored| {
            assert_eq!(stored.updated_at, NOW);
            Ok(())
        });
        store
    }

    async fn replace(
        owner: ExtendedDataOwner,
        before: Value,
        after: Value,
        saves: usize,
    ) -> Result<DataReplacement> {
        let admin = ExtendedDataService { store: &store(&before, saves), limit: 40 };
        admin.replace(CITY, owner, (after, &revision_at(READ)), NOW).await
    }

    #[tokio::test]
    async fn all_data_is_replaced_without_blank_values() {
        let (before, after) = (json!({"a": 1, "b": 2}), json!({"b": 3, "c": {"d": ""}, "e": [null]}));
        let replaced = replace(ProposalId(7).into(), before, after, 1).await.unwrap();
        assert_eq!(Value::Object(replaced.after), json!({"b": 3, "e": [null]}));
        replace(ProposalId(7).into(), json!({"a": 1}), json!({"a": 1, "b": null}), 0).await.unwrap();
    }

    #[tokio::test]
    async fn data_that_breaks_a_rule_is_not_stored() {
        let refused = async |after| {
            let refused = replace(ProposalId(7).into(), json!({}), after, 0).await;
            refused.unwrap_err().description().into_owned()
        };
        assert_eq!(refused(json!([1])).await, "data must be an object when object_path is \".\"");
        assert_eq!(refused(json!({"a": [{"b\0": 1}]})).await, "extended_data has the character U+0000");
        let large = json!({"a": "x".repeat(40)});
        assert_eq!(refused(large).await, "extended_data exceeds maximum size of 40 bytes");
    }

    #[tokio::test]
    async fn another_write_meanwhile_is_not_overwritten() {
        let store = store(&json!({}), 0);
        let admin = ExtendedDataService { store: &store, limit: MAX_EXTENDED_DATA_BYTES };
        let data = (json!({"a": 1}), revision_at(NOW));
        let refused = admin.replace(CITY, ProposalId(7).into(), (data.0, &data.1), NOW).await;
        assert_eq!(refused.unwrap_err().details()[0].code, "changed_meanwhile");
    }

    #[tokio::test]
    async fn a_pending_host_stays_or_goes_and_does_not_change() {
        let pending = || json!({"unconfirmed_host": "new.example"});
        let same = json!({"unconfirmed_host": "new.example", "a": 1});
        replace(CITY.into(), pending(), same, 1).await.unwrap();
        replace(CITY.into(), pending(), json!({}), 1).await.unwrap();
        let other = replace(CITY.into(), pending(), json!({"unconfirmed_host": "other.example"}), 0).await;
        assert_eq!(other.unwrap_err().description(), "unconfirmed_host is reserved");
        assert!(replace(CITY.into(), json!({}), pending(), 0).await.is_err());
        replace(ProposalId(7).into(), json!({}), pending(), 1).await.unwrap();
    }
}
