//! The records that files can be attached to (contract 07 B.3).

use crate::AllowList;
use civitas_kernel::{MeetingId, OrganizationId, PostId, ProposalId, SpaceKind, SpaceRef};
use serde::{Deserialize, Serialize};

/// A kind of record with attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ParentKind {
    /// The organization itself.
    Organization,
    /// A participatory space of this kind.
    Space(SpaceKind),
    /// A proposal.
    Proposal,
    /// A meeting.
    Meeting,
    /// A blog post.
    Post,
    /// An answer to a question of a questionnaire. Its files are created by submitting the questionnaire.
    Answer,
}

impl ParentKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Organization,
        Self::Space(SpaceKind::ParticipatoryProcesses),
        Self::Space(SpaceKind::Assemblies),
        Self::Space(SpaceKind::Conferences),
        Self::Space(SpaceKind::Initiatives),
        Self::Proposal,
        Self::Meeting,
        Self::Post,
        Self::Answer,
    ];

    /// The class name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Organization => "Platform::Organization",
            Self::Space(kind) => kind.class(),
            Self::Proposal => "Platform::Proposals::Proposal",
            Self::Meeting => "Platform::Meetings::Meeting",
            Self::Post => "Platform::Blogs::Post",
            Self::Answer => ANSWER,
        }
    }

    /// The kind with this class name, case-sensitive.
    pub fn parse(class: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == class)
    }

    /// The kind with this class name or short name, case-sensitive.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "organization" => Some(Self::Organization),
            "proposals" | "proposal" => Some(Self::Proposal),
            "meetings" => Some(Self::Meeting),
            "blogs" => Some(Self::Post),
            name => SpaceKind::parse(name).map(Self::Space).or_else(|| Self::parse(name)),
        }
    }

    /// The files it accepts.
    pub fn allow_list(self) -> AllowList {
        match self {
            Self::Proposal | Self::Answer => AllowList::Participant,
            _ => AllowList::Admin,
        }
    }

    /// Whether its attachments can be in collections.
    pub fn has_collections(self) -> bool {
        !matches!(self, Self::Organization | Self::Answer)
    }
}

/// The class name of answers.
const ANSWER: &str = "Platform::Forms::Answer";

/// The names that requests can use: class names and short names, without the one that cannot be created.
pub const PARENT_NAMES: &[&str] = &[
    "organization",
    "participatory_processes",
    "assemblies",
    "conferences",
    "initiatives",
    "proposals",
    "proposal",
    "meetings",
    "blogs",
    "Platform::Organization",
    "Platform::ParticipatoryProcess",
    "Platform::Assembly",
    "Platform::Conference",
    "Platform::Initiative",
    "Platform::Proposals::Proposal",
    "Platform::Meetings::Meeting",
    "Platform::Blogs::Post",
    ANSWER,
];

/// Class names with the prefix of an older product, of the parents that a new attachment can have.
const OLDER_PARENT_NAMES: &[&str] = &[
    "Decidim::Organization",
    "Decidim::ParticipatoryProcess",
    "Decidim::Assembly",
    "Decidim::Conference",
    "Decidim::Initiative",
    "Decidim::Proposals::Proposal",
    "Decidim::Meetings::Meeting",
    "Decidim::Blogs::Post",
];

/// The names of the parents that a new attachment can have: those of [`PARENT_NAMES`] except answers, and class names with the
/// prefix of an older product.
pub fn creatable_parent_names() -> impl Iterator<Item = &'static str> {
    let names = PARENT_NAMES.iter().filter(|name| **name != ANSWER);
    names.chain(OLDER_PARENT_NAMES).copied()
}

/// A record with attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AttachmentParent {
    /// Its kind.
    pub kind: ParentKind,
    /// Its number, unique among the records of its kind.
    pub id: i64,
}

impl AttachmentParent {
    /// The space, if it is one.
    pub fn space(self) -> Option<SpaceRef> {
        match self.kind {
            ParentKind::Space(kind) => Some(SpaceRef { kind, id: self.id }),
            _ => None,
        }
    }

    /// The id if the record is of this kind.
    pub fn id_of_kind(self, kind: ParentKind) -> Option<i64> {
        (self.kind == kind).then_some(self.id)
    }
}

impl From<OrganizationId> for AttachmentParent {
    fn from(id: OrganizationId) -> Self {
        Self { kind: ParentKind::Organization, id: id.0 }
    }
}

impl From<SpaceRef> for AttachmentParent {
    fn from(space: SpaceRef) -> Self {
        Self { kind: ParentKind::Space(space.kind), id: space.id }
    }
}

impl From<ProposalId> for AttachmentParent {
    fn from(id: ProposalId) -> Self {
        Self { kind: ParentKind::Proposal, id: id.0 }
    }
}

impl From<MeetingId> for AttachmentParent {
    fn from(id: MeetingId) -> Self {
        Self { kind: ParentKind::Meeting, id: id.0 }
    }
}

impl From<PostId> for AttachmentParent {
    fn from(id: PostId) -> Self {
        Self { kind: ParentKind::Post, id: id.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_request_means_a_kind_and_each_kind_has_its_class_among_them() {
        for name in PARENT_NAMES {
            assert!(ParentKind::from_name(name).is_some(), "{name}");
        }
        for kind in ParentKind::ALL {
            assert!(PARENT_NAMES.contains(&kind.as_str()), "{kind:?}");
            assert_eq!(ParentKind::parse(kind.as_str()), Some(kind));
        }
        for unknown in ["", "Proposal", "proposalS", "posts", "Platform::User", "organizations"] {
            assert_eq!(ParentKind::from_name(unknown), None, "{unknown}");
        }
    }
}
