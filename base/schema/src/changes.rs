//! The table of what changed with which release.

/// Defines the enum `Change`, grouped by the release that made the changes.
#[doc(hidden)]
#[macro_export]
macro_rules! changes {
    (
        $(#[doc = $of:literal])+
        $($minor:literal { $($(#[doc = $text:literal])+ $name:ident,)+ })+
    ) => {
        $(#[doc = $of])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Change {
            $($($(#[doc = $text])+ $name,)+)+
        }

        impl Change {
            /// All of them, by release.
            pub const ALL: &[Change] = &[$($(Change::$name,)+)+];

            /// Returns the first release with the change.
            pub fn since(self) -> $crate::Release {
                $crate::Release::of_minor(match self {
                    $($(Change::$name => $minor,)+)+
                })
            }

            /// What is so since then.
            pub fn text(self) -> &'static str {
                match self {
                    $($(Change::$name => concat!($($text),+).trim_ascii(),)+)+
                }
            }
        }

        impl From<Change> for $crate::Release {
            fn from(change: Change) -> $crate::Release {
                change.since()
            }
        }
    };
}
