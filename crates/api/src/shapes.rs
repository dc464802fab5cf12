//! Types that many resources share (contract 01 §2, §2.1). Names of schemas are those of the published document.

use civitas_accounts::{RoleId, RoleType};
use civitas_jobs::JobStatus;
use civitas_kernel::{Locale, Locales, SpaceKind, Translated};
use civitas_spaces::ComponentKind;
use civitas_surveys::QuestionType;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Iso8601;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset};
use utoipa::ToSchema;
use utoipa::openapi::schema::{
    AdditionalProperties, KnownFormat, Object, ObjectBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{RefOr, Schema};

const SECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
const MILLISECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// A time in UTC with seconds: `2026-03-01T09:30:00Z`.
pub(crate) fn iso_seconds(at: OffsetDateTime) -> String {
    at.to_offset(time::UtcOffset::UTC).format(SECONDS).unwrap_or_default()
}

/// A time in UTC with milliseconds, as jobs write it.
pub(crate) fn iso_milliseconds(at: OffsetDateTime) -> String {
    at.to_offset(time::UtcOffset::UTC).format(MILLISECONDS).unwrap_or_default()
}

/// A time in ISO 8601, without an offset in UTC, to the microsecond. `None` for an invalid time, and for one outside of
/// the years 0 to 9999.
pub(crate) fn read_time(text: &str) -> Option<OffsetDateTime> {
    let zoned = OffsetDateTime::parse(text, &Iso8601::PARSING).ok();
    let at = zoned.or_else(|| Some(PrimitiveDateTime::parse(text, &Iso8601::PARSING).ok()?.assume_utc()))?;
    let at = at.checked_to_offset(UtcOffset::UTC).filter(|at| (0..=9999).contains(&at.year()))?;
    Some(civitas_kernel::clock::to_microseconds(at))
}

/// A text in languages of the deployment; null is a text without languages. `None` for anything else.
pub(crate) fn read_translated(sent: &Value) -> Option<Translated> {
    if sent.is_null() {
        return Some(Translated::default());
    }
    let texts = sent.as_object()?.iter();
    texts.map(|(name, text)| Some((Locale::parse(name)?, text.as_str()?.to_owned()))).collect()
}

/// Publishes a type under a name, with its own schema.
macro_rules! schema_of {
    ($name:ty, $published:literal, $schema:expr) => {
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $schema.into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                $published.into()
            }
        }
    };
}
pub(crate) use schema_of;

/// The `type` of resources: one word, and its schema.
macro_rules! type_names {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal in $schema:literal),+ $(,)?) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($word)
            }
        }

        $crate::shapes::schema_of!($name, $schema, $crate::shapes::enum_schema(vec![$word], concat!($($doc),*)));

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::shapes::read_constant(deserializer, $word).map(|()| Self)
            }
        }
    )+};
}
#[cfg(test)]
pub(crate) use type_names;

type_names! {
    /// The status of a receipt.
    Pending = "pending" in "rest_full_api_job_pending",
    /// The type of an attachment.
    AttachmentType = "attachment" in "attachment_object_type",
    /// The type of a blog post.
    BlogType = "blog" in "blog_object_type",
    /// The type of a draft.
    DraftType = "draft_proposal" in "draft_proposal_object_type",
    /// The type of a response.
    ResponseType = "questionnaire_response" in "questionnaire_response_type",
    /// The type of an answer.
    AnswersType = "answers" in "answers_type",
    /// The type of a respondent.
    RespondentType = "user" in "respondent_type",
    /// The type of an answer option.
    AnswerOptionsType = "answer_options" in "answer_options_type",
    /// The type of a questionnaire.
    QuestionnairesType = "questionnaires" in "questionnaires_type",
    /// The type of a question.
    QuestionsType = "questions" in "questions_type",
    /// The type of a submission.
    SubmissionType = "submission_request" in "submission_request_type",
    /// The type of a link.
    MagicLinkType = "magic_link" in "magic_link_object_type",
    /// The type of a meeting.
    MeetingType = "meeting" in "meeting_object_type",
    /// The view of a token.
    TokenType = "Bearer" in "oauth_token_type",
    IntrospectedType = "user" in "introspected_type",
    /// The type of an organization.
    OrganizationType = "organization" in "organization_object_type",
    /// The type of a proposal.
    ProposalType = "proposal" in "proposal_object_type",
    /// The type of the document of a role.
    RoleObjectType = "role" in "role_object_type",
    /// The type of all four kinds.
    SpaceType = "space" in "space_object_type",
    /// The type of an account.
    UserType = "user" in "user_object_type",
    /// The type of a vote.
    VoteType = "vote_proposals" in "vote_proposal_object_type",
    /// The type of a registration.
    RegistrationType = "webhook_registration" in "webhook_registration_object_type",
}

/// Reads a text that must be this word.
pub(crate) fn read_constant<'de, D: Deserializer<'de>>(deserializer: D, word: &str) -> Result<(), D::Error> {
    let sent = Value::deserialize(deserializer)?;
    if sent == word { Ok(()) } else { Err(D::Error::invalid_value(Unexpected::Other("another"), &word)) }
}

/// Types that are published under a separate name for each resource.
macro_rules! published_as {
    ($($(#[doc = $doc:literal])* $name:ident($shape:ty) = $schema:literal),+ $(,)?) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, serde::Serialize)]
        #[serde(transparent)]
        pub(crate) struct $name(pub(crate) $shape);

        $crate::shapes::schema_of!($name, $schema, $crate::shapes::with_description(
            <$shape as utoipa::PartialSchema>::schema(), concat!($($doc),*)));
    )+};
}
pub(crate) use published_as;

/// The same schema with another description.
pub(crate) fn with_description(schema: RefOr<Schema>, says: &str) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(object)) => {
            ObjectBuilder::from(object).description(Some(says.trim())).build().into()
        }
        other => other,
    }
}

