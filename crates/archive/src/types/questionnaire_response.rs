//! `questionnaire_response`: the answers of one submission. Its session token is not a member: it follows from the
//! respondent and the salt of the questionnaire.

use super::{
    ExportSource, ImportContext, Map, OrganizationId, PatchField, Ports, Result, Value, async_trait,
};
use super::{
    ExportedPerson, Import, ImportResult, OrganizationRecordKind, PAGE, RecordKind, Rows, StoredRecord,
    Timestamp, members, required,
};
use crate::files::{FileRequest, FileSource};
use crate::output::ExportRow;
use crate::record::checked_id;
use crate::refs::{RefResolver, unknown_ref};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_attachments::{AnswerUploads, AttachmentParent, ParentKind, UploadContext};
use civitas_kernel::records::{RecordAdministration, Records};
use civitas_kernel::{
    AnswerId, AnswerOptionId, AttachmentId, ClientId, Error, QuestionId, QuestionnaireId, ResponseId, UserId,
};
use civitas_surveys::{AnswerRow, Form, FormQuestion, QuestionType, Response, ResponseStore};
use futures_util::TryStreamExt;
use serde_json::json;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use time::OffsetDateTime;

/// The id space of answers.
const ANSWERS: &str = "questionnaire_response";

pub(super) struct ResponseRecordType {
    /// The forms of exported responses.
    exported: HashMap<QuestionnaireId, Form>,
}

members! { ResponseRecordType, "questionnaire_response", OrganizationId, ResponseFields, |kind, response: Response| {
    questionnaire: parent(QuestionnaireId),
    user: resolved(String, check_user, with_optional(response.user.map(|user| user.to_string()))),
    answers: resolved(Map<String, Value>, set_answers, with(kind.answers(response))),
    row_ids: input(Map<String, Value>),
    client_ip_digest: custom(String, set_digest, with_optional(response.client_ip.clone())),
    created_at: required(Timestamp),
}}

impl ResponseRecordType {
    pub(super) fn new() -> Self {
        Self { exported: HashMap::new() }
    }

    /// The answers of an exported response. Options that were deleted are left out.
    fn answers(&self, response: &Response) -> Map<String, Value> {
        let form = self.exported.get(&response.questionnaire);
        let exported = |row: &AnswerRow| {
            let question = form.and_then(|form| form.question(row.question));
            let value = question.map_or(Value::Null, |question| exported(question, row));
            (row.question.to_string(), value)
        };
        response.answers.iter().map(exported).collect()
    }
}

/// The value of an exported answer, with refs of rows.
fn exported(question: &FormQuestion, row: &AnswerRow) -> Value {
    let exists = |option: &Value| question.options.iter().any(|other| *option == other.id.to_string());
    let existing = |options: &Value| -> Value {
        options.as_array().into_iter().flatten().filter(|option| exists(option)).cloned().collect()
    };
    let value = row.read_back();
    match question.question.kind {
        // The ids of attachments; `complete` replaces them by the files.
        QuestionType::Files => value,
        kind if kind.has_rows() => {
            let rows = value.as_object().into_iter().flatten().filter_map(|(id, chosen)| {
                let row = question.question.rows.iter().find(|row| row.id.to_string() == *id)?;
                let chosen = if chosen.is_array() { existing(chosen) } else { chosen.clone() };
                (chosen.is_array() || exists(&chosen)).then(|| (row.reference.clone(), chosen))
            });
            if value.is_null() { value } else { Value::Object(rows.collect()) }
        }
        kind if kind.has_options() && !value.is_null() => existing(&value),
        _ => value,
    }
}

impl Import<'_, '_, ResponseRecordType> {
    /// The answer to a question for files. Files of a new response are stored after it has its id; those of an existing
    /// one stay as they are.
    fn files_of(
        &mut self,
        (id, reference): (QuestionId, &str),
        value: &Value,
        former: Option<AnswerRow>,
    ) -> ImportResult<AnswerRow> {
        let sources: Option<Vec<FileSource>> =
            serde_json::from_value(value.clone()).map_err(|error| format!("answers: files: {error}"))?;
        let sources = sources.unwrap_or_default();
        if let Some(former) = former {
            return Ok(former);
        }
        if !sources.is_empty() {
            let sources = FileSource::with_keys(sources, reference).collect();
            self.context.files.of_answers.push((id, sources));
        }
        Ok(AnswerRow::new(id, None))
    }

