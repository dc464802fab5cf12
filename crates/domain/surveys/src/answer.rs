//! Reads one submitted value by the shape of its question (contract 08 §4.3, §6.3).

use crate::form::AnswerShape;
use crate::{FormOption, FormQuestion};
use civitas_kernel::{AnswerOptionId, MatrixRowId, whole};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A text.
    Text(String),
    /// Options: of `single_option` one; of `multiple_option` ordered by id; of `sorting` in the order of the answer.
    Options(Vec<AnswerOptionId>),
    /// The option of each row.
    Rows(BTreeMap<MatrixRowId, AnswerOptionId>),
    /// The options of each row, ordered by id.
    RowLists(BTreeMap<MatrixRowId, Vec<AnswerOptionId>>),
    /// Files, by the signed ids of their uploads.
    Uploads(Vec<String>),
}

/// Why an answer is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerError {
    /// The question must be answered.
    Blank,
    /// Not all rows have a choice, or not all options are sorted.
    Incomplete,
    /// The text is too long.
    TooLong,
    /// There are too many options.
    TooMany,
    /// An option or a row is not one of the question.
    Foreign,
    /// An option or a file is named twice.
    Repeated,
    /// The value has another type, or there is more than one option.
    Invalid,
}

impl AnswerError {
    /// The code and the sentence (contract 08 §6.3).
    pub(crate) fn wording(self) -> (&'static str, &'static str) {
        match self {
            Self::Blank => ("blank", "Answer cannot be blank"),
            Self::Incomplete => ("missing", "Choices are not complete"),
            Self::TooLong => ("too_long", "Answer is too long"),
            Self::TooMany => ("too_many", "Too many choices"),
            Self::Foreign => ("inclusion", "Choice is not included in the list"),
            Self::Repeated => ("invalid", "Choice is not included in the list"),
            Self::Invalid => ("invalid", "Answer is invalid"),
        }
    }
}

type Read<T> = Result<T, AnswerError>;

