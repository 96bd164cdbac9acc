//! The Go structs of built-in kinds, with facts that neither OpenAPI documents nor protobuf contain.
//!
//! A struct is a protobuf message. Its fields have a number, a name in JSON, a type, and the condition under which JSON
//! contains them: it distinguishes pointers and values, `omitempty`, `omitzero` and inlined structs.
//!
//! One table (`members.txt`) has the structs of 1.36 and of newer releases. The program in `conformance/types` reads
//! them from the Go types of `k8s.io/api` and of CustomResourceDefinitions. A line is a struct,
//! `NAME NUMBER:JSON_NAME:LETTERS…`, or the struct of a kind, `API_VERSION.KIND @NAME`. Lines are sorted. A member that
//! the struct has in some releases only names the minor numbers of the first and the last of them, `…:LETTERS:33-35`,
//! where a missing number is an open end: `:37-` is since 1.37.
//!
//! # Example
//! ```
//! use kubeshape_gotypes::members::{Kind, Messages, Shown, of_kind};
//! use kubeshape_schema::Release;
//!
//! let mut table = Messages::of(Release::NEWEST);
//! let secret = table.get(of_kind("v1", "Secret").unwrap());
//! let field = secret.members().find(|member| member.name == "immutable").unwrap();
//! assert_eq!(field.shown, Shown::UnlessEmpty);
//! assert!(matches!(field.kind, Kind::Pointer(of) if of.kind() == Kind::Bool));
//! ```

use kubeshape_schema::Release;
use std::collections::HashMap;
use std::rc::Rc;

const TABLE: &str = include_str!("members.txt");

/// A message of the table.
#[derive(Debug)]
pub struct Message {
    /// Sorted by number.
    members: Vec<Member>,
    /// The fields that JSON contains even if the message does not.
    shown: Vec<usize>,
}

/// The messages of a release that were used so far: each is parsed once.
#[derive(Debug)]
pub struct Messages {
    release: Release,
    read: HashMap<&'static str, Rc<Message>>,
}

/// A member of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its protobuf number.
    pub number: u64,
    /// Its name in JSON; empty if its fields are inlined.
    pub name: &'static str,
    /// When JSON contains it.
    pub shown: Shown,
    /// Its type.
    pub kind: Kind,
}

