//! Expressions of the Common Expression Language: typed ones that draw from every function of the server's environment,
//! ill-typed and damaged ones.

use super::draw::Draw;
use serde_json::{Value as Json, json};
use std::fmt;
use std::sync::OnceLock;

/// The functions of the environment, one signature a line.
const SIGNATURES: &str = include_str!("../../../cel/src/decls/overloads.txt");

/// A type as CEL prints it, or an object with the fields of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// `int`, `list`, `A` for a parameter.
    pub name: String,
    /// The types within.
    pub inner: Vec<Type>,
    /// The fields of an object, as an expression names them.
    pub fields: Vec<(String, Type)>,
}

impl Type {
    /// A type without others in it.
    pub fn simple(name: &str) -> Type {
        Type { name: name.to_owned(), inner: Vec::new(), fields: Vec::new() }
    }

    /// A list.
    pub fn list(element: Type) -> Type {
        Type { inner: vec![element], ..Type::simple("list") }
    }

    /// A map with texts as keys.
    pub fn map(value: Type) -> Type {
        Type { inner: vec![Type::simple("string"), value], ..Type::simple("map") }
    }

    /// An object.
    pub fn object(fields: Vec<(String, Type)>) -> Type {
        Type { fields, ..Type::simple("object") }
    }

    /// Reads a type as CEL prints it.
    pub fn parse(text: &str) -> Type {
        let text = match text.trim() {
            "duration" => "google.protobuf.Duration",
            "timestamp" => "google.protobuf.Timestamp",
            text => text,
        };
        let Some((name, inner)) = text.split_once('(') else { return Type::simple(text) };
        let inner = inner.strip_suffix(')').unwrap_or(inner);
        let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
        for (at, character) in inner.char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(Type::parse(&inner[start..at]));
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(Type::parse(&inner[start..]));
        Type { inner: parts, ..Type::simple(name) }
    }

    fn is_parameter(&self) -> bool {
        self.name.len() == 1
    }

    /// Finds what the parameters of a pattern stand for, so that it is `wanted`.
    fn unify(&self, wanted: &Type, bound: &mut Vec<(String, Type)>) -> bool {
        if self.is_parameter() {
            if let Some((_, known)) = bound.iter().find(|(name, _)| *name == self.name) {
                return known == wanted;
            }
            bound.push((self.name.clone(), wanted.clone()));
            return true;
        }
        self.name == wanted.name
            && self.inner.len() == wanted.inner.len()
            && self.inner.iter().zip(&wanted.inner).all(|(own, wanted)| own.unify(wanted, bound))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, inner) in self.inner.iter().enumerate() {
            write!(f, "{}{inner}", if at == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.inner.is_empty() { "" } else { ")" })
    }
}

/// A function of the environment.
#[derive(Debug)]
struct Signature {
    name: &'static str,
    member: bool,
    arguments: Vec<Type>,
    result: Type,
}

fn signatures() -> &'static [Signature] {
    static ALL: OnceLock<Vec<Signature>> = OnceLock::new();
    ALL.get_or_init(|| {
        let read = |line: &'static str| {
            let (head, result) = line.rsplit_once("-> ")?;
            let words: Vec<&str> = head.splitn(5, ' ').collect();
            let [name, _, _, style, arguments] = words[..] else { return None };
            // An authorizer has no value here. Functions with other `@` are what macros become.
            let hidden = line.contains("authorization") || name.contains('@') && name != "@in";
            let arguments =
                arguments.split(';').map(str::trim).filter(|text| !text.is_empty()).map(Type::parse).collect();
            (!hidden).then(|| Signature { name, member: style == "member", arguments, result: Type::parse(result) })
        };
        SIGNATURES.lines().filter(|line| !line.starts_with('#')).filter_map(read).collect()
    })
}