macro_rules! dates {
    ($($(#[$doc:meta])* $name:ident = $schema:literal),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name(pub(crate) OffsetDateTime);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&iso_seconds(self.0))
            }
        }

        schema_of!($name, $schema, date_time());
    )+};
}

dates! {
    /// When something was created.
    CreationDate = "creation_date",
    /// When something was last changed.
    EditionDate = "edition_date",
    /// When something was published.
    PublicationDate = "publication_date",
}

fn date_time() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .build()
}

/// Text in the requested languages; never null, and no key without a text.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub(crate) struct TranslatedProp(pub(crate) Translated);

schema_of!(TranslatedProp, "translated_prop", {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let object = Locales::standard().iter().fold(ObjectBuilder::new(), |o, l| o.property(l.as_str(), text()));
    object.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
});

/// A record, by id and type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = resource_relationship_identifier, title = "Resource relationship identifier")]
pub(crate) struct ResourceIdentifier {
    /// Its id.
    pub(crate) id: String,
    /// Its type.
    pub(crate) r#type: &'static str,
}

impl ResourceIdentifier {
    pub(crate) fn new(id: impl ToString + Copy, r#type: &'static str) -> Self {
        Self { id: id.to_string(), r#type }
    }
}

/// A component, by id and type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = component_relationship_identifier, title = "Component relationship identifier")]
pub(crate) struct ComponentIdentifier {
    /// Its id.
    pub(crate) id: String,
    /// Its type.
    #[schema(value_type = ComponentType)]
    pub(crate) r#type: &'static str,
}

/// The schema of a text that is one of these words.
pub(crate) fn enum_schema(words: Vec<&'static str>, says: &str) -> ObjectBuilder {
    let says = Some(says.trim()).filter(|says| !says.is_empty());
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).description(says)
}

/// A whole number, or its text.
pub(crate) fn number_or_text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type([Type::String, Type::Integer].into_iter().collect::<SchemaType>())
}

/// A schema as it is written in the document.
pub(crate) fn schema_from_json(schema: Value) -> RefOr<Schema> {
    serde_json::from_value(schema).expect("the schema is part of the program")
}

/// Lists of words, each with its name in the document.
macro_rules! words {
    ($($(#[doc = $doc:literal])* $name:ident = $schema:literal: $words:expr),+ $(,)?) => {$(
        $(#[doc = $doc])*
        pub(crate) struct $name;

        $crate::shapes::schema_of!($name, $schema, $crate::shapes::enum_schema($words.to_vec(), concat!($($doc),*)));
    )+};
}

words! {
    // The languages of the deployment; the document of a deployment lists its own.
    LocaleName = "locale": ["en", "fr", "es"],
    // The kinds of spaces.
    SpaceKindName = "space_manifest": SpaceKind::ALL.map(SpaceKind::as_str),
    // The class names of spaces.
    SpaceClassName = "space_classes": SpaceKind::ALL.map(SpaceKind::class),
    // The kinds of components.
    ComponentKindName = "component_manifest": ComponentKind::NAMES,
    // The types of components.
    ComponentType = "component_type": ComponentKind::ALL.map(ComponentKind::component_type),
    // The types of roles.
    RoleTypeName = "role_type": RoleType::ALL.map(RoleType::as_str),
    // The class names of the resources of roles.
    RoleResourceName = "role_resource_type": [
        &[RoleId::ORGANIZATION][..], &SpaceKind::ALL.map(SpaceKind::class)].concat(),
    // The time zones an organization can have (contract 11).
    TimeZoneName = "time_zone": civitas_organizations::TIME_ZONES,
    /// Who may see a space.
    SpaceVisibility = "space_visibility": ["public", "transparent", "private"],
    /// Who may register.
    RegistrationModeName = "users_registration_mode": ["enabled", "existing", "disabled"],
    /// The status of a job.
    JobStatusName = "rest_full_api_job_status": JobStatus::NAMES,
    /// The type of a question. The last two have no answer, and cannot be created here.
    QuestionTypeName = "question_type": QuestionType::ALL.map(QuestionType::as_str),
    /// A type that a question may change to.
    TypesToCreate = "": ["short_answer", "long_answer", "single_option", "multiple_option", "sorting", "files",
        "matrix_single", "matrix_multiple"],
}

/// A relationship to one record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = to_one)]
pub(crate) struct ToOneRelationship {
    /// The record.
    pub(crate) data: ResourceIdentifier,
}

/// A relationship to a component.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = to_component)]
pub(crate) struct ToComponentRelationship {
    /// The component.
    pub(crate) data: ComponentIdentifier,
}

/// The space and the component a record is in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SpaceAndComponent {
    pub(crate) space: ToOneRelationship,
    pub(crate) component: ToComponentRelationship,
}

/// How many there are in all.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = relationship_count)]
pub(crate) struct RelationshipCount {
    /// Uncapped.
    #[schema(minimum = 0)]
    pub(crate) count: i64,
}

/// A relationship to many records, of which the first are listed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = to_many)]
pub(crate) struct ToManyRelationship {
    /// The first of them.
    pub(crate) data: Vec<ResourceIdentifier>,
    /// Their number.
    pub(crate) meta: RelationshipCount,
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn times_are_utc_with_seconds_or_milliseconds() {
        let at = datetime!(2026-03-01 10:30:00.123456 +1);
        assert_eq!(iso_seconds(at), "2026-03-01T09:30:00Z");
        assert_eq!(iso_milliseconds(at), "2026-03-01T09:30:00.123Z");
    }
}
