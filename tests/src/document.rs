//! Validates every answer of the tests against the OpenAPI document.

use civitas_application::SiteSettings;
use civitas_kernel::{ClassNames, Locales};
use jsonschema::Validator as Schema;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The path prefix of the interface; paths of the document are below it.
const BASE: &str = "/api/rest_full/v0.3";

/// Validates answers of operations.
pub struct Validator {
    document: Value,
    /// Compiled schemas, by their text: many operations have the same, as that of errors.
    compiled: Mutex<HashMap<String, Arc<OnceLock<Schema>>>>,
}

impl Default for Validator {
    fn default() -> Self {
        Self::new()
    }
}

impl Validator {
    /// Uses the document of the interface.
    ///
    /// # Panics
    /// When the document is not JSON.
    pub fn new() -> Self {
        Self::of(&Locales::standard(), &ClassNames::default())
    }

    /// Uses the document of a deployment with these languages and class names.
    ///
    /// # Panics
    /// When the document is not JSON.
    pub fn of(locales: &Locales, names: &ClassNames) -> Self {
        let site =
            SiteSettings { locales: locales.clone(), class_names: names.clone(), ..SiteSettings::default() };
        Self::over(serde_json::from_str(&civitas_api::openapi(&site)).expect("the document is JSON"))
    }

    /// Uses another document.
    pub fn over(document: Value) -> Self {
        Self { document, compiled: Mutex::default() }
    }

    /// Checks an answer: its operation and status must be documented, and the body must match the schema.
    ///
    /// `path` is below the base or begins with it, a template or a concrete path; a query is ignored. `Null` means no
    /// body. Aliases of contract 12 are checked as their operation; a path without an operation must answer 404.
    ///
    /// # Panics
    /// With the list of errors.
    pub fn check(&self, method: &str, path: &str, status: u16, body: &Value) {
        let faults = self.faults(method, path, status, body);
        let mut list = String::new();
        for fault in &faults {
            let _ = writeln!(list, "  - {fault}");
        }
        assert!(faults.is_empty(), "{method} {path} answered {status} against its document:\n{list}{body:#}");
    }

    /// The errors of an answer; empty when it is valid.
    pub fn faults(&self, method: &str, path: &str, status: u16, body: &Value) -> Vec<String> {
        let Some((name, operation)) = self.operation(method, path) else {
            return self.faults_of_no_operation(status, body);
        };
        let Some(response) = operation["responses"].get(status.to_string()) else {
            let known: Vec<&String> =
                operation["responses"].as_object().into_iter().flat_map(Map::keys).collect();
            return vec![format!("{name} has no status {status}, but {known:?}")];
        };
        match (response["content"]["application/json"].get("schema"), body) {
            (None, Value::Null) => Vec::new(),
            (None, _) => vec![format!("{name} has no JSON body with status {status}")],
            (Some(_), Value::Null) => {
                vec![format!("{name} has a JSON body with status {status}, and none came")]
            }
            (Some(schema), body) => self.misfits(schema, body),
        }
    }

    /// The errors of a value, by a named schema of this document.
    ///
    /// # Panics
    /// When there is no such schema.
    pub fn misfits_of(&self, schema: &str, value: &Value) -> Vec<String> {
        assert!(self.document["components"]["schemas"].get(schema).is_some(), "no schema {schema}");
        self.misfits(&json!({"$ref": format!("#/components/schemas/{schema}")}), value)
    }

    /// The document.
    pub fn document(&self) -> &Value {
        &self.document
    }

    fn faults_of_no_operation(&self, status: u16, body: &Value) -> Vec<String> {
        if status == 404 {
            return self.misfits_of("error", body);
        }
        vec!["no such operation is documented, and the answer is no 404".to_owned()]
    }

    fn misfits(&self, schema: &Value, value: &Value) -> Vec<String> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let known = compiled.entry(schema.to_string()).or_default().clone();
        // Other tests do not wait for this schema.
        drop(compiled);
        known
            .get_or_init(|| self.compile(schema))
            .iter_errors(value)
            .map(|fault| format!("{}: {fault}", at(fault.instance_path().as_str())))
            .collect()
    }

    fn compile(&self, schema: &Value) -> Schema {
        let mut whole = schema.clone();
        whole["components"] = self.document["components"].clone();
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        options.build(&whole).unwrap_or_else(|fault| panic!("the schema is not sound: {fault}\n{schema:#}"))
    }

    /// The operation of a request: its own, or that of which it is an alias.
    fn operation(&self, method: &str, path: &str) -> Option<(String, &Value)> {
        let path = path.split('?').next().unwrap_or_default();
        let path = path.strip_prefix(BASE).unwrap_or(path);
        let path = if path.is_empty() { "/" } else { path };
        let verb = match method.to_ascii_lowercase().as_str() {
            "head" => "get".to_owned(),
            "patch" => "put".to_owned(),
            verb => verb.to_owned(),
        };
        let alias = path.strip_suffix("/sync").filter(|_| verb == "delete");
        self.at(&verb, path).or_else(|| self.at(&verb, alias?))
    }

    /// The operation whose path matches with the fewest parameters.
    fn at(&self, verb: &str, path: &str) -> Option<(String, &Value)> {
        let paths = self.document["paths"].as_object()?;
        let fitting =
            paths.iter().filter(|(template, item)| item.get(verb).is_some() && fits(template, path));
        let (template, item) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
        let operation = &item[verb];
        let id = operation["operationId"].as_str().map(str::to_owned);
        Some((id.unwrap_or_else(|| format!("{verb} {template}")), operation))
    }
}

fn fits(template: &str, path: &str) -> bool {
    let (mut ours, mut theirs) = (template.split('/'), path.split('/'));
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return true,
            (Some(place), Some(part)) if place.starts_with('{') && !part.is_empty() => {}
            (Some(word), Some(part)) if word == part => {}
            _ => return false,
        }
    }
}

fn at(pointer: &str) -> &str {
    if pointer.is_empty() { "the body" } else { pointer }
}