/// Macros: the result, and a text with types to fill in. `!x` is a name for a variable, `x:A|bool` an expression in which
/// the variable has a type.
const MACROS: &[(&str, &str)] = &[
    ("bool", "$list(A)$.all($!x$, $x:A|bool$)"),
    ("bool", "$list(A)$.exists($!x$, $x:A|bool$)"),
    ("bool", "$list(A)$.exists_one($!x$, $x:A|bool$)"),
    ("bool", "$map(string, A)$.all($!x$, $x:string|bool$)"),
    ("bool", "$map(string, A)$.exists($!x$, $x:string|bool$)"),
    ("bool", "$list(A)$.all(i, $!x$, $x:A|bool$)"),
    ("bool", "$map(string, A)$.exists(k, $!x$, $x:A|bool$)"),
    ("bool", "$map(string, A)$.existsOne(k, $!x$, $x:A|bool$)"),
    ("list(B)", "$list(A)$.map($!x$, $x:A|B$)"),
    ("list(B)", "$list(A)$.map($!x$, $x:A|bool$, $x:A|B$)"),
    ("list(A)", "$list(A)$.filter($!x$, $x:A|bool$)"),
    ("list(B)", "$list(A)$.transformList(i, $!x$, $x:A|B$)"),
    ("list(B)", "$map(string, A)$.transformList(k, $!x$, $x:A|B$)"),
    ("map(string, B)", "$map(string, A)$.transformMap(k, $!x$, $x:A|B$)"),
    ("map(string, B)", "$map(string, A)$.transformMap(k, $!x$, k != 'a', $x:A|B$)"),
    ("map(string, B)", "$list(A)$.transformMapEntry(i, $!x$, {string(i): $x:A|B$})"),
    ("list(A)", "$list(A)$.sortBy($!x$, $x:A|int$)"),
    ("list(A)", "$list(A)$.sortBy($!x$, $x:A|string$)"),
    ("optional_type(B)", "$optional_type(A)$.optMap($!x$, $x:A|B$)"),
    ("optional_type(B)", "$optional_type(A)$.optFlatMap($!x$, $x:A|optional_type(B)$)"),
    ("bool", "has($map(string, A)$.a)"),
    ("bool", "has({'a': $A$, 'b c': $A$}.a)"),
    ("optional_type(A)", "$map(string, A)$.?a"),
    ("optional_type(A)", "$map(string, A)$[?$string$]"),
    ("A", "$map(string, A)$.a"),
    ("A", "{$string$: $A$, 'k': $A$}[$string$]"),
    ("A", "[$A$, $A$][0]"),
    ("list(A)", "[$A$, ?$optional_type(A)$]"),
    ("map(string, A)", "{?$string$: $optional_type(A)$, 'z': $A$}"),
    ("bool", "type($A$) == type($B$)"),
    ("bool", "type($A$) == int"),
    ("bool", "$A$ in [$A$, $A$]"),
    ("bool", "dyn($A$) == dyn($B$)"),
    ("bool", "dyn($int$) < dyn($double$)"),
    ("A", "($bool$) ? ($A$) : ($A$)"),
    ("string", "\"%s %s\".format([$A$, $B$])"),
    ("string", "'%d|%5s|%.2f|%x|%X|%o|%b|%e'.format([$int$, $A$, $double$, $int$, $string$, $int$, $int$, $double$])"),
];

