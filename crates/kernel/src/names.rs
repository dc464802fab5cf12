//! `named_enum!`: enums whose values have a name on the wire and in the database.

/// Declares an enum of plain values which have names, with `ALL` and `NAMES` in their order, `as_str`, `parse` and
/// `Display`. Of an enum that is declared elsewhere it takes the name and the values, in the order of `ALL`.
///
/// ```
/// civitas_kernel::named_enum! {
///     enum Reply {
///         Yes = "yes",
///         No = "no",
///     }
/// }
///
/// assert_eq!(Reply::No.as_str(), "no");
/// assert_eq!(Reply::parse("yes"), Some(Reply::Yes));
/// assert_eq!((Reply::parse("Yes"), Reply::NAMES), (None, ["yes", "no"].as_slice()));
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$about:meta])*
        $vis:vis enum $Type:ident { $($(#[$doc:meta])* $value:ident = $name:literal),+ $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $Type {
            $($(#[$doc])* #[doc = concat!("`", $name, "`")] $value),+
        }

        $crate::named_enum! { $Type { $($value = $name),+ } }
    };
    ($Type:ident { $($value:ident = $name:literal),+ $(,)? }) => {
        impl $Type {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];
            /// The names of all, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name on the wire and in the database.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $name),+
                }
            }

            /// The one with this name, case-sensitive.
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$value),)+
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Display for $Type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