/// When JSON contains a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Without `omitempty` and `omitzero`.
    Always,
    /// `omitempty`
    UnlessEmpty,
    /// `omitzero`
    UnlessZero,
    /// `inline`: its members are those of the message around it.
    InParent,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `string`
    Text,
    /// Bytes, printed in base64.
    Bytes,
    /// `bool`
    Bool,
    /// `int32` or `int64`
    Int,
    /// `float64`
    Float,
    /// `metav1.Time`
    Time,
    /// `metav1.MicroTime`
    MicroTime,
    /// `resource.Quantity`
    Quantity,
    /// `intstr.IntOrString`
    IntOrString,
    /// JSON as bytes: `FieldsV1`, `RawExtension`.
    Json,
    /// A message, by its name.
    Message(&'static str),
    /// `true`, `false`, or this message.
    OrBool(&'static str),
    /// This message, or a list of it.
    OrList(&'static str),
    /// This message, or a list of strings.
    OrTexts(&'static str),
    /// A pointer; null if absent.
    Pointer(Letters),
    /// A slice.
    List(Letters),
    /// A message with a list as its only member.
    ListMessage(Letters),
    /// A map with string keys.
    Map(Letters),
}

/// A type as the table writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letters(&'static str);

/// Returns the name of the message of a built-in kind, or of the options of a deletion.
pub fn of_kind(api_version: &str, kind: &str) -> Option<&'static str> {
    if kind == "DeleteOptions" {
        return Some("meta/v1.DeleteOptions");
    }
    let (name, members) = line(&format!("{api_version}.{kind}"))?;
    Some(members.strip_prefix('@').unwrap_or(name))
}

/// Returns the name of a struct as a reference to the table, `core/v1.Container`, or `None` if there is no such struct.
pub fn name(name: &str) -> Option<&'static str> {
    let (found, members) = line(name)?;
    (!members.starts_with('@')).then_some(found)
}

impl Messages {
    /// The messages of a release. Releases before 1.36 have those of 1.36.
    pub fn of(release: Release) -> Messages {
        Messages { release, read: HashMap::new() }
    }

    /// Returns the struct with a name, or one without fields if there is no such struct.
    pub fn get(&mut self, name: &'static str) -> Rc<Message> {
        let read = || Rc::new(Message::read(line(name).map_or("", |(_, members)| members), self.release));
        Rc::clone(self.read.entry(name).or_insert_with(read))
    }
}

impl Message {
    fn read(text: &'static str, release: Release) -> Message {
        let members: Vec<Member> = text.split(' ').filter_map(|member| Member::read(member, release)).collect();
        let shown = members.iter().enumerate().filter(|(_, member)| match member.shown {
            Shown::Always | Shown::InParent => true,
            Shown::UnlessEmpty => !member.kind.can_be_empty(),
            Shown::UnlessZero => false,
        });
        let shown = shown.map(|(at, _)| at).collect();
        Message { members, shown }
    }

    /// Returns the member with a number.
    pub fn member(&self, number: u64) -> Option<&Member> {
        let at = self.members.binary_search_by_key(&number, |member| member.number).ok()?;
        self.members.get(at)
    }

    /// Returns all members, in the order of their numbers.
    pub fn members(&self) -> impl DoubleEndedIterator<Item = &Member> {
        self.members.iter()
    }

    /// Returns the numbers of the members that JSON contains even if the message does not.
    pub fn shown(&self) -> impl Iterator<Item = u64> {
        self.shown.iter().filter_map(|at| self.members.get(*at)).map(|member| member.number)
    }
}

impl Member {
    /// Returns `None` for a member that the release does not have.
    fn read(text: &'static str, release: Release) -> Option<Member> {
        let (number, member) = text.split_once(':')?;
        let (name, letters) = member.split_once(':')?;
        let (letters, releases) = letters.split_once(':').unwrap_or((letters, "-"));
        let (first, last) = releases.split_once('-')?;
        let is_before = first.parse().is_ok_and(|first: u8| release.minor() < first);
        let is_after = last.parse().is_ok_and(|last: u8| release.minor() > last);
        if is_before || is_after {
            return None;
        }
        let (shown, letters) = match letters.split_at_checked(1)? {
            ("!", letters) => (Shown::Always, letters),
            ("?", letters) => (Shown::UnlessZero, letters),
            ("^", letters) => (Shown::InParent, letters),
            _ => (Shown::UnlessEmpty, letters),
        };
        Some(Member { number: number.parse().ok()?, name, shown, kind: Letters(letters).kind() })
    }
}

impl Letters {
    /// Returns the type that the letters mean.
    pub fn kind(self) -> Kind {
        let (letter, rest) = self.0.split_at_checked(1).unwrap_or_default();
        match letter {
            "y" => Kind::Bytes,
            "b" => Kind::Bool,
            "i" => Kind::Int,
            "f" => Kind::Float,
            "t" => Kind::Time,
            "u" => Kind::MicroTime,
            "q" => Kind::Quantity,
            "o" => Kind::IntOrString,
            "j" | "r" => Kind::Json,
            "@" => Kind::Message(rest),
            "B" => Kind::OrBool(rest),
            "A" => Kind::OrList(rest),
            "T" => Kind::OrTexts(rest),
            "*" => Kind::Pointer(Letters(rest)),
            "[" => match rest.strip_prefix('1') {
                Some(rest) => Kind::ListMessage(Letters(rest)),
                None => Kind::List(Letters(rest)),
            },
            "{" => Kind::Map(Letters(rest)),
            _ => Kind::Text,
        }
    }
}

impl Kind {
    /// Returns whether `omitempty` can omit it: Go prints structs in any case.
    pub fn can_be_empty(self) -> bool {
        match self {
            Kind::Text
            | Kind::Bytes
            | Kind::Bool
            | Kind::Int
            | Kind::Float
            | Kind::Pointer(_)
            | Kind::List(_)
            | Kind::ListMessage(_)
            | Kind::Map(_) => true,
            Kind::Time
            | Kind::MicroTime
            | Kind::Quantity
            | Kind::IntOrString
            | Kind::Json
            | Kind::Message(_)
            | Kind::OrBool(_)
            | Kind::OrList(_)
            | Kind::OrTexts(_) => false,
        }
    }
}

/// Returns the names of all messages.
pub fn messages() -> impl Iterator<Item = &'static str> {
    TABLE
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| line(name).is_some_and(|(_, members)| !members.starts_with('@')))
}

