//! Reading and writing extended data (contract 01 §11.2, §11.3).

use crate::{ExtendedDataKind, ExtendedDataOwner, ExtendedDataStore, ObjectPath, StoredExtendedData};
use async_trait::async_trait;
use civitas_kernel::extended_data::{check_size, is_blank};
use civitas_kernel::{Access, Command, CommandHandler, Ctx, Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The key in an organization's data while a change of its host is pending (contract 03 §1.4).
pub(crate) const RESERVED_KEY: &str = "unconfirmed_host";

/// Writes at a path of a record's extended data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SetExtendedData<K: ExtendedDataKind> {
    /// The record.
    pub id: K::Id,
    /// The path.
    pub path: ObjectPath,
    /// The value.
    pub data: Value,
}

impl<K: ExtendedDataKind> Command for SetExtendedData<K> {
    const KEY: &'static str = K::KEY;
    const NAME: &'static str = K::NAME;
    const ACCESS: Access = K::UPDATE;
    /// The value at the path after the write.
    type Output = Value;
}

/// Reads and writes extended data; writes need the store of a transaction.
pub struct ExtendedDataService<'a> {
    /// The store.
    pub store: &'a dyn ExtendedDataStore,
    /// The most one record may have, in bytes of compact JSON.
    pub limit: usize,
}

impl ExtendedDataService<'_> {
    /// The value at a path, `{}` without one, and the time of the last change of the record.
    ///
    /// # Errors
    /// `Forbidden`, also for another organization than that of the host; the user checks; `NotFound` for a record that
    /// does not exist or is not visible.
    pub async fn read<K: ExtendedDataKind>(
        &self,
        ctx: &Ctx,
        id: K::Id,
        path: &ObjectPath,
    ) -> Result<(Value, StoredExtendedData)> {
        ctx.require(&K::READ)?;
        let kept = self.find(ctx, id.into()).await?;
        Ok((path.read(&kept.data), kept))
    }

    async fn find(&self, ctx: &Ctx, owner: ExtendedDataOwner) -> Result<StoredExtendedData> {
        check_organization(ctx, owner)?;
        self.store.find(ctx.read_context(), owner).await?.ok_or(Error::NotFound)
    }
}

#[async_trait]
impl<K: ExtendedDataKind> CommandHandler<SetExtendedData<K>> for ExtendedDataService<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &SetExtendedData<K>) -> Result<()> {
        ctx.require(&K::UPDATE)?;
        self.find(ctx, command.id.into()).await.map(drop)
    }

    async fn precheck(&self, ctx: &Ctx, command: &SetExtendedData<K>) -> Result<()> {
        ctx.require(&K::UPDATE)?;
        check_organization(ctx, command.id.into())
    }

    async fn handle(&self, ctx: &Ctx, command: SetExtendedData<K>) -> Result<Value> {
        ctx.require(&K::UPDATE)?;
        let SetExtendedData { id, path, data } = command;
        let owner: ExtendedDataOwner = id.into();
        check_organization(ctx, owner)?;
        let kept = self.store.find_for_update(ctx.read_context(), owner).await?.ok_or(Error::NotFound)?;
        if let ExtendedDataOwner::Organization(_) = owner {
            spares_reserved(&path, &data)?;
        }
        let data = path.write(kept.data, data)?;
        check_size(&data, self.limit)?;
        let answer = path.read(&data);
        let data = StoredExtendedData { data, updated_at: ctx.now };
        self.store.save(ctx.organization, owner, &data).await?;
        Ok(answer)
    }
}

/// An organization is accessible at its own host only, whether or not another one exists (contract 03 §1.4).
fn check_organization(ctx: &Ctx, owner: ExtendedDataOwner) -> Result<()> {
    match owner {
        ExtendedDataOwner::Organization(id) if id != ctx.organization => Err(Error::Forbidden),
        _ => Ok(()),
    }
}

/// The reserved key can only be removed.
fn spares_reserved(path: &ObjectPath, data: &Value) -> Result<()> {
    let removes = match path.segments() {
        [] => data.get(RESERVED_KEY).is_none_or(is_blank),
        [first] if first == RESERVED_KEY => is_blank(data),
        [first, ..] => first != RESERVED_KEY,
    };
    if removes { Ok(()) } else { Err(reserved_key_error()) }
}

