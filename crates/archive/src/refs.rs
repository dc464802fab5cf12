//! References between records, and the ids they stand for.

use super::error::RecordError;
use super::members::required;
use civitas_application::Ports;
use civitas_kernel::{
    AdministratorId, AnswerOptionId, AttachmentId, ClientId, CollectionId, ComponentId, DisplayConditionId,
    MeetingId, OrganizationId, PatchField, PostId, ProposalId, QuestionId, QuestionnaireId, RegistrationId,
    ResponseId, SpaceKind, SpaceRef, StateId, StepId, SurveyId, UserId, VoteId,
};
use civitas_spaces::{ComponentEntryKind, ComponentEntryRef, ComponentKind};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

/// The largest number of entries in a cache: some 10 MB of refs.
const MAX_ENTRIES: usize = 50_000;

/// A cache of limited size. It is cleared when it is full.
pub(super) struct BoundedCache<K, V>(HashMap<K, V>);

impl<K: Eq + Hash, V: Clone> BoundedCache<K, V> {
    pub(super) fn new() -> Self {
        Self(HashMap::new())
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.0.get(key).cloned()
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.0.len() >= MAX_ENTRIES {
            self.0.clear();
        }
        self.0.insert(key, value);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// An id, and its text form: the stored id of a ref, and the `ref` of an exported record.
pub(super) trait RecordId: Copy + Send + Sync {
    fn parse(text: &str) -> Option<Self>;
    fn to_text(self) -> String;
}

/// An id that members of other records refer to.
pub(super) trait ReferencedId: RecordId {
    /// The record type.
    const TYPE: &'static str;
}

impl RecordId for i64 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn to_text(self) -> String {
        self.to_string()
    }
}

macro_rules! numbered {
    ($($id:ident $(= $kind:literal)?),+ $(,)?) => {$(
        impl RecordId for $id {
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok().map($id)
            }

            fn to_text(self) -> String {
                self.to_string()
            }
        }

        $(impl ReferencedId for $id {
            const TYPE: &'static str = $kind;
        })?
    )+};
}

numbered! {
    OrganizationId, AdministratorId, StateId, VoteId, DisplayConditionId, ResponseId, AttachmentId, RegistrationId,
    PostId = "post",
    UserId = "user",
    ClientId = "api_client",
    StepId = "step",
    ComponentId = "component",
    ProposalId = "proposal",
    MeetingId = "meeting",
    CollectionId = "attachment_collection",
    SurveyId = "survey",
    QuestionnaireId = "questionnaire",
    QuestionId = "question",
    AnswerOptionId = "answer_option",
}

macro_rules! numbered_by_kind {
    ($($id:ident by $kind:ident: $Kind:ident),+ $(,)?) => {$(
        impl RecordId for $id {
            fn parse(text: &str) -> Option<Self> {
                let (kind, number) = text.split_once('/')?;
                Some(Self { $kind: $Kind::parse(kind)?, id: number.parse().ok()? })
            }

            fn to_text(self) -> String {
                format!("{}/{}", self.$kind.as_str(), self.id)
            }
        }
    )+};
}

// `assemblies/3`, `page/3`: the numbers are unique per kind only.
numbered_by_kind! { SpaceRef by kind: SpaceKind, ComponentEntryRef by kind: ComponentEntryKind }

impl ReferencedId for SpaceRef {
    const TYPE: &'static str = "space";
}

/// Finds the ids of refs in the database; recent ones are cached.
pub(super) struct RefResolver<'a> {
    ports: &'a dyn Ports,
    cache: BoundedCache<(Option<OrganizationId>, String, String), String>,
    /// The kinds of components, which cannot change.
    kinds: BoundedCache<(OrganizationId, ComponentId), ComponentKind>,
    /// The states of components by their tokens, which do not change.
    states: BoundedCache<(OrganizationId, ComponentId, String), StateId>,
}

impl<'a> RefResolver<'a> {
    pub(super) fn new(ports: &'a dyn Ports) -> Self {
        Self { ports, cache: BoundedCache::new(), kinds: BoundedCache::new(), states: BoundedCache::new() }
    }

    /// Forgets the states of components: the id of one has changed.
    pub(super) fn forget_states(&mut self) {
        self.states.clear();
    }

    /// Whether a row is stored for one of these refs.
    pub(super) async fn has_any(
        &self,
        organization: OrganizationId,
        kind: &str,
        references: &[&str],
    ) -> Result<bool, RecordError> {
        let found = self.ports.refs().find_many(Some(organization), kind, references).await?;
        Ok(!found.is_empty())
    }

    /// Reads the ids of these refs, those that are not cached with one query.
    pub(super) async fn load(
        &mut self,
        organization: OrganizationId,
        kind: &str,
        references: &BTreeSet<&str>,
    ) -> Result<(), RecordError> {
        let key = |reference: &str| (Some(organization), kind.to_owned(), reference.to_owned());
        if self.cache.0.len() + references.len() > MAX_ENTRIES {
            self.cache.clear();
        }
        let is_missing = |reference: &&str| !self.cache.0.contains_key(&key(reference));
        let missing: Vec<&str> = references.iter().copied().filter(is_missing).collect();
        if missing.is_empty() {
            return Ok(());
        }
        for (reference, id) in self.ports.refs().find_many(Some(organization), kind, &missing).await? {
            self.cache.insert(key(&reference), id);
        }
        Ok(())
    }