/// Whether a submitted value is no answer.
pub(crate) fn is_unanswered(sent: &Value) -> bool {
    match sent {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Reads a value without the rules on its size: its type, its options and rows. `None`: unanswered.
pub(crate) fn read(shape: AnswerShape<'_>, sent: &Value) -> Read<Option<Answer>> {
    if is_unanswered(sent) {
        return Ok(None);
    }
    Ok(Some(match shape {
        AnswerShape::Text { .. } => Answer::Text(sent.as_str().ok_or(AnswerError::Invalid)?.to_owned()),
        AnswerShape::One { options } => Answer::Options(vec![option(options, sent)?]),
        AnswerShape::Many { options, .. } => Answer::Options(sorted(list(options, sent)?)),
        AnswerShape::Sorting { options } => Answer::Options(list(options, sent)?),
        AnswerShape::MatrixSingle { options, .. } => {
            let rows = rows(shape, sent, |choice| option(options, choice))?;
            if rows.is_empty() {
                return Ok(None);
            }
            Answer::Rows(rows)
        }
        AnswerShape::MatrixMultiple { options, .. } => {
            let rows = rows(shape, sent, |choices| Ok(sorted(list(options, choices)?)))?;
            if rows.is_empty() {
                return Ok(None);
            }
            Answer::RowLists(rows)
        }
        AnswerShape::Files => Answer::Uploads(uploads(sent)?),
    }))
}

/// Checks the size of a submitted value that is read: the rules of the question (contract 08 §6.3).
pub(crate) fn check(
    question: &FormQuestion,
    shape: AnswerShape<'_>,
    sent: &Value,
    answer: Option<&Answer>,
) -> Read<()> {
    let is_mandatory = question.must_be_answered();
    let Some(answer) = answer else {
        // An object without a choice in any row has rows without one.
        let has_rows = sent.as_object().is_some_and(|rows| !rows.is_empty());
        return match (is_mandatory, has_rows) {
            (false, _) => Ok(()),
            (true, true) => Err(AnswerError::Incomplete),
            (true, false) => Err(AnswerError::Blank),
        };
    };
    let is_over = |count: usize, max: Option<usize>| max.is_some_and(|max| count > max);
    match (shape, answer) {
        (AnswerShape::Text { max }, Answer::Text(text)) if is_over(text.chars().count(), max) => {
            Err(AnswerError::TooLong)
        }
        (AnswerShape::Many { max, .. }, Answer::Options(chosen)) if is_over(chosen.len(), max) => {
            Err(AnswerError::TooMany)
        }
        (AnswerShape::Sorting { options }, Answer::Options(chosen)) if chosen.len() != options.len() => {
            Err(AnswerError::Incomplete)
        }
        (AnswerShape::MatrixMultiple { max, .. }, Answer::RowLists(chosen))
            if chosen.values().any(|row| is_over(row.len(), max)) =>
        {
            Err(AnswerError::TooMany)
        }
        (AnswerShape::MatrixSingle { rows, .. }, Answer::Rows(chosen))
            if is_mandatory && chosen.len() < rows.len() =>
        {
            Err(AnswerError::Incomplete)
        }
        (AnswerShape::MatrixMultiple { rows, .. }, Answer::RowLists(chosen))
            if is_mandatory && chosen.len() < rows.len() =>
        {
            Err(AnswerError::Incomplete)
        }
        _ => Ok(()),
    }
}

/// An id as text without sign and leading zeros, or as a JSON integer.
fn number(sent: &Value) -> Read<i64> {
    match sent {
        Value::String(text) => {
            text.parse().ok().filter(|number: &i64| number.to_string() == *text).ok_or(AnswerError::Foreign)
        }
        Value::Number(number) => whole(number).ok_or(AnswerError::Invalid),
        _ => Err(AnswerError::Invalid),
    }
}

fn option(options: &[FormOption], sent: &Value) -> Read<AnswerOptionId> {
    let id = AnswerOptionId(number(sent)?);
    options.binary_search_by_key(&id, |option| option.id).map(|_| id).map_err(|_| AnswerError::Foreign)
}

/// A list of different options, or one option.
fn list(options: &[FormOption], sent: &Value) -> Read<Vec<AnswerOptionId>> {
    let items = sent.as_array().map_or(std::slice::from_ref(sent), Vec::as_slice);
    let chosen: Vec<AnswerOptionId> = items.iter().map(|item| option(options, item)).collect::<Read<_>>()?;
    let distinct: BTreeSet<_> = chosen.iter().collect();
    if distinct.len() == chosen.len() { Ok(chosen) } else { Err(AnswerError::Repeated) }
}

fn sorted(mut chosen: Vec<AnswerOptionId>) -> Vec<AnswerOptionId> {
    chosen.sort_unstable();
    chosen
}

/// The rows with a choice.
fn rows<T>(
    shape: AnswerShape<'_>,
    sent: &Value,
    read: impl Fn(&Value) -> Read<T>,
) -> Read<BTreeMap<MatrixRowId, T>> {
    let (AnswerShape::MatrixSingle { rows, .. } | AnswerShape::MatrixMultiple { rows, .. }) = shape else {
        return Err(AnswerError::Invalid);
    };
    let sent = sent.as_object().ok_or(AnswerError::Invalid)?;
    let mut chosen = BTreeMap::new();
    for (key, choice) in sent {
        let row = rows.iter().find(|row| row.id.to_string() == *key).ok_or(AnswerError::Foreign)?;
        if !is_unanswered(choice) {
            chosen.insert(row.id, read(choice)?);
        }
    }
    Ok(chosen)
}

/// A list of different texts, or one text.
fn uploads(sent: &Value) -> Read<Vec<String>> {
    let items = sent.as_array().map_or(std::slice::from_ref(sent), Vec::as_slice);
    let text = |item: &Value| item.as_str().map(str::to_owned).ok_or(AnswerError::Invalid);
    let uploads: Vec<String> = items.iter().map(text).collect::<Read<_>>()?;
    let distinct: BTreeSet<_> = uploads.iter().collect();
    if distinct.len() == uploads.len() { Ok(uploads) } else { Err(AnswerError::Invalid) }
}

impl Answer {
    /// The chosen options, of all rows.
    pub(crate) fn options(&self) -> Vec<AnswerOptionId> {
        match self {
            Self::Text(_) | Self::Uploads(_) => Vec::new(),
            Self::Options(chosen) => chosen.clone(),
            Self::Rows(rows) => rows.values().copied().collect(),
            Self::RowLists(rows) => rows.values().flatten().copied().collect(),
        }
    }

    /// The text that is stored, for an answer that is a text.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The JSON value that is stored, for choices. `None` for texts, and for files until they are attached.
    pub fn choices(&self) -> Option<Value> {
        let texts = |chosen: &[AnswerOptionId]| -> Value { chosen.iter().map(ToString::to_string).collect() };
        match self {
            Self::Text(_) | Self::Uploads(_) => None,
            Self::Options(chosen) => Some(texts(chosen)),
            Self::Rows(rows) => {
                let rows = rows.iter().map(|(row, option)| (row.to_string(), json!(option.to_string())));
                Some(Value::Object(rows.collect::<Map<_, _>>()))
            }
            Self::RowLists(rows) => {
                let rows = rows.iter().map(|(row, chosen)| (row.to_string(), texts(chosen)));
                Some(Value::Object(rows.collect::<Map<_, _>>()))
            }
        }
    }
}
