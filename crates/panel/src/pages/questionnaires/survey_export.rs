//! Export of the responses to a questionnaire as CSV and as NDJSON. Responses are read in pages by time and id, the
//! newest first: one page is in memory.

use super::opened_survey::{OpenedQuestionnaire, audit_entry};
use super::survey_answers::{Answer, Files, read_answer};
use super::survey_responses::{languages, origin};
use crate::admin_request::AdminRequest;
use crate::panel::Panel;
use crate::reply::{Chunks, Reply};
use actix_web::web::Bytes;
use civitas_audit::Action;
use civitas_kernel::{Error, LogRequest, LogStart, OrganizationId, QuestionnaireId, ResponseId, Result};
use civitas_surveys::{Form, FormQuestion, ResponseDetail, TextLanguages};
use futures_util::StreamExt;
use futures_util::stream::{once, try_unfold};
use serde_json::{Map, Value, json};
use std::future::ready;
use std::sync::Arc;
use time::format_description::well_known::Rfc3339;

/// Responses in one page of an export.
const RESPONSES_PER_PAGE: i64 = 100;

/// The byte order mark, without which Excel does not read a file of CSV as UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What an export needs of a questionnaire.
struct Export {
    panel: Arc<Panel>,
    organization: OrganizationId,
    questionnaire: QuestionnaireId,
    form: Form,
    languages: TextLanguages,
    /// Scheme and host of the organization.
    origin: String,
    /// CSV; NDJSON otherwise.
    is_csv: bool,
}

pub(crate) async fn export(req: &AdminRequest) -> Result<Reply> {
    let (extension, media_type) = match req.path_param("format") {
        "csv" => ("csv", "text/csv; charset=utf-8"),
        "ndjson" => ("ndjson", "application/x-ndjson"),
        _ => return Err(Error::NotFound),
    };
    let survey = OpenedQuestionnaire::from_path(req).await?;
    let form = req.store().questionnaires().form(survey.organization_id, survey.id).await?;
    let entry =
        audit_entry(req, &survey, Action::ResponsesExported).with_change("format", None, Some(extension));
    req.change_with_audit(async |_| Ok(()), |()| Some(entry.clone())).await?;
    let export = Export {
        panel: req.panel.clone(),
        organization: survey.organization_id,
        questionnaire: survey.id,
        languages: languages(req, &survey),
        origin: origin(req, &survey),
        form,
        is_csv: extension == "csv",
    };
    let filename = format!("responses-{}.{extension}", survey.id);
    Ok(Reply::Download { media_type, filename, chunks: export.chunks()? })
}

impl Export {
    fn chunks(self) -> Result<Chunks> {
        let head =
            if self.is_csv { [BYTE_ORDER_MARK, &csv([self.column_names()])?].concat() } else { Vec::new() };
        let pages = try_unfold((self, Some(LogStart::Newest)), |(export, start)| async move {
            let Some(start) = start else { return Ok::<_, Error>(None) };
            let page = export.read_responses(start).await.inspect_err(|error| {
                tracing::error!(%error, cause = ?error.cause(), "an export of responses failed");
            });
            page.map(|(bytes, next)| Some((bytes, (export, next))))
        });
        Ok(Chunks(once(ready(Ok(head.into()))).chain(pages).boxed_local()))
    }

    /// Some responses as text, and the start of the next ones.
    async fn read_responses(
        &self,
        start: LogStart<ResponseId>,
    ) -> Result<(Bytes, Option<LogStart<ResponseId>>)> {
        let store = self.panel.store();
        let request = LogRequest { start, limit: RESPONSES_PER_PAGE };
        let page = store.responses().log(self.organization, self.questionnaire, &request).await?;
        let owner = (self.organization, self.origin.as_str());
        let responses = page.items.iter().map(|(_, detail)| &detail.response);
        let files = Files::load(store.answer_files(), owner, &self.form, responses).await?;
        let details = page.items.iter().map(|(_, detail)| detail);
        let bytes = if self.is_csv {
            csv(details.map(|detail| self.cells(detail, &files)))?
        } else {
            self.lines(details, &files)?
        };
        let last = page.items.last().filter(|_| page.has_older);
        let next = last.map(|(id, last)| LogStart::OlderThan(last.response.created_at, *id));
        Ok((bytes.into(), next))
    }

    /// The questions that have answers.
    fn questions(&self) -> impl Iterator<Item = &FormQuestion> {
        self.form.questions().iter().filter(|question| !question.question.kind.is_presentation())
    }