/// Texts that mean something to a function.
const HINTS: &[(&str, &[&str])] = &[
    (
        "quantity isQuantity",
        &[
            "1k",
            "1.5Gi",
            "100m",
            "-3e2",
            "0",
            "1Ei",
            "9223372036854775807",
            "1.1n",
            "12e",
            "1 k",
            "+5",
            ".5",
            "1e-9",
            "5Mi",
        ],
    ),
    (
        "ip isIP ip.isCanonical containsIP",
        &[
            "10.0.0.1",
            "::1",
            "127.0.0.1",
            "fe80::1",
            "FE80::1",
            "::ffff:1.2.3.4",
            "1.2.3",
            "224.0.0.1",
            "2001:db8::",
            "01.2.3.4",
            "ff02::1%eth0",
            "0.0.0.0",
        ],
    ),
    (
        "cidr isCIDR containsCIDR",
        &[
            "10.0.0.0/8",
            "10.1.2.3/16",
            "::/0",
            "2001:db8::/32",
            "0.0.0.0/0",
            "1.2.3.4/33",
            "1.2.3.4",
            "fe80::1/64",
            "10.0.0.0/08",
        ],
    ),
    (
        "semver isSemver",
        &[
            "1.2.3",
            "v1.2.3",
            "1.2",
            "1.0.0-alpha.1",
            "1.0.0+build",
            "01.2.3",
            "2.0.0-rc.1+x",
            "v1",
            "1.2.3-",
            "99999999999999999999.0.0",
        ],
    ),
    (
        "url isURL",
        &[
            "https://example.com:80/a/b?x=1&x=2&y=#f",
            "/a/b",
            "http://[::1]:8080/",
            "a b",
            "//host",
            "http://u:p@h/%20",
            "mailto:a@b",
            "http://h/\u{e9}?q=%zz",
            "https://a:b",
        ],
    ),
    (
        "timestamp",
        &[
            "2009-02-13T23:31:30Z",
            "1970-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999999Z",
            "2000-02-29T12:00:00+05:30",
            "0001-01-01T00:00:00Z",
            "2001-13-01T00:00:00Z",
            "2001-01-01",
        ],
    ),
    (
        "duration",
        &[
            "1h",
            "90s",
            "1.5h",
            "-2m",
            "1ns",
            "1h2m3s4ms5us6ns",
            "0",
            "2562047h",
            "2562048h",
            "1d",
            "1us",
            "315576000000s",
        ],
    ),
    (
        "matches find findAll",
        &[
            "^a",
            "[a-z]+",
            "a*",
            "(a|b)+c?",
            "\\\\d{2,3}",
            ".*",
            "(?i)AB",
            "[[:alpha:]]",
            "\\\\pL",
            "(",
            "x{1001}",
            "\\\\bfoo\\\\b",
            "^$",
            "(?P<n>a)",
            "[^a]",
        ],
    ),
    ("format.named", &["dns1123Label", "uri", "nothing", "byte", "qualifiedName"]),
    (
        "validate",
        &[
            "a-b",
            "A_b",
            "2020-01-01",
            "2020-01-01T00:00:00Z",
            "YQ==",
            "http://x",
            "a/b",
            "",
            "123e4567-e89b-12d3-a456-426614174000",
            "-a",
            "é",
        ],
    ),
    (
        "getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds",
        &["UTC", "+02:00", "-08:30", "Local", "24:00", "", "05:45", "Nowhere/None"],
    ),
    (
        "int uint",
        &[
            "1",
            "-5",
            "9223372036854775807",
            "9223372036854775808",
            "x",
            "",
            "0x1F",
            "1.5",
            "+1",
            "18446744073709551615",
        ],
    ),
    ("double", &["1.5", "1e400", "-0", "NaN", "Infinity", "x", "0x1p-2", "1_0", ".5"]),
    ("bool", &["true", "false", "True", "t", "0", "yes"]),
    ("format", &["%s", "%d", "%%", "%.3f", "%x", "%q", "%s%s", "%5d", "%", "%.99f", "%b"]),
];

const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "\"foo\"",
    "'foo bar'",
    "'a,b,c'",
    "'ABC'",
    "'\u{e9}t\u{e9}'",
    "'\\u00e9'",
    "r'\\d'",
    "'\u{1F600}x'",
    "\"it's\"",
    "'\\n\\t'",
    "'\\\\'",
    "'b'",
    "'k'",
    "'%s'",
    "'a-b'",
    "'1'",
    "'  x  '",
    "'''q'''",
    "'\\x41'",
    "'z'",
];

