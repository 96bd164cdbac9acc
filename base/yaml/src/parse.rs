//! The parser of the full reader: from tokens to events, with one state per position in libyaml's grammar.

use crate::error::Fault;
use crate::resolve::Tag;
use crate::scan::{Scanner, Style, Text, Token};

/// The next event of the document.
#[derive(Debug)]
pub(crate) enum Event {
    /// A scalar; `Text` is `None` where a value is absent.
    Scalar { props: Props, text: Option<Text>, style: Style, start: usize, end: usize },
    /// A sequence begins.
    Sequence { props: Props, start: usize },
    /// A mapping begins.
    Mapping { props: Props, start: usize },
    /// A collection ends; for flow collections, after their bracket.
    End { bracket: Option<usize> },
    /// An alias; its name is a range of the source.
    Alias { from: usize, to: usize },
    /// The document ends.
    DocumentEnd,
}

/// Anchor and tag of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Props {
    /// The anchor's name, a range of the source.
    pub(crate) anchor: Option<(usize, usize)>,
    pub(crate) tag: Tag,
    /// Whether the tag was `!`, with which a `<<` in quotes is a merge key too.
    pub(crate) bare: bool,
}

impl Props {
    const NONE: Props = Props { anchor: None, tag: Tag::None, bare: false };
}

#[derive(Clone, Copy, Debug)]
enum State {
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequence,
    Indentless,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequence { first: bool },
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowMappingKey { first: bool },
    FlowMappingValue { absent: bool },
    Done,
}

/// Parser of one document.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    pub(crate) scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    tags: Vec<(String, String)>,
    /// Where the text before the current token ends: the location of absent values.
    behind: usize,
    /// Where the open brackets are, for error messages.
    opened: Vec<usize>,
}

impl<'a> Parser<'a> {
    /// Reads what precedes the document's content. Returns `false` if there is no document.
    pub(crate) fn new(scanner: Scanner<'a>) -> Self {
        Parser { scanner, state: State::Done, states: Vec::new(), tags: Vec::new(), behind: 0, opened: Vec::new() }
    }

