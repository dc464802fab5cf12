//! `user` (sheet 13 §5.3).

use super::{ExtractionRun, Result, Row, each_row, write_row_record};
use civitas_accounts::{NICKNAME_LENGTH, is_email, is_nickname, normal_email};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Devise unlocks an account after an hour; a restored dump has no clock but its newest row.
const STATEMENT: &str = "SELECT t.*, \
     t.locked_at > (SELECT max(n.updated_at) FROM decidim_users n) - interval '1 hour' AS is_locked, \
     date_trunc('second', t.accepted_tos_version) >= date_trunc('second', coalesce(o.tos_version, '-infinity')) \
     AS has_accepted \
     FROM decidim_users t LEFT JOIN decidim_organizations o ON o.id = t.decidim_organization_id ORDER BY t.id";

/// Nicknames and addresses that are taken, as hashes of organization and folded text.
#[derive(Default)]
struct TakenNames {
    state: RandomState,
    nicknames: HashSet<u64>,
    emails: HashSet<u64>,
}

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    let mut taken = TakenNames::default();
    each_row(run, "decidim_users", STATEMENT, |run, row| user(run, row, &mut taken)).await
}

fn user(run: &mut ExtractionRun<'_>, row: &Row, taken: &mut TakenNames) -> Result {
    let parent = row.int("decidim_organization_id");
    let Some(of) = run.organization_of("user", row, "organization", parent)? else { return Ok(()) };
    let is_group = row.str("type") == "Decidim::UserGroup";
    if !is_group && row.str("type") != "Decidim::User" {
        return run.drop_to_residue("user", row, Some(of), "W-ACCOUNT");
    }
    if !row.get("deleted_at").is_null() {
        return deleted(run, row, of);
    }
    let nickname = nickname(run, row, of, taken);
    let is_managed = is_group || row.flag("managed");
    let hash = if is_managed { None } else { password_hash(run, row, Some(of))? };
    if row.list("roles").next().is_some() {
        run.write_loss(row, Some(of), "W-USERROLE")?;
    }
    let blocked_at = row.time(if row.time("blocked_at").is_null() { "updated_at" } else { "blocked_at" });
    let members = json!({
        "email": email(run, row, of, taken),
        "name": row.filled("name").unwrap_or(&nickname).replace(has_no_place_in_a_name, " "),
        "nickname": nickname,
        "password_hash": hash,
        "admin": !is_group && row.flag("admin"),
        "managed": is_managed,
        "locale": run.languages(of).locale(row.str("locale")),
        "blocked_at": row.flag("blocked").then_some(blocked_at),
        "locked_at": row.flag("is_locked").then(|| row.time("locked_at")),
        "tos_accepted_at": row.flag("has_accepted").then(|| row.time("accepted_tos_version")),
    });
    write_row_record(run, "user", row, of, members)
}

/// A character that no name of an account has here: it ends the line, or turns the direction of what follows.
fn has_no_place_in_a_name(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A deleted account: Decidim emptied it. Votes and authorships point to it.
fn deleted(run: &mut ExtractionRun<'_>, row: &Row, of: i64) -> Result {
    run.deleted_users.insert(row.id());
    let members = json!({
        "nickname": format!("deleted-{}", row.id()),
        "email": import_email(row.id()),
        "name": "Deleted participant",
        "managed": row.flag("managed"),
        "confirmed_at": row.time("confirmed_at"),
        "deleted_at": row.time("deleted_at"),
        "created_at": row.time("created_at"),
        "updated_at": row.time("updated_at"),
    });
    run.write_row_record("user", row.id(), of, members)
}

/// The nickname, or a new one that is valid and free: W-NICKNAME.
fn nickname(run: &mut ExtractionRun<'_>, row: &Row, of: i64, taken: &mut TakenNames) -> String {
    let old = row.str("nickname");
    let hash = |nickname: &str| taken.state.hash_one((of, nickname.to_lowercase()));
    let new = free_nickname(old, row.id(), |nickname| taken.nicknames.insert(hash(nickname)));
    if new != old {
        run.codes.count_loss_with_example("W-NICKNAME", row.table, row.id(), &json!(old), &json!(new));
    }
    new
}

/// The nickname itself; else with `_` for characters that are not allowed, then with `_2`, `_3`, ... `take`: whether a
/// nickname is free, and takes it.
fn free_nickname(old: &str, id: i64, mut take: impl FnMut(&str) -> bool) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let mut base: String = old.trim().chars().map(allowed).take(NICKNAME_LENGTH).collect();
    if base.is_empty() {
        base = format!("user_{id}");
    }
    let mut nickname = base.clone();
    let mut number = 1;
    while !(is_nickname(&nickname) && take(&nickname)) {
        number += 1;
        let suffix = format!("_{number}");
        let kept: String = base.chars().take(NICKNAME_LENGTH - suffix.len()).collect();
        nickname = format!("{kept}{suffix}");
    }
    nickname
}