/// Literals of a type without others in it.
fn literals(name: &str) -> &'static [&'static str] {
    match name {
        "bool" => &["true", "false"],
        "int" => &[
            "0",
            "1",
            "2",
            "3",
            "-1",
            "10",
            "42",
            "9223372036854775807",
            "-9223372036854775808",
            "0x1F",
            "4294967296",
            "253402300800",
        ],
        "uint" => &["0u", "1u", "2u", "18446744073709551615u", "0x10u", "7U"],
        "double" => &["0.0", "1.5", "-2.25", "1e3", "1e300", "-0.0", "9007199254740993.0", "0.1", "1e-320", "2.5e18"],
        "bytes" => &["b''", "b'abc'", "b'\\xff\\x00'", "b'\u{e9}'", "b\"\\303\\251\""],
        "google.protobuf.Duration" => {
            &["duration('1h')", "duration('-1.5s')", "duration('0')", "duration('2562047h47m16s')", "duration('1ns')"]
        }
        "google.protobuf.Timestamp" => &[
            "timestamp('2009-02-13T23:31:30.5Z')",
            "timestamp('1970-01-01T00:00:00Z')",
            "timestamp('9999-12-31T23:59:59Z')",
            "timestamp(1)",
            "timestamp('0001-01-01T00:00:00Z')",
        ],
        "null_type" => &["null"],
        "kubernetes.Quantity" => {
            &["quantity('1')", "quantity('1.5Gi')", "quantity('-100m')", "quantity('9223372036854775807')"]
        }
        "net.IP" => &["ip('10.0.0.1')", "ip('::1')", "ip('fe80::1')"],
        "net.CIDR" => &["cidr('10.0.0.0/8')", "cidr('2001:db8::1/32')"],
        "kubernetes.URL" => &["url('https://example.com:80/a?b=c&b=d')", "url('/x%20y')"],
        "kubernetes.Semver" => &["semver('1.2.3')", "semver('1.0.0-rc.1')", "semver('v1.2', true)"],
        "kubernetes.NamedFormat" => {
            &["format.dns1123Label()", "format.uri()", "format.date()", "format.qualifiedName()"]
        }
        "type" => &["int", "string", "type(1)"],
        _ => &["dyn(1)", "dyn('a')", "dyn([1])", "dyn({'a': 1})", "dyn(null)", "dyn(2.5)"],
    }
}

const SIMPLE: &[&str] = &[
    "bool",
    "int",
    "int",
    "string",
    "string",
    "string",
    "uint",
    "double",
    "bytes",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "dyn",
    "null_type",
    "kubernetes.Quantity",
    "net.IP",
    "net.CIDR",
    "kubernetes.URL",
    "kubernetes.Semver",
    "kubernetes.NamedFormat",
];

/// Types of keys by which a map can be indexed.
const KEYS: &[&str] = &["bool", "int", "uint", "string"];

/// Makes expressions over the variables of a scope.
#[derive(Debug)]
pub struct Expressions<'d> {
    draw: &'d mut Draw,
    /// What an expression can name: variables, and what can be reached from them.
    scope: Vec<(String, Type)>,
    /// In so many of 100 places stands a value of another type.
    wrong: usize,
}

/// So many fields deep is named what objects hold.
const REACH: usize = 4;

