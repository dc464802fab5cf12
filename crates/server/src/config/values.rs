//! The types of settings. Their error messages never have a value: it may be a secret.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_application::backups::TimeOfDay;
use civitas_kernel::{ClassNames, Locales};
use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use tracing_subscriber::EnvFilter;
use url::Url;

/// A value as written: one text (also for a number in the file), or a list of texts.
#[derive(Debug, Clone)]
pub(super) enum RawSetting {
    Text(String),
    /// A list in the file. In other sources a list is one text with commas.
    List(Vec<String>),
}

/// Whether a text is a log filter.
pub(super) fn is_filter(text: &str) -> bool {
    EnvFilter::try_new(text).is_ok()
}

/// The format of a setting in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingFormat {
    /// `"text"`
    Text,
    /// `7200`
    Number,
    /// `true`
    Switch,
    /// `["text", "text"]`
    Texts,
    /// `[5, 60]`
    Numbers,
}

/// The type of a setting.
pub(super) trait SettingType: Sized {
    /// Its format in the file.
    const FORMAT: SettingFormat;
    /// What the value must be, for the error message.
    const MUST_BE: &'static str;
    /// Parses a value; `None` if it is invalid.
    fn read(raw: &RawSetting) -> Option<Self>;
}

macro_rules! readable {
    ($($type:ty: $shape:ident, $must:literal;)+) => {$(
        impl SettingType for $type {
            const FORMAT: SettingFormat = SettingFormat::$shape;
            const MUST_BE: &'static str = $must;

            fn read(raw: &RawSetting) -> Option<Self> {
                match raw {
                    RawSetting::Text(text) if !text.trim().is_empty() => text.trim().parse().ok(),
                    _ => None,
                }
            }
        }
    )+};
}

readable! {
    String: Text, "must be a text";
    PathBuf: Text, "must be a path";
    SocketAddr: Text, "must be an address and port, as 127.0.0.1:3000";
    IpAddr: Text, "must be an IP address";
    ClassNames: Text, "must be a capital letter followed by at most 63 letters or digits";
    Scheme: Text, "must be http or https";
    LogFormat: Text, "must be text or json";
    SecretKey: Text, "must be 32 bytes in base64";
    Pepper: Text, "must be a text";
    TimeOfDay: Text, "must be a time of day, as 02:30";
    Origin: Text, "must be an origin, as https://app.example, or *";
    Endpoint: Text, "must be an address, as https://ca.example/directory";
    bool: Switch, "must be true or false";
    NonZeroU16: Number, "must be a number from 1 to 65535";
    NonZeroU32: Number, "must be a number from 1 to 4294967295";
    NonZeroUsize: Number, "must be a number above 0";
}

/// An optional setting: `None` if left out or empty.
impl<T: SettingType> SettingType for Option<T> {
    const FORMAT: SettingFormat = T::FORMAT;
    const MUST_BE: &'static str = T::MUST_BE;

    fn read(raw: &RawSetting) -> Option<Self> {
        match raw {
            RawSetting::Text(text) if text.trim().is_empty() => Some(None),
            _ => T::read(raw).map(Some),
        }
    }
}

impl<T: SettingType> SettingType for Vec<T> {
    const FORMAT: SettingFormat = match T::FORMAT {
        SettingFormat::Number => SettingFormat::Numbers,
        _ => SettingFormat::Texts,
    };
    const MUST_BE: &'static str = T::MUST_BE;

    fn read(raw: &RawSetting) -> Option<Self> {
        let items: Vec<String> = match raw {
            RawSetting::List(items) => items.clone(),
            RawSetting::Text(text) if text.trim().is_empty() => Vec::new(),
            RawSetting::Text(text) => text.split(',').map(str::to_owned).collect(),
        };
        items.into_iter().map(|item| T::read(&RawSetting::Text(item))).collect()
    }
}

impl SettingType for Locales {
    const FORMAT: SettingFormat = SettingFormat::Texts;
    const MUST_BE: &'static str = "must be a list of 1 to 60 different locales, as en or pt-BR";

    fn read(raw: &RawSetting) -> Option<Self> {
        match raw {
            RawSetting::Text(text) => text.parse().ok(),
            RawSetting::List(items) => items.join(",").parse().ok(),
        }
    }
}

/// A limit in bytes, days or requests; `None` when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<usize>);

impl Limit {
    /// The limit as a number of requests.
    pub fn as_rate(self) -> Option<NonZeroU32> {
        NonZeroU32::new(u32::try_from(self.0?).unwrap_or(u32::MAX))
    }

    /// The limit as a number of days, at most a hundred years.
    pub fn as_days(self) -> Option<time::Duration> {
        const MAX_DAYS: i64 = 36_500;
        self.0.map(|days| time::Duration::days(i64::try_from(days).unwrap_or(MAX_DAYS).min(MAX_DAYS)))
    }
}

