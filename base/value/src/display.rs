//! Values as strings, as in paths, conflicts and errors (upstream `value.ToString`).

use crate::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use kubeshape_yaml::go::number::General;
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Null => f.write_str("null"),
            Value::Bool(yes) => yes.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Float(n) => General(n).fmt(f),
            Value::String(text) => GoQuoted(text).fmt(f),
            Value::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Value::Map(map) => map.entries().iter().try_for_each(|(key, value)| write!(f, "{key}={value}")),
        }
    }
}
