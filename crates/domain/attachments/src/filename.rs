//! Names of files as their senders gave them. They are shown, and never part of a path.

/// The longest name, in bytes (contract 07 B.5).
pub const MAX_FILENAME_BYTES: usize = 255;

/// The name that is stored: without directories and without characters that are not shown or change the direction of
/// text; empty when nothing remains. It can be longer than [`MAX_FILENAME_BYTES`].
pub fn sanitize(sent: &str) -> String {
    let base = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown: String = base.chars().filter(|c| !c.is_control() && !is_invisible(*c)).collect();
    let trimmed = shown.trim();
    if trimmed.chars().all(|c| c == '.') { String::new() } else { trimmed.to_owned() }
}

/// The name that [`sanitize`] gives, shortened to [`MAX_FILENAME_BYTES`]; the extension stays.
pub fn sanitize_and_shorten(sent: &str) -> String {
    let name = sanitize(sent);
    if name.len() <= MAX_FILENAME_BYTES {
        return name;
    }
    let extension = extension(&name).filter(|extension| extension.len() < 16).unwrap_or_default();
    let suffix = if extension.is_empty() { String::new() } else { format!(".{extension}") };
    let mut end = MAX_FILENAME_BYTES - suffix.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{suffix}", &name[..end])
}

/// The text after the last dot, in lower case; `None` without a dot or without text before or after it.
pub fn extension(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_lowercase())
}

/// Marks without width, and those that change the direction of the text around them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_hidden_characters_are_removed() {
        for (sent, stored) in [
            ("plan.pdf", "plan.pdf"),
            ("../../etc/passwd", "passwd"),
            (r"C:\Users\nora\plan.pdf", "plan.pdf"),
            ("a/b\\c.txt", "c.txt"),
            ("plan\0.pdf\r\n", "plan.pdf"),
            ("\u{202e}fdp.exe", "fdp.exe"),
            ("  plan.pdf ", "plan.pdf"),
            ("..", ""),
            ("...", ""),
            ("dir/", ""),
            ("", ""),
            ("Örtlicher Plan №1.pdf", "Örtlicher Plan №1.pdf"),
        ] {
            assert_eq!(sanitize(sent), stored, "{sent:?}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_extension_and_whole_characters() {
        let name = sanitize_and_shorten(&format!("{}.PDF", "é".repeat(300)));
        assert!(name.len() <= MAX_FILENAME_BYTES && name.ends_with("é.pdf"), "{name}");
        assert_eq!(sanitize_and_shorten(&"x".repeat(300)).len(), MAX_FILENAME_BYTES);
    }

    #[test]
    fn the_extension_is_the_text_after_the_last_dot() {
        assert_eq!(extension("plan.tar.GZ").as_deref(), Some("gz"));
        for none in ["plan", ".pdf", "plan.", ""] {
            assert_eq!(extension(none), None, "{none}");
        }
    }
}