impl SettingType for Limit {
    const FORMAT: SettingFormat = SettingFormat::Number;
    const MUST_BE: &'static str = "must be a number, 0 for no limit";

    fn read(raw: &RawSetting) -> Option<Self> {
        let RawSetting::Text(text) = raw else { return None };
        let number = if text.trim().is_empty() { 0 } else { text.trim().parse().ok()? };
        Some(Self((number > 0).then_some(number)))
    }
}

/// A network; a single address is a network of one address.
impl SettingType for IpNet {
    const FORMAT: SettingFormat = SettingFormat::Text;
    const MUST_BE: &'static str = "must be a network, as 10.0.0.0/8";

    fn read(raw: &RawSetting) -> Option<Self> {
        let RawSetting::Text(text) = raw else { return None };
        let address = || text.trim().parse::<IpAddr>().map(Self::from);
        text.trim().parse::<Self>().or_else(|_| address()).ok()
    }
}

civitas_kernel::named_enum! {
    /// The scheme of absolute links.
    pub enum Scheme {
        /// `http`
        Http = "http",
        /// `https`
        Https = "https",
    }
}

civitas_kernel::named_enum! {
    /// The format of the log.
    pub enum LogFormat {
        /// A line of text for each event.
        Text = "text",
        /// A JSON object for each event.
        Json = "json",
    }
}

impl FromStr for Scheme {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::parse(text).ok_or(())
    }
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::parse(text).ok_or(())
    }
}

/// The origin of pages in browsers, as its header has it; `*` for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(pub String);

impl FromStr for Origin {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_origin = || Url::parse(text).is_ok_and(|url| url.origin().ascii_serialization() == text);
        if text == "*" || is_origin() { Ok(Self(text.to_owned())) } else { Err(()) }
    }
}

/// The address of a service. It may have a password, and has no output for people.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(pub Url);

impl FromStr for Endpoint {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let url = Url::parse(text).map_err(|_| ())?;
        let is_http = matches!(url.scheme(), "http" | "https") && url.query().is_none();
        if is_http { Ok(Self(url)) } else { Err(()) }
    }
}

/// The deployment's secret: 32 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(pub [u8; civitas_tokens::SECRET_BYTES]);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

impl SecretKey {
    /// In base64, the stored and configured form.
    pub fn encoded(&self) -> String {
        STANDARD.encode(self.0)
    }
}

impl FromStr for SecretKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let bytes = STANDARD.decode(text).map_err(|_| ())?;
        bytes.try_into().map(Self).map_err(|_| ())
    }
}

/// The text that follows each password before it is hashed with bcrypt.
#[derive(Clone, PartialEq, Eq)]
pub struct Pepper(pub String);

impl fmt::Debug for Pepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pepper(..)")
    }
}

impl FromStr for Pepper {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: SettingType>(text: &str) -> Option<T> {
        T::read(&RawSetting::Text(text.to_owned()))
    }

    #[test]
    fn values_are_read_from_text() {
        assert_eq!(read::<Vec<IpAddr>>("127.0.0.1, ::1").unwrap().len(), 2);
        assert_eq!(read::<Vec<IpAddr>>(" "), Some(Vec::new()));
        assert_eq!(read::<Option<NonZeroU16>>(""), Some(None));
        assert_eq!(read::<Limit>("0"), read::<Limit>(""));
        assert_eq!(read::<Vec<Origin>>("https://app.example:8443, *").unwrap().len(), 2);
        assert_eq!(read::<IpNet>("10.0.0.1"), read::<IpNet>("10.0.0.1/32"));
        assert_eq!(read::<SecretKey>(&SecretKey([7; 32]).encoded()), Some(SecretKey([7; 32])));
        assert_eq!(format!("{:?}", SecretKey([7; 32])), "SecretKey(..)");
        assert_eq!(format!("{:?}", read::<Option<Pepper>>("salt")), "Some(Some(Pepper(..)))");
    }

    #[test]
    fn what_is_no_value_is_refused() {
        assert_eq!(read::<NonZeroU16>("0"), None);
        assert_eq!(read::<NonZeroU32>("-1"), None);
        assert_eq!(read::<Limit>("1 MiB"), None);
        assert_eq!(read::<Vec<NonZeroU32>>("5,,60"), None);
        assert_eq!(read::<Scheme>("HTTPS"), None);
        assert_eq!(read::<SocketAddr>("3000"), None);
        for wrong in
            ["app.example", "https://app.example/", "https://app.example:443", "https://APP.example", "null"]
        {
            assert_eq!(read::<Origin>(wrong), None, "{wrong}");
        }
        for wrong in ["127.0.0.1:4318", "ftp://collector", "http://collector/?a=b", "collector"] {
            assert!(read::<Endpoint>(wrong).is_none(), "{wrong}");
        }
        assert_eq!(read::<SecretKey>("c2hvcnQ="), None);
        assert_eq!(String::read(&RawSetting::List(Vec::new())), None);
    }
}