    /// Stores the ids of several refs.
    pub(super) async fn add_many(
        &mut self,
        organization: OrganizationId,
        kind: &str,
        ids: &[(&str, String)],
    ) -> Result<(), RecordError> {
        self.ports.refs().add_many(Some(organization), kind, ids).await?;
        for (reference, id) in ids {
            self.cache.insert((Some(organization), kind.to_owned(), (*reference).to_owned()), id.clone());
        }
        Ok(())
    }

    /// The state of this token of a component.
    pub(super) async fn state(
        &mut self,
        organization: OrganizationId,
        component: ComponentId,
        token: &str,
    ) -> Result<StateId, RecordError> {
        let key = (organization, component, token.to_owned());
        if let Some(id) = self.states.get(&key) {
            return Ok(id);
        }
        let found = self.ports.states().find_by_token(organization, component, token).await?;
        let (id, _) = found.ok_or_else(|| unknown_ref("state", token))?;
        self.states.insert(key, id);
        Ok(id)
    }

    /// The stored id of a ref.
    pub(super) async fn find(
        &mut self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
    ) -> Result<Option<String>, RecordError> {
        let key = (organization, kind.to_owned(), reference.to_owned());
        if let Some(id) = self.cache.get(&key) {
            return Ok(Some(id));
        }
        let found = self.ports.refs().find(organization, kind, reference).await?;
        if let Some(id) = &found {
            self.cache.insert(key, id.clone());
        }
        Ok(found)
    }

    /// Stores the id of a ref.
    pub(super) async fn add(
        &mut self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
        id: &str,
    ) -> Result<(), RecordError> {
        self.ports.refs().add(organization, kind, reference, id).await?;
        self.cache.insert((organization, kind.to_owned(), reference.to_owned()), id.to_owned());
        Ok(())
    }

    /// The id of a ref; an error if no earlier line and no earlier import has it.
    pub(super) async fn resolve<I: ReferencedId>(
        &mut self,
        organization: impl Into<Option<OrganizationId>>,
        reference: &str,
    ) -> Result<I, RecordError> {
        let id = self.find(organization.into(), I::TYPE, reference).await?;
        id.as_deref().and_then(I::parse).ok_or_else(|| unknown_ref(I::TYPE, reference))
    }

    /// The component of a required ref. Its kind must be `kind`; `content` names its content in the error.
    pub(super) async fn component_for(
        &mut self,
        organization: OrganizationId,
        reference: &PatchField<String>,
        kind: ComponentKind,
        content: &str,
    ) -> Result<ComponentId, RecordError> {
        let reference = required("component", reference)?;
        let id = self.resolve(organization, &reference).await?;
        let own = if let Some(own) = self.kinds.get(&(organization, id)) {
            own
        } else {
            let component = self.ports.components().find(organization, id).await?;
            let own = component.ok_or_else(|| unknown_ref("component", &reference))?.kind;
            self.kinds.insert((organization, id), own);
            own
        };
        if own == kind {
            Ok(id)
        } else {
            Err(format!("component {reference:?} does not hold {content}").into())
        }
    }

    /// Sets a member that is a ref; null clears it.
    pub(super) async fn set_optional<I: ReferencedId>(
        &mut self,
        organization: OrganizationId,
        field: &PatchField<String>,
        target: &mut Option<I>,
    ) -> Result<(), RecordError> {
        self.resolve_field(organization, field).await?.apply(target);
        Ok(())
    }

    /// A member that is a ref, with the id instead.
    pub(super) async fn resolve_field<I: ReferencedId>(
        &mut self,
        organization: impl Into<Option<OrganizationId>>,
        field: &PatchField<String>,
    ) -> Result<PatchField<I>, RecordError> {
        Ok(match field {
            PatchField::Absent => PatchField::Absent,
            PatchField::Null => PatchField::Null,
            PatchField::Value(reference) => PatchField::Value(self.resolve(organization, reference).await?),
        })
    }

    /// Sets a member that lists refs of users; an error if one is listed twice.
    pub(super) async fn set_users<C: FromIterator<UserId>>(
        &mut self,
        organization: OrganizationId,
        name: &str,
        field: &PatchField<Vec<String>>,
        target: &mut C,
    ) -> Result<(), RecordError> {
        if field.is_absent() {
            return Ok(());
        }
        let (mut users, mut seen) = (Vec::new(), HashSet::new());
        for reference in field.as_value().into_iter().flatten() {
            let user = self.resolve(organization, reference).await?;
            if !seen.insert(user) {
                return Err(format!("{name} name {reference:?} twice").into());
            }
            users.push(user);
        }
        *target = users.into_iter().collect();
        Ok(())
    }
}

/// The error for a ref without a record.
pub(super) fn unknown_ref(kind: &str, reference: &str) -> RecordError {
    format!("{kind} {reference:?} is not known").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_space_says_its_kind() {
        for kind in SpaceKind::ALL {
            let space = SpaceRef { kind, id: 3 };
            assert_eq!(SpaceRef::parse(&space.to_text()), Some(space));
        }
        assert_eq!(SpaceRef::parse("3"), None);
        assert_eq!(SpaceRef::parse("blogs/3"), None);
    }

    #[test]
    fn a_full_cache_begins_again() {
        let mut cache = BoundedCache::new();
        for i in 0..=MAX_ENTRIES {
            cache.insert(i, i);
        }
        assert_eq!((cache.get(&0), cache.get(&MAX_ENTRIES)), (None, Some(MAX_ENTRIES)));
    }
}