    /// Notes the ids of answers that the record brings, in an import that keeps ids.
    async fn keep_answer_ids(
        &mut self,
        given: PatchField<Map<String, Value>>,
        is_answered: impl Fn(QuestionId) -> bool,
    ) -> ImportResult {
        if !self.context.options.keep_ids {
            return Ok(());
        }
        if given.as_value().is_none() && self.context.ids.own.is_some() {
            return Err("row_ids is required: a response is known by the lowest id of its answers".into());
        }
        for (reference, id) in given.value().into_iter().flatten() {
            let id = checked_id(&id).map_err(|reason| format!("row_ids: {reference}: {reason}"))?;
            let question: QuestionId = self.context.refs.resolve(self.owner, &reference).await?;
            if !is_answered(question) {
                return Err(format!("row_ids: {reference} is not in answers").into());
            }
            if self.context.ids.answers.iter().any(|(_, other)| other.0 == id) {
                return Err(format!("row_ids has {id} twice").into());
            }
            self.context.ids.answers.push((question, AnswerId(id)));
        }
        Ok(())
    }

    /// Gives the answers, which were just written, the ids that the record brings.
    async fn set_answer_ids(&mut self, id: ResponseId) -> ImportResult {
        let wanted = std::mem::take(&mut self.context.ids.answers);
        if wanted.is_empty() {
            return Ok(());
        }
        let (store, of) = (self.context.ports.responses(), self.owner);
        let stored = store.answer_ids(of, id).await?;
        let changed: Vec<_> = wanted.into_iter().filter(|answer| !stored.contains(answer)).collect();
        let ids: Vec<i64> = changed.iter().map(|(_, id)| id.0).collect();
        self.context.ids.check_free(self.context.ports, ANSWERS, &ids).await?;
        Ok(store.set_answer_ids(of, id, &changed).await?)
    }

    /// Stores the files of a new response, attached when it was created.
    async fn store_files(&mut self, id: ResponseId, created_at: OffsetDateTime) -> ImportResult {
        let pending = std::mem::take(&mut self.context.files.of_answers);
        if pending.is_empty() {
            return Ok(());
        }
        let (ports, of, now) = (self.context.ports, self.owner, self.context.options.now);
        let tenant = ports.organizations().tenant(of).await?.ok_or(Error::NotFound)?;
        let answers = ports.responses().answer_ids(of, id).await?;
        let uploads =
            AnswerUploads { store: ports.attachments(), files: ports.files(), uploads: ports.uploads() };
        // The client is that of an upload; there is none here.
        let sender = UploadContext { organization: of, client: ClientId(0), now: created_at };
        for (question, sources) in pending {
            let Some((_, answer)) = answers.iter().find(|(other, _)| *other == question) else { continue };
            let parent = AttachmentParent { kind: ParentKind::Answer, id: answer.0 };
            let mut attached = Vec::new();
            for source in &sources {
                let files = &mut self.context.files;
                let request = FileRequest { source, prefix: &tenant.reference_prefix, now };
                let received = files.receive(request).await?;
                let (file_id, file) = files.keep(ports, of, request, received).await?;
                let kept = source.checked_id()?.into_iter().collect();
                self.context.ids.assign(ports, "attachment", kept).await?;
                let locale = tenant.default_locale;
                let id = uploads.attach_file(sender, parent, locale, file_id, &file).await?;
                attached.push(Value::from(id.to_string()));
            }
            ports.responses().set_value(of, *answer, &Value::Array(attached)).await?;
        }
        Ok(())
    }
}

/// The respondent cannot change.
async fn check_user(
    import: &mut Import<'_, '_, ResponseRecordType>,
    fields: &mut ResponseFields,
    response: &mut Response,
) -> ImportResult {
    let given = import.context.refs.resolve_field::<UserId>(import.owner, &fields.user).await?;
    let is_same = given.is_absent() || given.value() == response.user;
    if is_same { Ok(()) } else { Err("user cannot change".into()) }
}

#[expect(clippy::unnecessary_wraps, reason = "setters of other members can fail")]
fn set_digest(fields: &mut ResponseFields, response: &mut Response) -> ImportResult {
    std::mem::take(&mut fields.client_ip_digest).apply(&mut response.client_ip);
    Ok(())
}

