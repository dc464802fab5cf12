//! Recognises the version of a source by its structure (sheet 13 §2.1).

use crate::schema::Columns;

/// A supported version of Decidim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 0.29
    V29,
    /// 0.30
    V30,
    /// 0.31
    V31,
    /// 0.32
    V32,
}

impl Version {
    /// `0.32`
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V29 => "0.29",
            Self::V30 => "0.30",
            Self::V31 => "0.31",
            Self::V32 => "0.32",
        }
    }

    /// The version of a database with these columns.
    ///
    /// # Errors
    /// Why it is not supported: too new, too old, no Decidim, or marks that contradict each other.
    pub(crate) fn recognise(columns: &Columns) -> Result<Self, String> {
        // `table` or `table.column`
        let has = |name: &str| {
            let (table, column) = name.split_once('.').unwrap_or((name, ""));
            let table = columns.get(&format!("decidim_{table}"));
            table.is_some_and(|table| column.is_empty() || table.contains_key(column))
        };
        let Some(organizations) = columns.get("decidim_organizations") else {
            return Err("this is no Decidim database".to_owned());
        };
        if has("participatory_process_phases") || has("attachments.deleted_at") {
            return Err("the database is newer than Decidim 0.32".to_owned());
        }
        let (processes, assemblies) =
            (has("participatory_processes.access_mode"), has("assemblies.access_mode"));
        let is_29 = has("proposals_proposal_states")
            && organizations.get("name").is_some_and(|type_name| type_name == "jsonb");
        let version = if has("members") || processes || assemblies {
            Self::V32
        } else if has("forms_responses") {
            Self::V31
        } else if has("components.deleted_at") || has("taxonomies") {
            Self::V30
        } else if is_29 {
            Self::V29
        } else {
            return Err("the database is older than Decidim 0.29: upgrade Decidim first".to_owned());
        };
        // Each version has the marks of those before it, and not the tables that it renamed.
        let is_30 = has("components.deleted_at");
        let is_31 = has("forms_responses") && !has("forms_answers");
        let is_32 = has("members") && processes && assemblies && !has("participatory_space_private_users");
        let marks = [(Self::V29, is_29), (Self::V30, is_30), (Self::V31, is_31), (Self::V32, is_32)];
        if marks.into_iter().all(|(of, has_marks)| has_marks || version < of) {
            return Ok(version);
        }
        Err(format!(
            "the database is partly Decidim {} and partly older: an upgrade was not completed",
            version.as_str()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Columns {
        let mut columns = Columns::new();
        for name in names {
            let (table, column) = name.split_once('.').unwrap_or((name, "id"));
            let of: &mut std::collections::BTreeMap<_, _> =
                columns.entry(format!("decidim_{table}")).or_default();
            of.insert(column.to_owned(), if column == "name" { "jsonb" } else { "x" }.to_owned());
        }
        columns
    }

    const V29: &[&str] = &["organizations.name", "proposals_proposal_states", "forms_answers"];

    #[test]
    fn a_version_is_recognised_by_its_structure() {
        let of = |more: &[&str], without: &str| {
            let names: Vec<_> = V29.iter().chain(more).copied().filter(|name| *name != without).collect();
            Version::recognise(&columns(&names))
        };
        assert_eq!(of(&[], ""), Ok(Version::V29));
        assert_eq!(of(&["components.deleted_at", "taxonomies"], ""), Ok(Version::V30));
        assert_eq!(of(&["components.deleted_at", "forms_responses"], "forms_answers"), Ok(Version::V31));
        let newest = [
            "components.deleted_at",
            "forms_responses",
            "members",
            "participatory_processes.access_mode",
            "assemblies.access_mode",
        ];
        assert_eq!(of(&newest, "forms_answers"), Ok(Version::V32));
        assert!(of(&newest, "").is_err(), "both names of one table");
        assert!(of(&newest[..4], "forms_answers").is_err(), "half of the columns");
        assert!(of(&["participatory_process_phases"], "").is_err(), "newer");
        assert!(of(&[], "proposals_proposal_states").is_err(), "older");
        assert!(Version::recognise(&columns(&[])).is_err());
    }
}
