//! An expression that has a type and no dynamic parts evaluates to a value of that type, or fails with an error that is
//! not about types.

use kubeshape_cel::{Data, Env, Release, Type, Value};
use std::sync::Arc;

/// The cost limit of an evaluation.
const BUDGET: u64 = 10_000;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let variables = [
        ("words", Type::list(Type::String)),
        ("counts", Type::map(Type::String, Type::Int)),
        ("count", Type::Int),
        ("u", Type::Uint),
        ("ratio", Type::Double),
        ("enabled", Type::Bool),
        ("b", Type::Bytes),
    ];
    let mut env = Env::new(Release::NEWEST);
    for (name, ty) in &variables {
        env = env.with_variable(name, ty.clone());
    }
    let Ok(ast) = env.compile(source) else { return };
    if ast.is_dynamic() {
        return;
    }
    let Ok(program) = ast.program() else { return };
    let words = Data::List(["a", "", "bc\u{e9}"].map(Data::string).to_vec());
    let counts = Data::map([("x", Data::Int(1)), ("y", Data::Int(i64::MAX))]);
    let values = [
        ("words", Value::from(&words)),
        ("counts", Value::from(&counts)),
        ("count", Value::Int(3)),
        ("u", Value::Uint(7)),
        ("ratio", Value::Double(0.5)),
        ("enabled", Value::Bool(true)),
        ("b", Value::Bytes(Arc::from(*b"a\xff"))),
    ];
    let result = program.evaluate(values, BUDGET).result;
    // Two faults of upstream are excluded. A nested optional loses one level when a variable or a conditional is read,
    // so the types of the value and of the expression differ. And null is a value of each type that can be null, such
    // as a timestamp, but has none of its functions: `null - timestamp(0)` type-checks.
    if ast.types().any(|ty| *ty == Type::Null || holds_nested_optional(ty)) {
        return;
    }
    match result {
        Ok(value) => assert!(fits(&value, ast.output_type()), "{value:?} is no {}", ast.output_type()),
        // Upstream's `containsIP` gives this error for a string that is not an address.
        Err(error) => assert!(!error.contains("no such overload") || source.contains("containsIP"), "{error}"),
    }
}

/// Returns whether there is an optional in an optional.
fn holds_nested_optional(ty: &Type) -> bool {
    ty.as_optional().is_some_and(|inner| inner.as_optional().is_some())
        || ty.parameters().into_iter().any(holds_nested_optional)
}

/// Returns whether a value, with all its parts, has a type.
fn fits(value: &Value<'_>, ty: &Type) -> bool {
    match (value, ty) {
        (Value::List(list), Type::List(element)) => list.iter().all(|item| fits(&item, element)),
        (Value::Map(map), Type::Map(entry)) => {
            map.iter().all(|(key, value)| fits(&key, &entry.0) && fits(&value, &entry.1))
        }
        (Value::Optional(inner), ty) => ty.as_optional().is_some_and(|ty| inner.iter().all(|value| fits(value, ty))),
        // Null is assignable to types such as `kubernetes.NamedFormat`, so `optional.of(null).orValue(x)` has the type
        // of null. Upstream's `true ? optional.of(semver('1.0.0')) : optional.none()` is an optional with an error in
        // it, and `[?x]` and `{?k: x}` keep it.
        (_, Type::Null)
        | (Value::Type(_), Type::Type(_))
        | (Value::Null, Type::Wrapper(_))
        | (Value::Error(_), _) => true,
        (value, Type::Wrapper(inner)) => fits(value, inner),
        (value, ty) => value.type_of().name() == ty.name(),
    }
}
