//! What is read: lists, and the documents of their items (sheet 13 §9; paths and scopes: contract 12).

use std::collections::BTreeSet;

/// The group of extended data, whichever resource has it.
const EXTENDED: &str = "extended_data";

/// A list. Its items are compared, and of a sample their documents.
pub(crate) struct ListDefinition {
    /// The name in the report and in `--only`.
    pub(crate) group: &'static str,
    /// The scope of the token.
    pub(crate) scope: &'static str,
    /// The path. A group in braces stands for the id of each of its items.
    pub(crate) path: &'static str,
    /// The paths of the documents. `{id}` is the id of the item, `{key}` of a space its kind and id.
    pub(crate) documents: &'static [&'static str],
}

const fn list(
    group: &'static str,
    scope: &'static str,
    path: &'static str,
    documents: &'static [&'static str],
) -> ListDefinition {
    ListDefinition { group, scope, path, documents }
}

/// All lists. A list of each item of a group is after that group. Posts are asked for in an order: the module returns
/// them in random order otherwise (07 A.3).
#[rustfmt::skip]
pub(crate) const LISTS: &[ListDefinition] = &[
    list("organizations", "system", "/organizations",
        &["/organizations/{id}", "/organizations/{id}/extended_data?object_path=."]),
    list("users", "oauth", "/users", &[]),
    list(EXTENDED, "oauth", "/me/extended_data?object_path=.", &[]),
    list("roles", "roles", "/roles", &["/roles/{id}"]),
    list("spaces", "public", "/spaces/search", &["/spaces/{key}/extended_data?object_path=."]),
    list("spaces", "public", "/spaces/participatory_processes", &["/spaces/{key}"]),
    list("spaces", "public", "/spaces/assemblies", &["/spaces/{key}"]),
    list("spaces", "public", "/spaces/conferences", &["/spaces/{key}"]),
    list("spaces", "public", "/spaces/initiatives", &["/spaces/{key}"]),
    list("components", "public", "/components/search", &["/components/{id}/extended_data?object_path=."]),
    list("components", "public", "/components/proposal_components", &["/components/proposal_components/{id}"]),
    list("components", "public", "/components/blog_components", &["/components/blog_components/{id}"]),
    list("proposals", "proposals", "/proposals",
        &["/proposals/{id}", "/proposals/{id}/extended_data?object_path=."]),
    list("votes", "proposals", "/vote_proposals", &["/vote_proposals/{id}"]),
    list("meetings", "meetings", "/meetings", &["/meetings/{id}", "/meetings/{id}/extended_data?object_path=."]),
    list("blogs", "blogs", "/blogs?order=published_at", &["/blogs/{id}"]),
    list("questionnaires", "surveys", "/questionnaires", &["/questionnaires/{id}"]),
    list("questions", "surveys", "/questions?filter%5Bquestionnaire_id%5D={questionnaires}", &["/questions/{id}"]),
    list("answer_options", "surveys", "/answer_options?filter%5Bquestion_id%5D={questions}", &[]),
    list("answers", "surveys", "/answers?filter%5Bquestionnaire_id%5D={questionnaires}",
        &["/questionnaire_responses/{id}"]),
    list("attachments", "attachments", "/attachments", &["/attachments/{id}"]),
    list("webhook_registrations", "webhooks", "/webhook_registrations", &["/webhook_registrations/{id}"]),
];

impl ListDefinition {
    /// The group whose items have a list each.
    pub(crate) fn parent(&self) -> Option<&'static str> {
        let (_, parent) = self.path.split_once('{')?;
        parent.strip_suffix('}')
    }

    /// The group that a document is counted in.
    pub(crate) fn group_of(&self, document: &str) -> &'static str {
        if document.contains(EXTENDED) { EXTENDED } else { self.group }
    }

    /// Whether the module returns the list in a fixed order (05 §2.4 and §3.3, 06 §4.4, 07 B.4).
    pub(crate) fn is_ordered(&self) -> bool {
        !matches!(self.group, "spaces" | "components" | "votes" | "attachments")
    }

    /// Whether the list must be read for these groups: for its items, their documents, or lists of each item.
    pub(crate) fn is_needed(&self, is_wanted: &impl Fn(&str) -> bool) -> bool {
        is_wanted(self.group)
            || self.documents.iter().any(|document| is_wanted(self.group_of(document)))
            || self.children().any(|child| child.is_needed(is_wanted))
    }

    /// The lists of each of its items.
    pub(crate) fn children(&self) -> impl Iterator<Item = &'static Self> {
        let group = self.group;
        LISTS.iter().filter(move |child| child.parent() == Some(group))
    }
}

/// The groups, as `--only` names them.
pub fn groups() -> BTreeSet<&'static str> {
    LISTS.iter().map(|collection| collection.group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_before_their_children() {
        let mut seen = Vec::new();
        for collection in LISTS {
            assert!(collection.parent().is_none_or(|parent| seen.contains(&parent)), "{}", collection.path);
            seen.push(collection.group);
        }
        assert_eq!(LISTS.iter().filter_map(ListDefinition::parent).count(), 3);
    }

    #[test]
    fn a_group_needs_the_lists_of_its_parents() {
        let read = |group: &'static str| {
            let lists = LISTS.iter().filter(|list| list.is_needed(&|name: &str| name == group));
            lists.map(|list| list.group).collect::<Vec<_>>()
        };
        assert_eq!(read("answer_options"), ["questionnaires", "questions", "answer_options"]);
        assert_eq!(read("votes"), ["votes"]);
        assert!(read(EXTENDED).contains(&"meetings"));
    }
}
