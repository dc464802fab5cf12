//! Extended data: columns in the tables of its owners.

use super::organizations::hosts::{PROMOTED, SECONDARY, UNCONFIRMED};
use crate::columns::{EnumColumn, JsonColumn};
use crate::schema::{components, meetings, organization_hosts, organizations, proposals, spaces, users};
use crate::session::{ExecuteExt, Session, TransactionScope, lock_row};
use async_trait::async_trait;
use civitas_accounts::User;
use civitas_extended_data::{ExtendedDataOwner, ExtendedDataStore, StoredExtendedData};
use civitas_kernel::extended_data::canonical_object;
use civitas_kernel::records::{Entity, Records};
use civitas_kernel::{Error, LocationFilter, OrganizationId, ReadContext, Result, Viewer};
use civitas_meetings::{Meeting, MeetingStore};
use civitas_organizations::OrganizationStore;
use civitas_proposals::{Proposal, ProposalStore};
use civitas_spaces::{Component, ComponentStore, Space, SpaceStore};
use diesel::prelude::*;
use serde_json::{Map, Value};

/// The one row of an owner, in its table.
macro_rules! row {
    ($table:ident, $organization:expr, $id:expr) => {
        $table::table.filter($table::organization_id.eq($organization.0)).filter($table::id.eq($id))
    };
}

/// Writes the data, its text for searches, and the time.
macro_rules! keep {
    ($atomic:ident, $table:ident, $row:expr, $kept:ident) => {
        diesel::update($row)
            .set((
                $table::extended_data.eq(JsonColumn(&$kept.data)),
                $table::extended_data_text.eq(canonical_object(&$kept.data)),
                $table::updated_at.eq($kept.updated_at),
            ))
            .change_on($atomic.connection())
            .await
    };
}

/// The data of a record, and the time of its last change.
macro_rules! data_of {
    ($found:expr) => {
        $found.map(|found| (found.extended_data, found.updated_at))
    };
}

const KEY_OF_HOST: &str = "unconfirmed_host";

