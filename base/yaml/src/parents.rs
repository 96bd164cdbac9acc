//! The containers of nodes.

use crate::{Document, Kind, pointer};

/// The container of every node of a document, for the pointers of many nodes. It is built once in a walk over the
/// document. Then a pointer costs the depth of its node, while [`Document::pointer`] walks over everything before the
/// node.
#[derive(Clone, Debug, Default)]
pub struct Parents(Vec<Parent>);

#[derive(Clone, Copy, Debug)]
struct Parent {
    container: u32,
    /// The index in the sequence, if it is an item.
    number: u32,
}

impl Parents {
    /// Goes through a document.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::{Limits, Parents, Stream, Tape};
    ///
    /// let source = "a: [x, {b/c: y}]";
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// let document = tape.document(source);
    /// let parents = Parents::of(document);
    /// let all: Vec<String> = (0..document.len() as u32).map(|index| parents.pointer(document, index)).collect();
    /// assert_eq!(all, ["", "/a", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/a/1/b~1c"]);
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn of(document: Document<'_>) -> Parents {
        let mut parents = Vec::with_capacity(document.len());
        // The containers that are open: index, end, number of the next item.
        let mut open: Vec<(u32, u32, u32)> = Vec::new();
        for index in 0..document.len() as u32 {
            while open.last().is_some_and(|(_, end, _)| *end <= index) {
                open.pop();
            }
            parents.push(match open.last_mut() {
                None => Parent { container: index, number: 0 },
                Some((container, _, next)) => {
                    *next += 1;
                    Parent { container: *container, number: *next - 1 }
                }
            });
            let entry = document.node(index).entry();
            if entry.is_container() {
                open.push((index, entry.a, 0));
            }
        }
        Parents(parents)
    }

    /// The JSON pointer of a node of this document, as [`Document::pointer`] gives it; empty if there is no such node.
    pub fn pointer(&self, document: Document<'_>, index: u32) -> String {
        let mut path = Vec::new();
        let mut at = index;
        while let Some(Parent { container, .. }) = self.0.get(at as usize).filter(|parent| parent.container != at) {
            path.push(at);
            at = *container;
        }
        let mut out = String::new();
        for at in path.into_iter().rev() {
            let Parent { container, number } = self.0[at as usize];
            if document.node(container).kind() == Kind::Seq {
                out.push('/');
                out.push_str(&number.to_string());
            } else {
                // Keys and values alternate.
                pointer::push(&mut out, document.node(at - number % 2).text());
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Stream, Tape};

    #[test]
    fn pointers_are_those_of_the_document() -> Result<(), crate::Error> {
        for source in [
            "x",
            "[]",
            "{}",
            "a: 1\nb: {c: [1, [2, {d~: e}], {}], /: []}\nf: [[[]]]\n",
            "- &a {b: [c]}\n- *a\n- <<: *a\n  d: e\n",
            "{\"a\":[{\"b\":null},2,[3]],\"\":{\"\":0}}",
        ] {
            let mut tape = Tape::new();
            Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
            let document = tape.document(source);
            let parents = Parents::of(document);
            for index in 0..=document.len() as u32 {
                assert_eq!(parents.pointer(document, index), document.pointer(index), "{index} of {source}");
            }
        }
        Ok(())
    }
}
