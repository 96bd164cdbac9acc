//! Values of Python as JSON, and back.

use kubeshape::input::Limits;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyNone, PyString, PyTuple};
use serde_json::Value;

/// Writes a value as JSON. Returns it with the depth of its nesting.
///
/// # Errors
/// JSON has no such value.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<(Vec<u8>, usize)> {
    let mut writer = Writer { out: Vec::with_capacity(512), deepest: 0, most: Limits::default().depth };
    writer.value(value, 0)?;
    Ok((writer.out, writer.deepest))
}

struct Writer {
    out: Vec<u8>,
    deepest: usize,
    most: usize,
}

impl Writer {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            return self.string(text);
        }
        if let Ok(map) = value.cast::<PyDict>() {
            let depth = self.enter(depth)?;
            self.out.push(b'{');
            // A value may have a method that changes the dict.
            let pairs: Vec<_> = map.iter().collect();
            for (at, (key, value)) in pairs.iter().enumerate() {
                self.pair(at, key, value, depth)?;
            }
            self.out.push(b'}');
        } else if let Ok(list) = value.cast::<PyList>() {
            self.items(list.iter(), depth)?;
        } else if let Ok(bool) = value.cast::<PyBool>() {
            self.out.extend_from_slice(if bool.is_true() { b"true" } else { b"false" });
        } else if value.cast::<PyInt>().is_ok() {
            match value.extract::<i64>() {
                Ok(number) => self.display(number),
                // Kubernetes reads it as a float. A class of its own may print something else than its digits.
                Err(_) if value.extract::<f64>().is_ok_and(f64::is_finite) => {
                    self.display(value.call_method0("__index__")?.str()?);
                }
                Err(_) => {
                    let message = "the integer is too large: Kubernetes has integers of 64 bits, and floats";
                    return Err(PyValueError::new_err(message));
                }
            }
        } else if value.cast::<PyNone>().is_ok() {
            self.out.extend_from_slice(b"null");
        } else if let Ok(float) = value.cast::<PyFloat>() {
            let number = serde_json::Number::from_f64(float.value());
            self.display(number.ok_or_else(|| PyValueError::new_err("JSON has no number that is not finite"))?);
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.items(tuple.iter(), depth)?;
        } else if let Ok(map) = value.cast::<PyMapping>() {
            let depth = self.enter(depth)?;
            self.out.push(b'{');
            for (at, pair) in map.items()?.iter().enumerate() {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
                self.pair(at, &key, &value, depth)?;
            }
            self.out.push(b'}');
        } else if value.hasattr("isoformat")? {
            // PyYAML makes dates and times of words that Kubernetes reads as strings.
            let text: String = value.call_method0("isoformat")?.extract()?;
            self.string(&PyString::new(value.py(), &text.replace("+00:00", "Z")))?;
        } else {
            let found = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!("JSON has no value of type {found}")));
        }
        Ok(())
    }

    fn enter(&mut self, depth: usize) -> PyResult<usize> {
        let depth = depth + 1;
        self.deepest = self.deepest.max(depth);
        if depth > self.most {
            return Err(PyValueError::new_err(format!("the value is nested more than {} levels deep", self.most)));
        }
        Ok(depth)
    }

    fn items<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<()> {
        let depth = self.enter(depth)?;
        self.out.push(b'[');
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.value(&item, depth)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn pair(&mut self, at: usize, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if at > 0 {
            self.out.push(b',');
        }
        let Ok(key) = key.cast::<PyString>() else {
            let found = key.get_type().name()?;
            return Err(PyTypeError::new_err(format!("keys must be strings, found {found}: {}", key.repr()?)));
        };
        self.string(key)?;
        self.out.push(b':');
        self.value(value, depth)
    }

    fn string(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        serde_json::to_writer(&mut self.out, text.to_str()?).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        self.out.extend_from_slice(value.to_string().as_bytes());
    }
}

/// Makes a value of Python.
pub(crate) fn to_python(value: &Value, py: Python<'_>) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Null => py.None(),
        Value::Bool(bool) => PyBool::new(py, *bool).to_owned().into_any().unbind(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any().unbind(),
            (_, Some(number)) => number.into_pyobject(py)?.into_any().unbind(),
            _ => number.as_f64().into_pyobject(py)?.into_any().unbind(),
        },
        Value::String(text) => PyString::new(py, text).into_any().unbind(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(item, py)?)?;
            }
            list.into_any().unbind()
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map {
                dict.set_item(key, to_python(value, py)?)?;
            }
            dict.into_any().unbind()
        }
    })
}