    /// Reads directives and the marker. Returns `false` if only the end is left.
    pub(crate) fn begin(&mut self) -> Result<bool, Fault> {
        let mut version = false;
        let mut directives = false;
        loop {
            let token = self.scanner.peek()?;
            let (start, end) = (token.start.at, token.end.at);
            match &token.token {
                Token::Version(major, minor) => {
                    let found = (*major, *minor);
                    if version {
                        return Err(Fault::new(start, "found a second %YAML directive"));
                    }
                    if found != (1, 1) {
                        return Err(Fault::new(
                            start,
                            format!(
                                "found YAML version {}.{}; Kubernetes reads 1.1 only, remove the directive",
                                found.0, found.1
                            ),
                        ));
                    }
                    version = true;
                }
                Token::TagDirective(pair) => {
                    let pair = (**pair).clone();
                    if self.tags.iter().any(|(handle, _)| *handle == pair.0) {
                        return Err(Fault::new(start, format!("found a second %TAG directive for {}", pair.0)));
                    }
                    self.tags.push(pair);
                }
                Token::DocumentStart => {
                    self.behind = end;
                    self.scanner.skip();
                    self.state = State::DocumentContent;
                    break;
                }
                Token::End if !directives => return Ok(false),
                other => {
                    if directives {
                        return Err(Fault::new(
                            start,
                            format!("found {} behind a directive, expected '---'", other.name()),
                        ));
                    }
                    self.behind = start;
                    self.state = State::BlockNode;
                    break;
                }
            }
            directives = true;
            self.scanner.skip();
        }
        self.states.push(State::DocumentEnd);
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.tags.iter().any(|(known, _)| known == handle) {
                self.tags.push((handle.into(), prefix.into()));
            }
        }
        Ok(true)
    }

    /// Where the last consumed token ends.
    pub(crate) fn behind(&self) -> usize {
        self.behind
    }

    fn pop(&mut self) {
        self.state = self.states.pop().unwrap_or(State::Done);
    }

    fn absent(&mut self, state: State) -> Event {
        self.state = state;
        self.nothing()
    }

    fn nothing(&self) -> Event {
        Event::Scalar { props: Props::NONE, text: None, style: Style::Plain, start: self.behind, end: self.behind }
    }

    fn skip(&mut self) -> Result<(), Fault> {
        self.behind = self.scanner.peek()?.end.at;
        self.scanner.skip();
        Ok(())
    }

    /// Returns the next event of the document.
    pub(crate) fn next(&mut self) -> Result<Event, Fault> {
        match self.state {
            State::DocumentContent => match self.scanner.peek()?.token {
                Token::Version(..)
                | Token::TagDirective(_)
                | Token::DocumentStart
                | Token::DocumentEnd
                | Token::End => {
                    self.pop();
                    Ok(self.nothing())
                }
                _ => self.node(true, false),
            },
            State::BlockNode => self.node(true, false),
            State::DocumentEnd => {
                self.state = State::Done;
                self.scanner.peek()?;
                Ok(Event::DocumentEnd)
            }
            State::Done => Ok(Event::DocumentEnd),
            State::BlockSequence => self.block_sequence(),
            State::Indentless => self.indentless(),
            State::BlockMappingKey => self.block_key(),
            State::BlockMappingValue => self.block_value(),
            State::FlowSequence { first } => self.flow_sequence(first),
            State::FlowPairKey => match self.scanner.peek()?.token {
                Token::Value | Token::FlowEntry | Token::FlowSequenceEnd => {
                    // libyaml skips this token, whatever it is.
                    self.skip()?;
                    Ok(self.absent(State::FlowPairValue))
                }
                _ => {
                    self.states.push(State::FlowPairValue);
                    self.node(false, false)
                }
            },
            State::FlowPairValue => {
                if matches!(self.scanner.peek()?.token, Token::Value) {
                    self.skip()?;
                    if !matches!(self.scanner.peek()?.token, Token::FlowEntry | Token::FlowSequenceEnd) {
                        self.states.push(State::FlowPairEnd);
                        return self.node(false, false);
                    }
                }
                Ok(self.absent(State::FlowPairEnd))
            }
            State::FlowPairEnd => {
                self.state = State::FlowSequence { first: false };
                Ok(Event::End { bracket: None })
            }
            State::FlowMappingKey { first } => self.flow_key(first),
            State::FlowMappingValue { absent } => {
                if !absent && matches!(self.scanner.peek()?.token, Token::Value) {
                    self.skip()?;
                    if !matches!(self.scanner.peek()?.token, Token::FlowEntry | Token::FlowMappingEnd) {
                        self.states.push(State::FlowMappingKey { first: false });
                        return self.node(false, false);
                    }
                }
                self.scanner.peek()?;
                Ok(self.absent(State::FlowMappingKey { first: false }))
            }
        }
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<Event, Fault> {
        let mut props = Props::NONE;
        let mut tag: Option<(String, String, usize)> = None;
        loop {
            let token = self.scanner.peek()?;
            let start = token.start.at;
            match &token.token {
                Token::Alias(from, to) if props.anchor.is_none() && tag.is_none() => {
                    let (from, to) = (*from, *to);
                    self.skip()?;
                    self.pop();
                    return Ok(Event::Alias { from, to });
                }
                Token::Anchor(from, to) if props.anchor.is_none() => {
                    props.anchor = Some((*from, *to));
                }
                Token::Tag(pair) if tag.is_none() => {
                    tag = Some((pair.0.clone(), pair.1.clone(), start));
                }
                _ => break,
            }
            self.skip()?;
        }
        let tagged = tag.is_some();
        if let Some((handle, suffix, at)) = tag {
            let full = if handle.is_empty() {
                suffix
            } else {
                match self.tags.iter().find(|(known, _)| *known == handle) {
                    Some((_, prefix)) => format!("{prefix}{suffix}"),
                    None => {
                        return Err(Fault::new(
                            at,
                            format!("found the tag handle {handle}, which no %TAG directive declares"),
                        ));
                    }
                }
            };
            props.bare = full == "!";
            props.tag = if full.is_empty() { Tag::None } else { Tag::of(&full) };
        }
        let behind = self.behind;
        let token = self.scanner.peek()?;
        let (start, end) = (token.start.at, token.end.at);
        match token.token {
            Token::BlockEntry if indentless => {
                self.state = State::Indentless;
                Ok(Event::Sequence { props, start })
            }
            Token::Scalar(text, style) => {
                self.skip()?;
                self.pop();
                Ok(Event::Scalar { props, text: Some(text), style, start, end })
            }
            Token::FlowSequenceStart => {
                self.skip()?;
                self.opened.push(start);
                self.state = State::FlowSequence { first: true };
                Ok(Event::Sequence { props, start })
            }
            Token::FlowMappingStart => {
                self.skip()?;
                self.opened.push(start);
                self.state = State::FlowMappingKey { first: true };
                Ok(Event::Mapping { props, start })
            }
            Token::BlockSequenceStart if block => {
                self.scanner.skip();
                self.state = State::BlockSequence;
                Ok(Event::Sequence { props, start })
            }
            Token::BlockMappingStart if block => {
                self.scanner.skip();
                self.state = State::BlockMappingKey;
                Ok(Event::Mapping { props, start })
            }
            _ if props.anchor.is_some() || tagged => {
                self.pop();
                Ok(Event::Scalar { props, text: None, style: Style::Plain, start: behind, end: behind })
            }
            ref other => {
                Err(Fault::new(start, format!("found {}, expected a value", other.name())).opened(self.opened.last()))
            }
        }
    }

    fn block_sequence(&mut self) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let start = token.start.at;
        match &token.token {
            Token::BlockEntry => {
                self.skip()?;
                if matches!(self.scanner.peek()?.token, Token::BlockEntry | Token::BlockEnd) {
                    return Ok(self.absent(State::BlockSequence));
                }
                self.states.push(State::BlockSequence);
                self.node(true, false)
            }
            Token::BlockEnd => {
                self.scanner.skip();
                self.pop();
                Ok(Event::End { bracket: None })
            }
            other => Err(Fault::new(
                start,
                format!(
                    "found {} between the items of a sequence, expected '- ' or less indentation; check the \
                     indentation of this line",
                    other.name()
                ),
            )),
        }
    }

    fn indentless(&mut self) -> Result<Event, Fault> {
        if !matches!(self.scanner.peek()?.token, Token::BlockEntry) {
            self.pop();
            return Ok(Event::End { bracket: None });
        }
        self.skip()?;
        match self.scanner.peek()?.token {
            Token::BlockEntry | Token::Key | Token::Value | Token::BlockEnd => Ok(self.absent(State::Indentless)),
            _ => {
                self.states.push(State::Indentless);
                self.node(true, false)
            }
        }
    }

    fn block_key(&mut self) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let start = token.start.at;
        match &token.token {
            Token::Key => {
                self.behind = start;
                self.skip()?;
                match self.scanner.peek()?.token {
                    Token::Key | Token::Value | Token::BlockEnd => Ok(self.absent(State::BlockMappingValue)),
                    _ => {
                        self.states.push(State::BlockMappingValue);
                        self.node(true, true)
                    }
                }
            }
            Token::BlockEnd => {
                self.scanner.skip();
                self.pop();
                Ok(Event::End { bracket: None })
            }
            other => Err(Fault::new(
                start,
                format!(
                    "found {} between the keys of a mapping, expected a key or less indentation; check the \
                     indentation of this line",
                    other.name()
                ),
            )),
        }
    }

    fn block_value(&mut self) -> Result<Event, Fault> {
        let next = State::BlockMappingKey;
        if !matches!(self.scanner.peek()?.token, Token::Value) {
            return Ok(self.absent(next));
        }
        self.skip()?;
        match self.scanner.peek()?.token {
            Token::Key | Token::Value | Token::BlockEnd => Ok(self.absent(next)),
            _ => {
                self.states.push(next);
                self.node(true, true)
            }
        }
    }

    fn flow_sequence(&mut self, first: bool) -> Result<Event, Fault> {
        if !first && !matches!(self.scanner.peek()?.token, Token::FlowSequenceEnd) {
            self.comma("']'")?;
        }
        let token = self.scanner.peek()?;
        let (start, end) = (token.start.at, token.end.at);
        match token.token {
            Token::FlowSequenceEnd => Ok(self.close(end)),
            Token::Key => {
                self.behind = start;
                self.skip()?;
                self.state = State::FlowPairKey;
                let start = self.scanner.peek()?.start.at;
                Ok(Event::Mapping { props: Props::NONE, start })
            }
            _ => {
                self.states.push(State::FlowSequence { first: false });
                self.node(false, false)
            }
        }
    }

    fn flow_key(&mut self, first: bool) -> Result<Event, Fault> {
        if !first && !matches!(self.scanner.peek()?.token, Token::FlowMappingEnd) {
            self.comma("'}'")?;
        }
        let token = self.scanner.peek()?;
        let (start, end) = (token.start.at, token.end.at);
        match token.token {
            Token::FlowMappingEnd => Ok(self.close(end)),
            Token::Key => {
                self.behind = start;
                self.skip()?;
                match self.scanner.peek()?.token {
                    Token::Value | Token::FlowEntry | Token::FlowMappingEnd => {
                        Ok(self.absent(State::FlowMappingValue { absent: false }))
                    }
                    _ => {
                        self.states.push(State::FlowMappingValue { absent: false });
                        self.node(false, false)
                    }
                }
            }
            _ => {
                self.states.push(State::FlowMappingValue { absent: true });
                self.node(false, false)
            }
        }
    }

    fn close(&mut self, end: usize) -> Event {
        self.behind = end;
        self.scanner.skip();
        self.opened.pop();
        self.pop();
        Event::End { bracket: Some(end) }
    }

    fn comma(&mut self, bracket: &str) -> Result<(), Fault> {
        let token = self.scanner.peek()?;
        if matches!(token.token, Token::FlowEntry) {
            return self.skip();
        }
        let (at, found) = (token.start.at, token.token.name());
        Err(Fault::new(at, format!("found {found}, expected ',' or {bracket}")).opened(self.opened.last()))
    }
}