/// The error of a write to the reserved key.
pub(crate) fn reserved_key_error() -> Error {
    Error::rejected_field("extended_data", "reserved", format!("{RESERVED_KEY} is reserved"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockExtendedDataStore, OrganizationExtendedData, ProposalExtendedData, UserExtendedData};
    use civitas_kernel::limits::MAX_EXTENDED_DATA_BYTES;
    use civitas_kernel::{Ability, OrganizationId, ProposalId, UserId};
    use serde_json::json;
    use time::macros::datetime;

    fn stored_data(data: &Value) -> StoredExtendedData {
        let data = data.as_object().cloned().unwrap();
        StoredExtendedData { data, updated_at: datetime!(2026-01-01 0:00 UTC) }
    }

    fn holding(data: Value) -> MockExtendedDataStore {
        let mut store = MockExtendedDataStore::new();
        store.expect_find_for_update().returning(move |_, _| Ok(Some(stored_data(&data))));
        store
    }

    fn set<K: ExtendedDataKind>(id: K::Id, path: &str, data: Value) -> SetExtendedData<K> {
        SetExtendedData { id, path: ObjectPath::parse(path).unwrap(), data }
    }

    #[tokio::test]
    async fn a_write_merges_under_the_lock_and_moves_the_time_of_the_record() {
        let now = datetime!(2026-02-01 0:00 UTC);
        let ctx = Ctx::for_test().with_access(&ProposalExtendedData::UPDATE).at_time(now);
        let mut store = holding(json!({"a": 1}));
        store.expect_save().once().returning(move |_, owner, data| {
            assert_eq!(owner, ExtendedDataOwner::Proposal(ProposalId(7)));
            assert_eq!(
                *data,
                StoredExtendedData { updated_at: now, ..stored_data(&json!({"a": 1, "b": {"c": 2}})) }
            );
            assert_eq!(owner.event(), None, "nobody is notified");
            Ok(())
        });
        let service = ExtendedDataService { store: &store, limit: MAX_EXTENDED_DATA_BYTES };
        let answer =
            service.handle(&ctx, set::<ProposalExtendedData>(ProposalId(7), "b", json!({"c": 2}))).await;
        assert_eq!(answer.unwrap(), json!({"c": 2}));
    }

    #[tokio::test]
    async fn a_write_to_an_account_has_an_event() {
        let ctx = Ctx::for_test().with_access(&UserExtendedData::UPDATE).with_user(3);
        let mut store = holding(json!({}));
        store.expect_save().once().returning(|_, owner, _| {
            assert_eq!(owner.event().map(|event| event.name), Some(Ability::UserUpdated));
            Ok(())
        });
        let service = ExtendedDataService { store: &store, limit: MAX_EXTENDED_DATA_BYTES };
        service.handle(&ctx, set::<UserExtendedData>(UserId(3), ".", json!({"a": 1}))).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_too_large_is_not_kept() {
        let ctx = Ctx::for_test().with_access(&ProposalExtendedData::UPDATE);
        let (store, fits) = (holding(json!({"a": "1234"})), r#"{"a":"1234","b":1}"#.len());
        let service = ExtendedDataService { store: &store, limit: fits - 1 };
        let refused = service.handle(&ctx, set::<ProposalExtendedData>(ProposalId(7), "b", json!(1))).await;
        let text = format!("extended_data exceeds maximum size of {} bytes", fits - 1);
        assert_eq!(refused.unwrap_err().description(), text);
    }

    #[tokio::test]
    async fn another_organization_is_out_of_bounds_whether_it_exists_or_not() {
        let ctx = Ctx::for_test()
            .with_access(&OrganizationExtendedData::UPDATE)
            .with_access(&OrganizationExtendedData::READ);
        let store = MockExtendedDataStore::new();
        let service = ExtendedDataService { store: &store, limit: MAX_EXTENDED_DATA_BYTES };
        let command = set::<OrganizationExtendedData>(OrganizationId(2), ".", json!({}));
        assert!(matches!(service.check_enqueue(&ctx, &command).await, Err(Error::Forbidden)));
        assert!(matches!(service.handle(&ctx, command).await, Err(Error::Forbidden)));
        let read =
            service.read::<OrganizationExtendedData>(&ctx, OrganizationId(2), &ObjectPath::root()).await;
        assert!(matches!(read, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn a_pending_host_can_be_cancelled_and_not_written() {
        let ctx = Ctx::for_test().with_access(&OrganizationExtendedData::UPDATE);
        let mut store = holding(json!({"unconfirmed_host": "new.example", "a": 1}));
        store.expect_save().times(3).returning(|_, _, stored| {
            assert!(!stored.data.contains_key("unconfirmed_host"));
            Ok(())
        });
        let service = ExtendedDataService { store: &store, limit: MAX_EXTENDED_DATA_BYTES };
        let id = OrganizationId(1);
        for (path, data) in [
            (".", json!({"unconfirmed_host": null})),
            ("unconfirmed_host", json!("")),
            ("unconfirmed_host", json!({})),
        ] {
            service.handle(&ctx, set::<OrganizationExtendedData>(id, path, data)).await.unwrap();
        }
        for (path, data) in [
            (".", json!({"unconfirmed_host": "new.example"})),
            (".", json!({"unconfirmed_host": {"x": null}})),
            ("unconfirmed_host", json!("other.example")),
            ("unconfirmed_host.x", json!(null)),
        ] {
            let refused =
                service.handle(&ctx, set::<OrganizationExtendedData>(id, path, data)).await.unwrap_err();
            assert_eq!(refused.description(), "unconfirmed_host is reserved", "{path}");
        }
    }

    #[tokio::test]
    async fn reading_and_writing_are_two_rights() {
        let store = MockExtendedDataStore::new();
        let service = ExtendedDataService { store: &store, limit: MAX_EXTENDED_DATA_BYTES };
        let reader = Ctx::for_test().with_access(&ProposalExtendedData::READ);
        let refused =
            service.handle(&reader, set::<ProposalExtendedData>(ProposalId(7), ".", json!({}))).await;
        assert!(matches!(refused, Err(Error::Forbidden)));
        let writer = Ctx::for_test().with_access(&ProposalExtendedData::UPDATE);
        let refused = service.read::<ProposalExtendedData>(&writer, ProposalId(7), &ObjectPath::root()).await;
        assert!(matches!(refused, Err(Error::Forbidden)));
    }
}