    /// The first line: a column for each question, and for each row of a matrix.
    fn column_names(&self) -> Vec<String> {
        let mut head = ["id", "submitted_at", "user_id"].map(str::to_owned).to_vec();
        for question in self.questions() {
            let title = self.languages.text(&question.question.body).unwrap_or_default();
            if question.question.kind.has_rows() {
                for row in &question.question.rows {
                    let row = self.languages.text(&row.body).unwrap_or_default();
                    head.push(format!("{title}: {row}"));
                }
            } else {
                head.push(title.to_owned());
            }
        }
        head
    }

    fn cells(&self, detail: &ResponseDetail, files: &Files) -> Vec<String> {
        let response = &detail.response;
        let user = response.user.map(|user| user.to_string()).unwrap_or_default();
        let mut cells = vec![detail.id.to_string(), submitted_at(detail), user];
        for question in self.questions() {
            let row = response.answers.iter().find(|row| row.question == question.id);
            let answer = row.map_or(Answer::Nothing, |row| read_answer(question, row, self.languages, files));
            if question.question.kind.has_rows() {
                let mut chosen = match answer {
                    Answer::Rows(rows) => rows.into_iter().map(|(_, chosen)| chosen.join("; ")).collect(),
                    _ => Vec::new(),
                };
                chosen.resize(question.question.rows.len(), String::new());
                cells.extend(chosen);
            } else {
                cells.push(cell(answer));
            }
        }
        cells
    }

    fn lines<'a>(&self, details: impl Iterator<Item = &'a ResponseDetail>, files: &Files) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for detail in details {
            let mut answers = Map::new();
            for row in &detail.response.answers {
                let Some(question) = self.form.question(row.question) else { continue };
                let value = match read_answer(question, row, self.languages, files) {
                    Answer::Files(names) => {
                        let file = |(name, url): &(String, String)| json!({"filename": name, "url": url});
                        names.iter().map(file).collect()
                    }
                    _ => row.read_back(),
                };
                answers.insert(row.question.to_string(), value);
            }
            let line = json!({
                "id": detail.id.to_string(),
                "submitted_at": submitted_at(detail),
                "user_id": detail.response.user.map(|user| user.to_string()),
                "answers": Value::Object(answers),
            });
            serde_json::to_writer(&mut bytes, &line).map_err(Error::internal)?;
            bytes.push(b'\n');
        }
        Ok(bytes)
    }
}

fn submitted_at(detail: &ResponseDetail) -> String {
    detail.response.created_at.format(&Rfc3339).unwrap_or_default()
}

fn cell(answer: Answer) -> String {
    match answer {
        Answer::Nothing => String::new(),
        Answer::Text(text) => text,
        Answer::Chosen(chosen) => chosen.join("; "),
        Answer::Rows(rows) => {
            let rows = rows.into_iter().map(|(row, chosen)| format!("{row}: {}", chosen.join("; ")));
            rows.collect::<Vec<_>>().join("; ")
        }
        Answer::Files(names) => names
            .into_iter()
            .map(|(name, url)| if url.is_empty() { name } else { url })
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// Lines of CSV. A spreadsheet computes cells that begin with `=`, `+`, `-` or `@`, also after a tab or a line end: they
/// get a leading apostrophe.
fn csv(lines: impl IntoIterator<Item = Vec<String>>) -> Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    for line in lines {
        let cells = line.into_iter().map(|cell| {
            if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{cell}") } else { cell }
        });
        writer.write_record(cells).map_err(Error::internal)?;
    }
    writer.into_inner().map_err(|error| Error::internal(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        let line = ["=1+1", "+1", "-1", "@a", "\t=1", "a=1", "", "1"].map(str::to_owned).to_vec();
        let text = String::from_utf8(csv([line]).unwrap()).unwrap();
        assert_eq!(text, "'=1+1,'+1,'-1,'@a,'\t=1,a=1,,1\r\n");
    }

    #[test]
    fn quotes_commas_and_line_ends_stay_in_their_cell() {
        let line = ["a,b", "say \"no\"", "one\ntwo"].map(str::to_owned).to_vec();
        let text = String::from_utf8(csv([line.clone()]).unwrap()).unwrap();
        assert_eq!(text, "\"a,b\",\"say \"\"no\"\"\",\"one\ntwo\"\r\n");
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let read = reader.records().next().unwrap().unwrap();
        assert_eq!(read.iter().collect::<Vec<_>>(), line);
    }

    #[test]
    fn an_answer_is_one_cell() {
        let rows = vec![("Clean".to_owned(), vec!["Yes".to_owned()])];
        assert_eq!(cell(Answer::Rows(rows)), "Clean: Yes");
        assert_eq!(cell(Answer::Chosen(vec!["a".to_owned(), "b".to_owned()])), "a; b");
        let files = vec![("n".to_owned(), "https://x/n".to_owned()), ("#8".to_owned(), String::new())];
        assert_eq!(cell(Answer::Files(files)), "https://x/n #8");
    }
}
