//! `names!`: enums whose values have a name on the wire and in the database.

/// Gives an enum `ALL` and `NAMES`, in the order of this list, `as_str` and `parse`.
///
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Answer {
///     Yes,
///     No,
/// }
/// civitas_kernel::names! { Answer { Yes = "yes", No = "no" } }
///
/// assert_eq!(Answer::No.as_str(), "no");
/// assert_eq!(Answer::parse("yes"), Some(Answer::Yes));
/// assert_eq!((Answer::parse("Yes"), Answer::NAMES), (None, ["yes", "no"].as_slice()));
/// ```
#[macro_export]
macro_rules! names {
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
                Self::ALL.into_iter().find(|value| value.as_str() == name)
            }
        }
    };
}