async fn set_answers(
    import: &mut Import<'_, '_, ResponseRecordType>,
    fields: &mut ResponseFields,
    response: &mut Response,
) -> ImportResult {
    let given = match std::mem::take(&mut fields.answers) {
        PatchField::Absent => return Ok(()),
        PatchField::Null => return Err("answers cannot be null".into()),
        PatchField::Value(given) if given.is_empty() => return Err("answers must not be empty".into()),
        PatchField::Value(given) => given,
    };
    let form = import.context.ports.questionnaires().form(import.owner, response.questionnaire).await?;
    let mut read = HashMap::new();
    for (reference, value) in &given {
        let id: QuestionId = import.context.refs.resolve(import.owner, reference).await?;
        let question = form.question(id).ok_or_else(|| unknown_ref("question", reference))?;
        if question.question.kind == QuestionType::Files {
            let former = response.answers.iter().find(|row| row.question == id).cloned();
            read.insert(id, import.files_of((id, reference), value, former)?);
            continue;
        }
        let value = with_ids(&mut import.context.refs, import.owner, question, value).await?;
        let answer = question.read_answer(&value);
        let answer = answer.map_err(|error| format!("answers: {reference}: {}", error.description()))?;
        read.insert(id, AnswerRow::new(id, answer.as_ref()));
    }
    import
        .keep_answer_ids(std::mem::take(&mut fields.row_ids), |question| read.contains_key(&question))
        .await?;
    let mut answers: Vec<_> =
        form.questions().iter().filter_map(|question| read.remove(&question.id)).collect();
    // Stored answers have the order of their ids.
    let stored = |row: &AnswerRow| response.answers.iter().position(|other| other.question == row.question);
    answers.sort_by_key(|row| stored(row).unwrap_or(usize::MAX));
    response.answers = answers;
    Ok(())
}

/// The file of an answer; `None` when it was deleted.
async fn exported_file(
    source: ExportSource<'_>,
    of: OrganizationId,
    id: AttachmentId,
) -> Result<Option<Value>> {
    let attachment = source.ports.attachments().find(of, id).await?;
    let Some(file) = attachment.and_then(|attachment| attachment.file) else { return Ok(None) };
    let Some(file) = source.ports.files().find(of, file).await? else { return Ok(None) };
    let mut stream = source.read(&file).await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.try_next().await? {
        bytes.extend_from_slice(&chunk);
    }
    let data = STANDARD.encode(bytes);
    let mut exported = json!({"data": data, "filename": file.filename, "content_type": file.content_type});
    if source.with_ids {
        exported["id"] = id.0.into();
    }
    Ok(Some(exported))
}

/// The value with the ids of options and rows instead of their refs.
async fn with_ids(
    refs: &mut RefResolver<'_>,
    of: OrganizationId,
    question: &FormQuestion,
    value: &Value,
) -> ImportResult<Value> {
    let kind = question.question.kind;
    if !kind.has_options() || value.is_null() {
        return Ok(value.clone());
    }
    if !kind.has_rows() {
        let ids = option_ids(refs, of, value).await?;
        return Ok(match (kind, ids) {
            (QuestionType::SingleOption, Value::Array(ids)) if ids.len() == 1 => ids[0].clone(),
            (_, ids) => ids,
        });
    }
    let mut rows = Map::new();
    for (reference, chosen) in value.as_object().ok_or("answers: a matrix is answered by row")? {
        let row = question.question.rows.iter().find(|row| row.reference == *reference);
        let row = row.ok_or_else(|| unknown_ref("row", reference))?;
        rows.insert(row.id.to_string(), option_ids(refs, of, chosen).await?);
    }
    Ok(Value::Object(rows))
}

/// The ids of one option or of a list.
async fn option_ids(refs: &mut RefResolver<'_>, of: OrganizationId, value: &Value) -> ImportResult<Value> {
    let Value::Array(list) = value else {
        let Some(reference) = value.as_str() else { return Ok(value.clone()) };
        let id: AnswerOptionId = refs.resolve(of, reference).await?;
        return Ok(id.to_string().into());
    };
    let mut ids = Vec::new();
    for item in list {
        let reference = item.as_str().ok_or("answers: options are named by their refs")?;
        let id: AnswerOptionId = refs.resolve(of, reference).await?;
        ids.push(Value::from(id.to_string()));
    }
    Ok(Value::Array(ids))
}

/// Responses, with the error of an import.
struct ImportedResponses<'a>(&'a dyn ResponseStore);

#[async_trait]
impl RecordAdministration<Response> for ImportedResponses<'_> {
    fn records(&self) -> &dyn Records<Response> {
        self.0
    }

    async fn create(&self, organization: OrganizationId, response: &Response) -> Result<ResponseId> {
        self.0.add(organization, response).await.map_err(|error| match error {
            Error::Invalid { .. } => Error::rejected("the user has already answered the questionnaire"),
            other => other,
        })
    }
}

