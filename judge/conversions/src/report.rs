//! The results of a proof.

use kubeshape_schema::Code;

/// What was found out about the conversions of a definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The versions, in the order of the definition.
    pub versions: Vec<Tried>,
    /// The faults: by the versions, then by code and path.
    pub faults: Vec<Fault>,
    /// The number of reviews that were sent.
    pub reviews: usize,
    /// The number of objects that were converted, there and back.
    pub conversions: usize,
    /// Why not everything was tried: a limit was reached, or the webhook no longer answers.
    pub stopped: Option<String>,
    /// Own objects that were not tried: their index, and why their version does not accept them.
    pub refused: Vec<(usize, String)>,
}

/// What was tried with a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// The name: `v1beta1`.
    pub name: String,
    /// The number of its objects that were converted.
    pub objects: usize,
    /// The number of values of fields that got no object, because there are too many. Another seed chooses others.
    pub skipped: usize,
    /// The fields for which no object was found that the version accepts.
    pub missing: Vec<String>,
}

/// Something that a conversion does wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What is wrong: one of the codes KS85xx.
    pub code: Code,
    /// What happens: the same code, or for [`Code::ConversionOfEmpty`] what happens to objects with empty values.
    pub what: Code,
    /// The version of the object.
    pub from: String,
    /// The version to which it is converted, or by which it goes back to its own one.
    pub to: String,
    /// The path of the value, as in the server's errors: `spec.ports[0].name`. Empty if it is about the whole object.
    /// If a conversion fails, it is the first field whose objects fail, without numbers of items: `spec.ports[*].name`.
    pub path: String,
    /// What happened, with the server's messages.
    pub detail: String,
    /// The smallest object that was found that shows it, as a user would write it.
    pub object: serde_json::Value,
    /// The converted object, as a server stores it; `None` if the conversion failed.
    pub converted: Option<serde_json::Value>,
    /// The number of objects that showed it.
    pub count: usize,
    /// Location: the schema of the value, or the version, in the tape of the definition.
    pub at: u32,
}