#[async_trait]
impl ExtendedDataStore for Session {
    async fn find(
        &self,
        read_context: ReadContext,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>> {
        let organization = read_context.organization;
        let found = match owner {
            ExtendedDataOwner::Organization(id) if id != organization => None,
            ExtendedDataOwner::Organization(id) => OrganizationStore::find(self, id).await?.map(|found| {
                let mut data = Map::from(found.extended_data);
                data.extend(found.unconfirmed_host.map(|host| (KEY_OF_HOST.to_owned(), Value::from(host))));
                (data.into(), found.updated_at)
            }),
            ExtendedDataOwner::User(id) => {
                data_of!(unless_deleted(Records::<User>::find(self, organization, id).await?))
            }
            ExtendedDataOwner::Space(id) => {
                let found = SpaceStore::find_visible(self, read_context, id).await?;
                data_of!(found.map(|found| found.space))
            }
            ExtendedDataOwner::Component(id) => {
                let found = ComponentStore::find_visible(self, read_context, id).await?;
                data_of!(found.map(|found| found.component))
            }
            ExtendedDataOwner::Proposal(id) => {
                let found =
                    ProposalStore::find_visible(self, read_context, id, LocationFilter::default()).await?;
                data_of!(found.map(|found| found.proposal))
            }
            ExtendedDataOwner::Meeting(id) => {
                data_of!(MeetingStore::find_visible(self, read_context, id, LocationFilter::default()).await?)
            }
        };
        Ok(found.map(|(data, updated_at)| StoredExtendedData { data: data.into(), updated_at }))
    }

    async fn find_for_update(
        &self,
        read_context: ReadContext,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>> {
        if self.lock_owner(read_context.organization, owner).await? {
            ExtendedDataStore::find(self, read_context, owner).await
        } else {
            Ok(None)
        }
    }

    async fn find_unrestricted(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>> {
        let found = match owner {
            ExtendedDataOwner::Organization(_) | ExtendedDataOwner::User(_) => {
                let read_context = ReadContext { organization, viewer: Viewer::Public, participant: None };
                return ExtendedDataStore::find(self, read_context, owner).await;
            }
            ExtendedDataOwner::Space(id) => data_of!(Records::<Space>::find(self, organization, id).await?),
            ExtendedDataOwner::Component(id) => {
                data_of!(unless_deleted(Records::<Component>::find(self, organization, id).await?))
            }
            ExtendedDataOwner::Proposal(id) => {
                data_of!(unless_deleted(Records::<Proposal>::find(self, organization, id).await?))
            }
            ExtendedDataOwner::Meeting(id) => {
                data_of!(unless_deleted(Records::<Meeting>::find(self, organization, id).await?))
            }
        };
        Ok(found.map(|(data, updated_at)| StoredExtendedData { data: data.into(), updated_at }))
    }

    async fn find_unrestricted_for_update(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>> {
        if self.lock_owner(organization, owner).await? {
            self.find_unrestricted(organization, owner).await
        } else {
            Ok(None)
        }
    }

    async fn save(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
        data: &StoredExtendedData,
    ) -> Result<()> {
        let atomic = self.transaction().await?;
        match owner {
            ExtendedDataOwner::Organization(id) if id != organization => Err(Error::NotFound),
            ExtendedDataOwner::Organization(id) => keep_of_organization(&atomic, id, data.clone()).await,
            ExtendedDataOwner::User(id) => keep!(atomic, users, row!(users, organization, id.0), data),
            ExtendedDataOwner::Space(id) => {
                let row = row!(spaces, organization, id.id).filter(spaces::manifest.eq(EnumColumn(id.kind)));
                keep!(atomic, spaces, row, data)
            }
            ExtendedDataOwner::Component(id) => {
                keep!(atomic, components, row!(components, organization, id.0), data)
            }
            ExtendedDataOwner::Proposal(id) => {
                keep!(atomic, proposals, row!(proposals, organization, id.0), data)
            }
            ExtendedDataOwner::Meeting(id) => {
                keep!(atomic, meetings, row!(meetings, organization, id.0), data)
            }
        }?;
        let events = owner.event().into_iter().collect();
        self.finish_write(atomic, organization, Vec::new(), events).await
    }
}

/// The record, unless it is deleted.
fn unless_deleted<E: Entity>(found: Option<E>) -> Option<E> {
    found.filter(|record| !record.is_deleted())
}

impl Session {
    /// Locks the row of an owner until the transaction ends; false when there is none.
    async fn lock_owner(&self, organization: OrganizationId, owner: ExtendedDataOwner) -> Result<bool> {
        Ok(match owner {
            ExtendedDataOwner::Organization(id) => {
                lock_row!(self, organizations::table.find(id.0).select(organizations::id))
            }
            ExtendedDataOwner::User(id) => lock_row!(self, row!(users, organization, id.0).select(users::id)),
            ExtendedDataOwner::Space(id) => {
                let row = row!(spaces, organization, id.id).filter(spaces::manifest.eq(EnumColumn(id.kind)));
                lock_row!(self, row.select(spaces::id))
            }
            ExtendedDataOwner::Component(id) => {
                lock_row!(self, row!(components, organization, id.0).select(components::id))
            }
            ExtendedDataOwner::Proposal(id) => {
                lock_row!(self, row!(proposals, organization, id.0).select(proposals::id))
            }
            ExtendedDataOwner::Meeting(id) => {
                lock_row!(self, row!(meetings, organization, id.0).select(meetings::id))
            }
        })
    }
}

/// The pending host is in the table of hosts, and is not written here.
async fn keep_of_organization(
    atomic: &TransactionScope<'_>,
    id: OrganizationId,
    kept: StoredExtendedData,
) -> Result<()> {
    let StoredExtendedData { mut data, updated_at } = kept;
    if data.remove(KEY_OF_HOST).is_none() {
        let own = organization_hosts::table.filter(organization_hosts::organization_id.eq(id.0));
        let pending = own.filter(organization_hosts::kind.eq(UNCONFIRMED));
        diesel::delete(pending).run_on(atomic.connection()).await?;
        diesel::update(own.filter(organization_hosts::kind.eq(PROMOTED)))
            .set(organization_hosts::kind.eq(SECONDARY))
            .run_on(atomic.connection())
            .await?;
    }
    diesel::update(organizations::table.find(id.0))
        .set((organizations::extended_data.eq(JsonColumn(&data)), organizations::updated_at.eq(updated_at)))
        .change_on(atomic.connection())
        .await
}