impl ResponseRecordType {
    /// Adds the form of a questionnaire to those of the export.
    async fn load(&mut self, ports: &dyn Ports, of: OrganizationId, id: QuestionnaireId) -> Result<()> {
        if let Entry::Vacant(entry) = self.exported.entry(id) {
            entry.insert(ports.questionnaires().form(of, id).await?);
        }
        Ok(())
    }
}

#[async_trait]
impl OrganizationRecordKind for ResponseRecordType {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Response> {
        ports.responses()
    }

    fn admin<'a>(&self, context: &ImportContext<'a>) -> Box<dyn RecordAdministration<Response> + 'a> {
        let ports = context.ports;
        Box::new(ImportedResponses(ports.responses()))
    }

    /// Also loads the forms of the page.
    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<ResponseId>) -> Rows<Self> {
        let rows = ports.responses().page_after(of, after, PAGE).await?;
        for (_, response) in &rows {
            self.load(ports, of, response.questionnaire).await?;
        }
        Ok(rows)
    }
}

#[async_trait]
impl RecordKind for ResponseRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ResponseFields,
    ) -> ImportResult<Response> {
        let of = import.owner;
        let reference = required("questionnaire", &fields.questionnaire)?;
        let id: QuestionnaireId = import.context.refs.resolve(of, &reference).await?;
        required("answers", &fields.answers)?;
        let user = import.context.refs.resolve_field::<UserId>(of, &fields.user).await?.value();
        let questionnaire = import.context.ports.questionnaires().find(of, id).await?;
        let questionnaire = questionnaire.ok_or_else(|| unknown_ref("questionnaire", &reference))?;
        Ok(Response::new(id, &questionnaire, user, import.context.options.now))
    }

    /// Clients know a response by its first answer.
    fn id_space(&self, _: &Response) -> Option<&'static str> {
        None
    }

    /// The ids that the store assigns to the answers are above those that they get then.
    async fn assign_ids(&self, import: &mut Import<'_, '_, Self>, _: &Response) -> ImportResult {
        let highest = import.context.ids.answers.iter().map(|(_, id)| id.0).max();
        if let Some(highest) = highest {
            import.context.ports.id_spaces().raise(ANSWERS, highest).await?;
        }
        Ok(())
    }

    async fn follow_up(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        id: ResponseId,
        before: Option<&Response>,
        response: &Response,
    ) -> ImportResult {
        if before.is_none_or(|before| before.answers != response.answers) {
            import.set_answer_ids(id).await?;
        }
        if before.is_some() { Ok(()) } else { import.store_files(id, response.created_at).await }
    }

    /// Replaces the ids of attachments by their files. The files of one response are in memory.
    async fn complete(
        &self,
        source: ExportSource<'_>,
        of: OrganizationId,
        (id, response): &(ResponseId, Response),
        mut row: ExportRow,
    ) -> Result<ExportRow> {
        if source.with_ids {
            let ids = source.ports.responses().answer_ids(of, *id).await?;
            let ids: BTreeMap<String, i64> =
                ids.into_iter().map(|(question, answer)| (question.to_string(), answer.0)).collect();
            // Clients know no id of the response itself: another deployment may give it another one.
            if let Some(lowest) = ids.values().min() {
                row = row.replace("ref", lowest.to_string().into());
            }
            row = row.with("row_ids", ids);
        }
        let form = self.exported.get(&response.questionnaire);
        let is_files = |row: &&AnswerRow| {
            let question = form.and_then(|form| form.question(row.question));
            question.is_some_and(|question| question.question.kind == QuestionType::Files)
        };
        let mut answers = None;
        for answer in response.answers.iter().filter(is_files) {
            let Some(ids) = answer.value.as_ref().and_then(Value::as_array) else { continue };
            let mut files = Vec::new();
            for id in ids.iter().filter_map(|id| id.as_str()?.parse().ok()) {
                files.extend(exported_file(source, of, AttachmentId(id)).await?);
            }
            let answers = answers.get_or_insert_with(|| self.answers(response));
            answers.insert(answer.question.to_string(), Value::Array(files));
        }
        Ok(match answers {
            Some(answers) => row.replace("answers", Value::Object(answers)),
            None => row,
        })
    }

    /// Clients know a response by its first answer.
    async fn number(&self, import: &Import<'_, '_, Self>, id: ResponseId) -> ImportResult<Option<i64>> {
        let answers = import.context.ports.responses().answer_ids(import.owner, id).await?;
        Ok(answers.first().map(|(_, id)| id.0))
    }

    fn belongs_to_person(&self, person: &mut ExportedPerson, (_, response): &mut StoredRecord<Self>) -> bool {
        response.user == Some(person.id)
    }
}
