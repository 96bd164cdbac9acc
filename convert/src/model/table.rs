//! Declares objects as tables of their members.

/// Declares an object: a struct and its [`Object`]. See the module `model` for the modes of members.
///
/// `flat { member: Type }` comes first and includes the members of another object; `extensions` comes last and allows
/// extensions, which `faithful extensions` drops for kube-openapi.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $name:ident, $what:literal $(, site $site:ident)?;
        $(flat { $(#[$flat_doc:meta])* $flat:ident: $flat_ty:ty })?
        { $($(#[$member_doc:meta])* $mode:ident $member:ident: $ty:ty = $key:literal,)* }
        $($ext:ident)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Default)]
        pub struct $name<'a> {
            $($(#[$flat_doc])* pub $flat: $flat_ty,)?
            $($(#[$member_doc])* #[doc = concat!("`", $key, "`")] pub $member: $ty,)*
            /// `x-` members. Always empty if the specification allows none.
            pub extensions: $crate::model::Extensions<'a>,
            /// Location: the object's entry in the tape.
            pub at: u32,
        }

        impl<'a> $crate::model::Object<'a> for $name<'a> {
            const NAME: &'static str = $what;

            fn set_at(&mut self, at: u32) {
                self.at = at;
            }

            #[allow(non_camel_case_types, unused_variables)]
            fn member(
                &mut self,
                reader: &mut kubeshape_schema::read::Reader<'a>,
                key: kubeshape_yaml::Node<'a>,
                value: kubeshape_yaml::Node<'a>,
            ) -> Option<u32> {
                #[repr(u32)]
                enum Number { $($member,)* }
                match key.text() {
                    $($key if $crate::model::object!(@read $mode reader) => {
                        self.$member = $crate::model::Member::read(reader, value);
                        Some(Number::$member as u32)
                    })*
                    _ => {
                        $(
                            // They are numbered after the object's own members.
                            if let Some(number) =
                                $crate::model::Object::member(&mut self.$flat, reader, key, value)
                            {
                                return Some(32 + number);
                            }
                        )?
                        None
                    }
                }
            }

            fn set_extensions(&mut self, extensions: $crate::model::Extensions<'a>) {
                self.extensions = extensions;
            }

            #[allow(unused_variables)]
            fn is_extensible(reader: &kubeshape_schema::read::Reader<'a>) -> bool {
                $crate::model::object!(@extensible reader $($ext)*)
            }

            #[allow(unused_variables)]
            fn print(&self, p: &mut $crate::model::Printer<'_>) {
                use $crate::model::Member as _;
                $($crate::model::Object::print(&self.$flat, p);)?
                $(
                    if $crate::model::object!(@prints $mode self.$member, p) {
                        p.key($key);
                        self.$member.print(p);
                        p.first = false;
                    }
                )*
                for (key, value) in self.extensions {
                    p.any_key(key);
                    p.json(value);
                }
            }

            #[allow(unused_variables)]
            fn renders_empty(&self, p: &$crate::model::Printer<'_>) -> bool {
                use $crate::model::Member as _;
                $(if !$crate::model::Object::renders_empty(&self.$flat, p) {
                    return false;
                })?
                $(if $crate::model::object!(@prints $mode self.$member, p) {
                    return false;
                })*
                self.extensions.is_empty()
            }

            #[allow(unused_variables)]
            fn visit(&self, site: $crate::model::Site, visitor: &mut dyn $crate::model::Visitor<'a>) {
                $(let site = $crate::model::Site::$site;)?
                $($crate::model::Object::visit(&self.$flat, site, visitor);)?
                $($crate::model::Member::visit(&self.$member, site, visitor);)*
            }

            #[allow(unused_variables, unused_mut)]
            fn replace(&self, site: $crate::model::Site, mapper: &mut dyn $crate::model::Mapper<'a>) -> Self {
                $(let site = $crate::model::Site::$site;)?
                let mut out = *self;
                $(out.$flat = $crate::model::Object::replace(&self.$flat, site, mapper);)?
                $(out.$member = $crate::model::Member::replace(&self.$member, site, mapper);)*
                out
            }
        }
    };
    (@read faithful $reader:ident) => { $crate::model::object!(@faithful $reader) };
    (@read $mode:ident $reader:ident) => { true };
    (@faithful $reader:ident) => {
        $reader.rules() == kubeshape_schema::read::Rules::Document(kubeshape_schema::Profile::Faithful)
    };
    (@extensible $reader:ident) => { false };
    (@extensible $reader:ident extensions) => { true };
    (@extensible $reader:ident faithful extensions) => { $crate::model::object!(@faithful $reader) };
    (@prints omit $member:expr, $p:ident) => { !$member.renders_empty($p) };
    (@prints keep $member:expr, $p:ident) => { !$member.is_absent() };
    (@prints always $member:expr, $p:ident) => { true };
    (@prints lean $member:expr, $p:ident) => {
        match $p.profile {
            kubeshape_schema::Profile::Kube => !$member.renders_empty($p),
            kubeshape_schema::Profile::Faithful => !$member.is_absent(),
        }
    };
    (@prints faithful $member:expr, $p:ident) => {
        $p.profile == kubeshape_schema::Profile::Faithful && !$member.is_absent()
    };
}

pub(crate) use object;