impl<'d> Expressions<'d> {
    /// With variables and their types. In `wrong` of 100 places stands a value of another type.
    pub fn new(draw: &'d mut Draw, variables: &[(String, Type)], wrong: usize) -> Expressions<'d> {
        let mut expressions = Expressions { draw, scope: Vec::new(), wrong };
        for (name, ty) in variables {
            expressions.declare(name, ty, REACH);
        }
        expressions
    }

    fn declare(&mut self, name: &str, ty: &Type, reach: usize) {
        self.scope.push((name.to_owned(), ty.clone()));
        if reach > 0 {
            for (field, ty) in &ty.fields {
                self.declare(&format!("{name}.{field}"), ty, reach - 1);
            }
        }
    }

    /// A type of which values can be made.
    pub fn any_type(&mut self, depth: usize) -> Type {
        match self.draw.below(if depth == 0 { 6 } else { 10 }) {
            6 | 7 => Type::list(self.any_type(depth - 1)),
            8 => Type::map(self.any_type(depth - 1)),
            9 => Type { inner: vec![self.any_type(depth - 1)], ..Type::simple("optional_type") },
            // The types of the scope come often.
            0 | 1 if !self.scope.is_empty() => self.draw.pick(&self.scope).1.clone(),
            _ => Type::simple(self.draw.text(SIMPLE)),
        }
    }

    /// An expression of a type, nested so deep at most.
    pub fn expression(&mut self, wanted: &Type, depth: usize) -> String {
        let other;
        let wanted = if self.draw.percent(self.wrong) {
            other = self.any_type(1);
            &other
        } else {
            wanted
        };
        let known: Vec<usize> =
            (0..self.scope.len()).filter(|at| self.scope[*at].1 == *wanted || wanted.name == "dyn").collect();
        if !known.is_empty() && self.draw.percent(if depth == 0 { 70 } else { 30 }) {
            return self.scope[*self.draw.pick(&known)].0.clone();
        }
        if depth > 0 && wanted.name == "bool" && self.draw.percent(15) {
            let fields: Vec<&str> =
                self.scope.iter().map(|(name, _)| name.as_str()).filter(|name| name.contains('.')).collect();
            if !fields.is_empty() {
                return format!("has({})", self.draw.pick(&fields));
            }
        }
        if depth > 0 && self.draw.percent(25) {
            let fitting: Vec<_> =
                MACROS.iter().filter(|(result, _)| Type::parse(result).unify(wanted, &mut Vec::new())).collect();
            if !fitting.is_empty() {
                let (result, text) = self.draw.pick(&fitting);
                let mut bound = Vec::new();
                Type::parse(result).unify(wanted, &mut bound);
                return self.filled(text, bound, depth - 1);
            }
        }
        if depth > 0 && self.draw.percent(75) {
            let fitting: Vec<&Signature> = signatures()
                .iter()
                .filter(|signature| {
                    // Conditions and selections by optional text are macros here.
                    !matches!(signature.name, "_?_:_" | "_?._")
                        && signature.result.unify(wanted, &mut Vec::new())
                        && (!signature.result.is_parameter() || self.draw.percent(50))
                })
                .collect();
            if !fitting.is_empty() {
                let signature = *self.draw.pick(&fitting);
                return self.call(signature, wanted, depth - 1);
            }
        }
        self.literal(wanted, depth)
    }

    /// Gives the parameters of a type a meaning.
    fn resolved(&mut self, ty: &Type, bound: &mut Vec<(String, Type)>) -> Type {
        if ty.is_parameter() {
            if let Some((_, known)) = bound.iter().find(|(name, _)| *name == ty.name) {
                return known.clone();
            }
            let drawn = self.any_type(1);
            bound.push((ty.name.clone(), drawn.clone()));
            return drawn;
        }
        let inner = ty.inner.iter().map(|inner| self.resolved(inner, bound)).collect();
        Type { inner, ..ty.clone() }
    }

    fn call(&mut self, signature: &Signature, wanted: &Type, depth: usize) -> String {
        let mut bound = Vec::new();
        signature.result.unify(wanted, &mut bound);
        let hints = HINTS.iter().find(|(names, _)| names.split(' ').any(|name| name == signature.name));
        let mut arguments = Vec::new();
        for (at, ty) in signature.arguments.iter().enumerate() {
            let mut ty = self.resolved(ty, &mut bound);
            if signature.name.starts_with("_[") && ty.name == "map" && !KEYS.contains(&ty.inner[0].name.as_str()) {
                // The error about such an index names a type of Go's, which depends on how the value came about.
                ty.inner[0] = Type::simple("string");
                bound.retain(|(name, _)| name != "K" && name != "A");
                bound.extend(["K", "A"].map(|name| (name.to_owned(), Type::simple("string"))));
            }
            let hinted = ty.name == "string" && (at > 0 || !signature.member || signature.name == "format");
            let text = match hints {
                Some((_, texts)) if hinted && self.draw.percent(80) => format!("'{}'", self.draw.pick(texts)),
                // Upstream makes a list of any length, whatever memory it takes.
                _ if signature.name == "lists.range" => self.draw.below(12).to_string(),
                _ => self.expression(&ty, depth),
            };
            arguments.push(text);
        }
        let name = signature.name;
        if name == "@in" {
            return format!("({} in {})", arguments[0], arguments[1]);
        }
        if name.contains('_') && !name.contains(char::is_alphabetic) {
            let mut out = String::new();
            for (at, part) in name.split('_').enumerate() {
                let between = at > 0 && at < arguments.len() && !part.contains('[');
                out.push_str(&if between { format!(" {part} ") } else { part.to_owned() });
                if let Some(argument) = arguments.get(at) {
                    let inside = part.starts_with('[');
                    out.push_str(&if inside { argument.clone() } else { bracketed(argument) });
                }
            }
            return out;
        }
        if signature.member && !arguments.is_empty() {
            let target = bracketed(&arguments[0]);
            return format!("{target}.{name}({})", arguments[1..].join(", "));
        }
        format!("{name}({})", arguments.join(", "))
    }

    /// Fills in the types of a macro.
    fn filled(&mut self, text: &str, mut bound: Vec<(String, Type)>, depth: usize) -> String {
        let variable = self.draw.text(&["x", "y", "e", "it", "self", "i"]).to_owned();
        let mut out = String::new();
        for (at, part) in text.split('$').enumerate() {
            if at % 2 == 0 {
                out.push_str(part);
            } else if part == "!x" {
                out.push_str(&variable);
            } else if let Some((declared, ty)) = part.strip_prefix("x:").and_then(|part| part.split_once('|')) {
                let declared = self.resolved(&Type::parse(declared), &mut bound);
                let ty = self.resolved(&Type::parse(ty), &mut bound);
                let outer = self.scope.clone();
                self.hide(&variable);
                self.declare(&variable, &declared, 2);
                let inner = self.expression(&ty, depth);
                self.scope = outer;
                out.push_str(&inner);
            } else {
                let ty = self.resolved(&Type::parse(part), &mut bound);
                let inner = self.expression(&ty, depth);
                out.push_str(&bracketed(&inner));
            }
        }
        out
    }

    /// Takes what a new variable hides out of the scope.
    fn hide(&mut self, variable: &str) {
        let hides =
            |name: &str| name.strip_prefix(variable).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.scope.retain(|(name, _)| !hides(name));
    }

    /// A literal.
    fn literal(&mut self, ty: &Type, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        match (ty.name.as_str(), &ty.inner[..]) {
            ("list", [element]) => {
                let items: Vec<String> = (0..self.draw.below(4)).map(|_| self.expression(element, depth)).collect();
                format!("[{}]", items.join(", "))
            }
            ("map", [key, value]) => {
                let entries: Vec<String> = (0..self.draw.below(3))
                    .map(|_| format!("{}: {}", self.expression(key, 0), self.expression(value, depth)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            ("optional_type", [inner]) => {
                if self.draw.percent(25) {
                    "optional.none()".to_owned()
                } else {
                    format!("optional.of({})", self.expression(inner, depth))
                }
            }
            ("string", _) => self.draw.text(TEXTS).to_owned(),
            (name, _) => self.draw.text(literals(name)).to_owned(),
        }
    }
}

/// An operand that keeps its place beside operators.
fn bracketed(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_alphanumeric() || "._'\"".contains(c)) && !text.starts_with(char::is_numeric);
    let closed = text.starts_with('[') && text.ends_with(']') && text.matches('[').count() == 1;
    if plain || closed { text.to_owned() } else { format!("({text})") }
}

/// Words and signs that damage inserts.
const DEBRIS: &[&str] = &[
    "a",
    "b",
    ".",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "-",
    "!",
    "+",
    "*",
    "/",
    "%",
    "in",
    "==",
    "<",
    "&&",
    "||",
    "1",
    "2.5",
    "3u",
    "'s'",
    "\"t\"",
    "b'x'",
    "true",
    "false",
    "null",
    " ",
    "\n",
    "\t",
    "for",
    "`a-b`",
    "$",
    "#",
    "&",
    "=",
    "|",
    ".?",
    "[?",
    "has",
    "map",
    "x",
    "\"",
    "\\",
    "..",
    "\u{e9}",
    "'''",
    "r'",
    "0x",
    "1e",
    "\u{1F600}",
    "//c\n",
    "package",
    "\\u12",
];

/// Splits a text into words, texts in quotes and single signs.
pub fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
        } else if "'\"`".contains(first) {
            rest[1..].find(first).map(|at| at + 2)
        } else {
            Some(first.len_utf8())
        };
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        words.push(word);
        rest = after;
    }
    words
}