/// The address, or one that no mail is sent to: W-EMAIL. Examples have no addresses of persons.
fn email(run: &mut ExtractionRun<'_>, row: &Row, of: i64, taken: &mut TakenNames) -> String {
    let email = normal_email(row.str("email"));
    if is_email(&email) && taken.emails.insert(taken.state.hash_one((of, &email))) {
        return email;
    }
    let new = import_email(row.id());
    run.codes.count_loss_with_example("W-EMAIL", row.table, row.id(), &Value::Null, &json!(new));
    new
}

/// An address that mails are never sent to (contract 02 §2.4).
fn import_email(id: i64) -> String {
    format!("decidim-{id}@import.example.org")
}

/// The hash of the password, if it is bcrypt as Devise writes it; else W-PASSWORD (§6.1).
pub(super) fn password_hash(
    run: &mut ExtractionRun<'_>,
    row: &Row,
    of: Option<i64>,
) -> Result<Option<String>> {
    let stored = row.filled("encrypted_password");
    let hash = stored.filter(|hash| is_bcrypt(hash));
    if hash != stored {
        run.write_loss(row, of, "W-PASSWORD")?;
    }
    Ok(hash.map(str::to_owned))
}

/// `^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$`
fn is_bcrypt(hash: &str) -> bool {
    let parts: Vec<&str> = hash.split('$').collect();
    let ["", "2a" | "2b" | "2y", cost, rest] = parts[..] else { return false };
    let is_of_hash = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'/';
    cost.len() == 2
        && cost.parse::<u8>().is_ok_and(|cost| (4..=14).contains(&cost))
        && rest.len() == 53
        && rest.bytes().all(is_of_hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(old: &str, taken: &[&str]) -> String {
        free_nickname(old, 7, |nickname| !taken.contains(&nickname.to_lowercase().as_str()))
    }

    #[test]
    fn nicknames_stay_if_they_are_valid_and_free() {
        assert_eq!(free("Ada-1", &[]), "Ada-1");
        assert_eq!(free("Bob", &["bob", "bob_2"]), "Bob_3");
        assert_eq!(free("odd.nick", &[]), "odd_nick");
        assert_eq!(free("", &[]), "user_7");
        let long = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(free(long, &["abcdefghijklmnopqrst"]), "abcdefghijklmnopqr_2");
    }

    #[test]
    fn hashes_of_other_forms_are_not_taken() {
        assert!(is_bcrypt("$2a$11$q6jA//raH2IAgz78CeDjuOeI2Ba/InfOPz6ntkRu8w7XREshkGQiC"));
        for other in
            ["md5:abc", "$2a$15$q6jA//raH2IAgz78CeDjuOeI2Ba/InfOPz6ntkRu8w7XREshkGQiC", "$2a$11$short", "$1$"]
        {
            assert!(!is_bcrypt(other), "{other}");
        }
    }
}