/// Finds the line that begins with a name. Returns the name and the rest of the line.
fn line(name: &str) -> Option<(&'static str, &'static str)> {
    let (mut low, mut high) = (0, TABLE.len());
    while low < high {
        let middle = low + (high - low) / 2;
        // Lines begin after line breaks, so the middle is moved to one.
        let start = TABLE.as_bytes().get(..middle)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let length = memchr::memchr(b'\n', TABLE.as_bytes().get(start..)?).unwrap_or(TABLE.len() - start);
        let line = TABLE.get(start..start + length)?;
        let (found, members) = line.split_once(' ').unwrap_or((line, ""));
        match found.cmp(name) {
            std::cmp::Ordering::Equal => return Some((found, members)),
            std::cmp::Ordering::Less => low = start + length + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Kind, Letters, Message, TABLE, line, of_kind};
    use kubeshape_schema::Release;
    use std::collections::BTreeSet;

    #[test]
    fn every_line_is_found_and_leads_to_lines() {
        let mut names = Vec::new();
        for text in TABLE.lines() {
            let (name, members) = text.split_once(' ').unwrap_or((text, ""));
            assert_eq!(line(name), Some((name, members)));
            names.push(name);
            if let Some(other) = members.strip_prefix('@') {
                assert!(line(other).is_some(), "{name}: there is no {other}");
                continue;
            }
            let mut numbers = BTreeSet::new();
            for release in Release::all() {
                let message = Message::read(members, release);
                assert!(message.members.is_sorted_by(|a, b| a.number < b.number), "{name} {release}");
                numbers.extend(message.members.iter().map(|member| member.number.to_string()));
            }
            for member in members.split_whitespace() {
                assert!(numbers.contains(member.split(':').next().unwrap_or_default()), "{name}: {member}");
            }
            for member in members.split_whitespace() {
                if let Some((_, message)) = member.split_once('@') {
                    let message = message.split(':').next().unwrap_or_default();
                    assert!(line(message).is_some(), "{name}: there is no {message}");
                }
            }
        }
        assert!(names.is_sorted());
        for other in ["", "a", "zzz", "apps/v1.Deploymen", "apps/v1.Deployments"] {
            assert_eq!(line(other), None);
        }
        assert_eq!(of_kind("v1", "Pod"), Some("core/v1.Pod"));
        assert_eq!(of_kind("apps/v1", "Deployment"), Some("apps/v1.Deployment"));
        assert_eq!(of_kind("rbac.authorization.k8s.io/v1", "Role"), Some("rbac/v1.Role"));
        assert_eq!(of_kind("example.com/v1", "Pod"), None);
    }

    #[test]
    fn a_release_has_its_members() {
        let names = |minor| {
            let message = Message::read("1:a:s 2:b:!s:-35 2:c:!s:36- 4:d:!s:33-34", Release::nearest(minor));
            let shown: Vec<u64> = message.shown().collect();
            (message.members().map(|member| member.name).collect::<Vec<_>>().join(" "), shown)
        };
        assert_eq!(names(31), ("a b".to_owned(), vec![2]));
        assert_eq!(names(34), ("a b d".to_owned(), vec![2, 4]));
        assert_eq!(names(37), ("a c".to_owned(), vec![2]));
        let status = |release| {
            let message = Message::read(line("storage/v1.CSINode").expect("a line").1, release);
            message.members().any(|member| member.name == "status")
        };
        assert_eq!((status(Release::nearest(36)), status(Release::nearest(37))), (false, true));
    }

    #[test]
    fn letters_nest() {
        let Kind::Map(items) = Letters("{[1s").kind() else { panic!("a map") };
        let Kind::ListMessage(items) = items.kind() else { panic!("a message with a list") };
        assert_eq!(items.kind(), Kind::Text);
    }
}