/// An expression with damage to its syntax.
pub fn damaged(draw: &mut Draw, text: &str) -> String {
    let mut words: Vec<&str> = words(text);
    for _ in 0..*draw.pick(&[1, 1, 1, 2, 2, 3, 5]) {
        let at = draw.below(words.len());
        match draw.below(20) {
            0..6 if !words.is_empty() => drop(words.remove(at)),
            6..13 => words.insert(at, draw.text(DEBRIS)),
            13..16 if !words.is_empty() => words[at] = draw.text(DEBRIS),
            16 | 17 if !words.is_empty() => {
                let other = draw.below(words.len());
                words.swap(at, other);
            }
            18 => words.truncate(at),
            _ => drop(words.drain(..at)),
        }
    }
    words.concat()
}

/// An expression with variables, their types and values, as a request to the Go program has them.
pub fn request(draw: &mut Draw) -> Json {
    const VARIABLES: &[(&str, &str)] = &[
        ("i", "int"),
        ("s", "string"),
        ("b", "bool"),
        ("u", "uint"),
        ("d", "double"),
        ("li", "list(int)"),
        ("ls", "list(string)"),
        ("ms", "map(string, string)"),
        ("ml", "map(string, list(int))"),
        ("t", "google.protobuf.Timestamp"),
        ("du", "google.protobuf.Duration"),
        ("by", "bytes"),
        ("ll", "list(list(string))"),
        ("o", "optional_type(int)"),
        ("x", "dyn"),
        ("os", "optional_type(string)"),
        ("ld", "list(dyn)"),
        ("lm", "list(map(string, int))"),
    ];
    let mut variables: Vec<(String, Type)> = Vec::new();
    for _ in 0..draw.below(4) {
        let (name, ty) = *draw.pick(VARIABLES);
        if variables.iter().all(|(known, _)| known != name) {
            variables.push((name.to_owned(), Type::parse(ty)));
        }
    }
    let wrong = if draw.percent(15) { 8 } else { 0 };
    let depth = *draw.pick(&[1, 2, 2, 3, 3, 3, 4, 5]);
    let mut expressions = Expressions::new(draw, &variables, wrong);
    let ty = expressions.any_type(2);
    let mut text = expressions.expression(&ty, depth);
    if draw.percent(12) {
        text = damaged(draw, &text);
    }
    let types: serde_json::Map<String, Json> =
        variables.iter().map(|(name, ty)| (name.clone(), json!(ty.to_string()))).collect();
    let mut bindings = serde_json::Map::new();
    for (name, ty) in &variables {
        if draw.percent(95) {
            bindings.insert(name.clone(), value(draw, ty));
        }
    }
    json!({"expr": text, "vars": types, "bindings": bindings})
}

