//! Protobuf's well-known messages, as cel-go 0.26 answers in Kubernetes' environment.

use super::evaluate;

fn equal(left: &str, right: &str) {
    assert_eq!(evaluate(&format!("{left} == {right}")), Ok("Bool(true)".to_owned()), "{left} == {right}");
}

#[test]
fn moments_and_durations_are_made_of_seconds_and_nanoseconds() {
    equal("google.protobuf.Timestamp{seconds: 20, nanos: -5}", "timestamp('1970-01-01T00:00:19.999999995Z')");
    equal("google.protobuf.Duration{seconds: -20, nanos: 5}", "duration('-19.999999995s')");
    equal("google.protobuf.Duration{seconds: 9223372037}", "google.protobuf.Duration{seconds: 9223372038}");
    equal("string(google.protobuf.Timestamp{seconds: 9223372036854775807})", "'292277026596-12-04T15:30:07Z'");
    let error = evaluate("google.protobuf.Timestamp{seconds: 9223372036854775807} + duration('1s')");
    assert_eq!(error, Err("integer overflow".to_owned()));
}

#[test]
fn fields_have_their_types() {
    let wrong = [
        ("google.protobuf.Int32Value{value: 2147483648}", "integer overflow"),
        ("google.protobuf.UInt32Value{value: 4294967296u}", "unsigned integer overflow"),
        ("google.protobuf.StringValue{value: dyn(1)}", "unsupported type conversion from 'int' to string"),
        ("google.protobuf.BoolValue{value: dyn(null)}", "type conversion error from 'null_type' to 'bool'"),
        ("google.protobuf.BytesValue{value: dyn([1])}", "unsupported type conversion from 'int' to uint8"),
    ];
    for (source, text) in wrong {
        let name = source.split('{').next().unwrap_or_default();
        assert_eq!(evaluate(source), Err(format!("field type conversion error for {name}.value value type: {text}")));
    }
    equal("google.protobuf.FloatValue{value: 1.1}", "1.100000023841858");
}

#[test]
fn structures_hold_what_json_holds() {
    equal("google.protobuf.ListValue{values: [1]}.map(x, type(x))", "[double]");
    equal("google.protobuf.ListValue{values: [9007199254740992]}", "['9007199254740992']");
    equal("google.protobuf.Struct{fields: {'a': b'a'}}.a", "'YQ=='");
    equal("google.protobuf.Struct{fields: {'a': duration('90s')}}.a", "'90s'");
}

#[test]
fn any_is_what_it_holds() {
    let any = |name: &str, value: &str| {
        format!("google.protobuf.Any{{type_url: 'x/google.protobuf.{name}', value: {value}}}")
    };
    equal(&any("Int64Value", r"b'\x08\x05'"), "5");
    equal(&any("StringValue", r"b'\n\x01a'"), "'a'");
    equal(&any("Struct", r"b'\n\x07\n\x01a\x12\x02\x20\x01'"), "{'a': true}");
    equal(&any("FloatValue", r"b'\x0d\x00\x00\x80\x3f'"), "1.0");
    let error = "unsupported conversion to ref.Val: (*dynamicpb.Message)";
    assert_eq!(evaluate("google.protobuf.Any{}"), Err(error.to_owned()));
    let given = r#"type_url:"x/google.protobuf.Int64Value" value:"\x08""#;
    assert_eq!(evaluate(&any("Int64Value", r"b'\x08'")), Err(format!("{error}{given}")));
}
