//! Formats of strings, like kube-openapi's `strfmt`.
//!
//! Each follows Go's parser or regular expression exactly, even if that differs from the standard.

mod address;
mod email;
mod name;
mod number;
mod time;

pub(crate) use address::is_ip;

/// A format that an API server checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `bsonobjectid`
    BsonObjectId,
    /// `byte`: standard base64 with padding, not empty.
    Byte,
    /// `cidr`
    Cidr,
    /// `creditcard`
    CreditCard,
    /// `date`
    Date,
    /// `date-time`
    DateTime,
    /// `duration`
    Duration,
    /// `email`
    Email,
    /// `hexcolor`
    HexColor,
    /// `hostname`
    Hostname,
    /// `ipv4`
    Ipv4,
    /// `ipv6`
    Ipv6,
    /// `isbn`
    Isbn,
    /// `isbn10`
    Isbn10,
    /// `isbn13`
    Isbn13,
    /// `k8s-long-name`
    LongName,
    /// `mac`
    Mac,
    /// `password`: any string.
    Password,
    /// `rgbcolor`
    RgbColor,
    /// `k8s-short-name`
    ShortName,
    /// `ssn`
    Ssn,
    /// `uri`
    Uri,
    /// `uuid`
    Uuid,
    /// `uuid3`
    Uuid3,
    /// `uuid4`
    Uuid4,
    /// `uuid5`
    Uuid5,
}

impl Format {
    /// Returns the format of a name, in which dashes are ignored. `None` if a server does not check it.
    pub fn named(name: &str) -> Option<Format> {
        let name: std::borrow::Cow<'_, str> =
            if name.contains('-') { name.replace('-', "").into() } else { name.into() };
        Some(match &*name {
            "bsonobjectid" => Format::BsonObjectId,
            "byte" => Format::Byte,
            "cidr" => Format::Cidr,
            "creditcard" => Format::CreditCard,
            "date" => Format::Date,
            "datetime" => Format::DateTime,
            "duration" => Format::Duration,
            "email" => Format::Email,
            "hexcolor" => Format::HexColor,
            "hostname" => Format::Hostname,
            "ipv4" => Format::Ipv4,
            "ipv6" => Format::Ipv6,
            "isbn" => Format::Isbn,
            "isbn10" => Format::Isbn10,
            "isbn13" => Format::Isbn13,
            "k8slongname" => Format::LongName,
            "mac" => Format::Mac,
            "password" => Format::Password,
            "rgbcolor" => Format::RgbColor,
            "k8sshortname" => Format::ShortName,
            "ssn" => Format::Ssn,
            "uri" => Format::Uri,
            "uuid" => Format::Uuid,
            "uuid3" => Format::Uuid3,
            "uuid4" => Format::Uuid4,
            "uuid5" => Format::Uuid5,
            _ => return None,
        })
    }

    /// Returns whether a string has this format.
    ///
    /// # Example: a duration may be anywhere in the string
    /// ```
    /// use kubeshape_validate::object::Format;
    /// let duration = Format::named("duration").unwrap();
    /// assert!(duration.matches("1h30m"));
    /// assert!(duration.matches("about 5 minutes"));
    /// assert!(!duration.matches("soon"));
    /// ```
    pub fn matches(self, text: &str) -> bool {
        match self {
            Format::BsonObjectId => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
            Format::Byte => is_base64(text),
            Format::Cidr => address::is_cidr(text),
            Format::CreditCard => number::is_credit_card(text),
            Format::Date => time::is_date(text),
            Format::DateTime => time::is_date_time(text),
            Format::Duration => time::is_duration(text),
            Format::Email => email::is_email(text),
            Format::HexColor => is_hex_color(text),
            Format::Hostname => name::is_hostname(text),
            Format::Ipv4 => text.contains('.') && address::is_ip(text, true),
            Format::Ipv6 => text.contains(':') && address::is_ip(text, false),
            Format::Isbn => number::is_isbn10(text) || number::is_isbn13(text),
            Format::Isbn10 => number::is_isbn10(text),
            Format::Isbn13 => number::is_isbn13(text),
            Format::LongName => name::is_long_name(text),
            Format::Mac => address::is_mac(text),
            Format::Password => true,
            Format::RgbColor => is_rgb_color(text),
            Format::ShortName => name::is_short_name(text),
            Format::Ssn => number::is_ssn(text),
            Format::Uri => address::is_request_uri(text),
            Format::Uuid => number::is_uuid(text, None),
            Format::Uuid3 => number::is_uuid(text, Some(b'3')),
            Format::Uuid4 => number::is_uuid(text, Some(b'4')),
            Format::Uuid5 => number::is_uuid(text, Some(b'5')),
        }
    }
}

/// Checks groups of four characters, the last of which may be padded.
fn is_base64(text: &str) -> bool {
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return false;
    }
    let body = text.trim_end_matches('=');
    text.len() - body.len() <= 2 && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `rgb(1, 2, 255)`
fn is_rgb_color(text: &str) -> bool {
    // The class `\s` of Go.
    let blank = |c: char| matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ');
    let Some(list) = text.strip_prefix("rgb(").and_then(|text| text.strip_suffix(')')) else { return false };
    let mut parts = 0;
    let all = list.split(',').all(|part| {
        parts += 1;
        let digits = part.trim_matches(blank);
        let plain = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        plain && (digits == "0" || !digits.starts_with('0')) && digits.parse::<u16>().is_ok_and(|n| n <= 255)
    });
    all && parts == 3
}