/// A value of a type, in the form of the records.
fn value(draw: &mut Draw, ty: &Type) -> Json {
    match (ty.name.as_str(), &ty.inner[..]) {
        ("list", [element]) => (0..draw.below(4)).map(|_| value(draw, element)).collect(),
        ("map", [_, inner]) => {
            let keys = ["a", "b", "k", "b c", ""];
            let from = draw.below(keys.len());
            let pairs: Vec<Json> = keys[from..].iter().take(3).map(|key| json!([key, value(draw, inner)])).collect();
            json!({"map": pairs})
        }
        ("optional_type", [inner]) => {
            let items: Vec<Json> = (0..draw.below(2)).map(|_| value(draw, inner)).collect();
            json!({"optional": items})
        }
        ("bool", _) => json!(draw.percent(50)),
        ("int", _) => json!(draw.pick(&[0, 1, -1, 5, 100, i64::MAX, i64::MIN])),
        ("uint", _) => json!({"uint": draw.pick(&[0, 1, 7, u64::MAX])}),
        ("double", _) => {
            let values = [json!(0.5), json!(-2.0), json!("NaN"), json!("Infinity"), json!(1e300), json!("-0")];
            json!({"double": draw.pick(&values)})
        }
        ("bytes", _) => json!({"bytes": draw.pick(&["", "YQ==", "/wA=", "w6k="])}),
        ("google.protobuf.Duration", _) => json!({"duration": draw.pick(&["0s", "1.5s", "-3600s", "9223372036s"])}),
        ("google.protobuf.Timestamp", _) => {
            let times = ["2009-02-13T23:31:30.123Z", "1970-01-01T00:00:00Z", "2000-02-29T00:00:00Z"];
            json!({"timestamp": draw.pick(&times)})
        }
        ("string", _) => {
            let texts = ["", "a", "foo bar", "\u{e9}t\u{e9}", "1", "10.0.0.1", "a,b", "\u{1F600}x", "1Gi", "ABC"];
            json!(draw.pick(&texts))
        }
        ("dyn", _) => {
            let types = ["int", "string", "list(int)", "map(string, int)", "double", "bool", "null_type"];
            let other = Type::parse(draw.text(&types));
            value(draw, &other)
        }
        _ => Json::Null,
    }
}
