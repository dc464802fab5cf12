//! Generates `civitas.example.toml` from the settings.

use super::{SETTINGS, Setting, SettingFormat};
use std::fmt::Write;

/// Every setting with its meaning and its default, commented out: the text of `civitas.example.toml`.
pub fn example() -> String {
    let mut text = String::from(
        "# Settings of Civitas: copy to civitas.toml and uncomment what is to differ.\n\
         # A flag (--listen) is stronger, and so is the environment (CIVITAS_LISTEN).\n",
    );
    for setting in SETTINGS {
        text.push('\n');
        for line in setting.doc {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "#{line}");
        }
        let _ = writeln!(text, "# {} = {}", setting.name, in_file(setting));
    }
    text
}

/// The default in the format of the file.
fn in_file(setting: &Setting) -> String {
    let items = || setting.default.split(',').map(str::trim).filter(|item| !item.is_empty());
    match setting.shape {
        SettingFormat::Switch => setting.default.to_owned(),
        SettingFormat::Number if !setting.default.is_empty() => setting.default.to_owned(),
        SettingFormat::Text | SettingFormat::Number => format!("{:?}", setting.default),
        SettingFormat::Numbers => format!("[{}]", items().collect::<Vec<_>>().join(", ")),
        SettingFormat::Texts => {
            format!("[{}]", items().map(|item| format!("{item:?}")).collect::<Vec<_>>().join(", "))
        }
    }
}
