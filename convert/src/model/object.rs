//! Objects of documents, declared as tables of their members.

use super::print::Printer;
use super::walk::{Mapper, Site, Visitor};
use kubeshape_schema::read::Reader;
use kubeshape_yaml::{Kind, Node};

/// An object of a document.
pub trait Object<'a>: Copy + Default + 'a {
    /// Its name in messages: `an operation`.
    const NAME: &'static str;

    /// Reads it. For null, returns the empty object.
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        read_object(reader, node)
    }

    /// Sets its location.
    fn set_at(&mut self, at: u32);

    /// Reads one member. Returns its number among the members, or `None` if the object has no such member.
    fn member(&mut self, reader: &mut Reader<'a>, key: Node<'a>, value: Node<'a>) -> Option<u32>;

    /// Sets the extensions.
    fn set_extensions(&mut self, extensions: super::Extensions<'a>);

    /// Returns whether it may have extensions.
    fn is_extensible(reader: &Reader<'a>) -> bool;

    /// Prints its members.
    fn print(&self, p: &mut Printer<'_>);

    /// Returns whether it prints no member.
    fn renders_empty(&self, p: &Printer<'_>) -> bool;

    /// Visits its schemas and references.
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>);

    /// Replaces its schemas and references.
    #[must_use]
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self;
}

/// Reads an object. For null, returns the empty object.
fn read_object<'a, T: Object<'a>>(reader: &mut Reader<'a>, node: Node<'a>) -> T {
    let mut object = T::default();
    object.set_at(node.index());
    match node.kind() {
        Kind::Map => {}
        Kind::Null => return object,
        _ => {
            reader.wrong_type(node, T::NAME);
            return object;
        }
    }
    let mark = reader.checkpoint();
    let mut seen = 0u64;
    for (key, value) in node.pairs() {
        if let Some(number) = read_member(&mut object, reader, key, value) {
            if seen & (1 << number) != 0 {
                // Of repeated members, only the last is used: read again without the others.
                reader.rewind(mark);
                return read_without_repeats(reader, node);
            }
            seen |= 1 << number;
        }
    }
    let extensions = reader.take_extensions(&mark);
    if !extensions.is_empty() {
        object.set_extensions(extensions);
    }
    object
}

#[cold]
fn read_without_repeats<'a, T: Object<'a>>(reader: &mut Reader<'a>, node: Node<'a>) -> T {
    let mut object = T::default();
    object.set_at(node.index());
    let mark = reader.checkpoint();
    reader.each_pair(node, T::NAME, |reader, key, value| {
        read_member(&mut object, reader, key, value);
    });
    object.set_extensions(reader.take_extensions(&mark));
    object
}

fn read_member<'a, T: Object<'a>>(
    object: &mut T,
    reader: &mut Reader<'a>,
    key: Node<'a>,
    value: Node<'a>,
) -> Option<u32> {
    let number = object.member(reader, key, value);
    if number.is_none() {
        if kubeshape_schema::read::is_extension(key.text()) && T::is_extensible(reader) {
            let value = reader.json(value);
            reader.push_extension(key.text(), value);
        } else {
            reader.unknown_field(key);
        }
    }
    number
}

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
