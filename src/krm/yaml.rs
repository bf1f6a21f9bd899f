//! Reads one YAML document into a tree that knows where each piece stands in the text, and into plain data.
//!
//! granit-parser gives events with byte spans; this module holds every option and every budget, so that a hostile document
//! ends in a message: nesting, alias expansion, duplicate keys.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span, StructureStyle};

/// Deepest nesting of collections that is read.
pub const MAX_DEPTH: usize = 128;

/// A piece of a document and the bytes that it was written with.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// Bytes of the content, from the first to past the last token; trailing blanks and comments are not part of it.
    pub span: Range<usize>,
    /// What it holds.
    pub content: Content<'a>,
    /// How many levels of collections lie in it, those behind aliases too.
    height: usize,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// A scalar: its text after escapes, whether it was plain, and the suffix of a core schema tag.
    Scalar {
        /// Text after escape processing.
        text: Cow<'a, str>,
        /// Neither quoted nor a block scalar.
        plain: bool,
        /// Suffix of an explicit tag: `str` of `!!str`, nothing for a tag that is not YAML's own.
        tag: Option<String>,
    },
    /// A sequence.
    Sequence {
        /// Written as `[a, b]`.
        flow: bool,
        /// Its entries.
        entries: Vec<Node<'a>>,
    },
    /// A mapping, entries in their order, keys not yet checked for duplicates.
    Mapping {
        /// Written as `{a: b}`.
        flow: bool,
        /// Keys and values.
        entries: Vec<(Node<'a>, Node<'a>)>,
    },
    /// `*name`, or a node that has an anchor: shared, never copied, so that a bomb of aliases stays small.
    Shared(Rc<Node<'a>>),
}

/// Why text could not be read, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in plain words.
    pub message: String,
    /// Path of the field, where it is known.
    pub field: Option<String>,
    /// Byte offset.
    pub offset: usize,
    /// Whether the document cannot be read at all (as against one value of it).
    pub kind: ProblemKind,
}

/// What kind of problem a text has; each is a rule of its own for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Not YAML.
    Syntax,
    /// The same key twice in one mapping.
    DuplicateKey,
    /// Past one of the budgets.
    Budget,
    /// More than one document, or none, where one was expected.
    Documents,
    /// An alias whose anchor is not in this text: it may be in an earlier part of the document.
    UnknownAnchor,
    /// One document, but not a ResourceList.
    NotAList,
}

impl Problem {
    pub(crate) fn at(kind: ProblemKind, offset: usize, message: impl Into<String>) -> Self {
        Problem { message: message.into(), field: None, offset, kind }
    }
}

impl<'a> Node<'a> {
    /// The node itself, or what its alias stands for.
    #[must_use]
    pub fn resolved(&self) -> &Node<'a> {
        match &self.content {
            Content::Shared(target) => target.resolved(),
            _ => self,
        }
    }

    /// The value of a key, if this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.entry(key).map(|(_, value)| value)
    }

    /// Key and value, if this is a mapping that has the key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&(Node<'a>, Node<'a>)> {
        self.entries().iter().find(|(k, _)| k.text() == Some(key))
    }

    /// All entries, if this is a mapping.
    #[must_use]
    pub fn entries(&self) -> &[(Node<'a>, Node<'a>)] {
        match &self.resolved().content {
            Content::Mapping { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The text of a scalar.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.resolved().content {
            Content::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The node at a path such as `spec.clusters[0].externalAccess`, or the deepest one on the way to it. A value that is not
    /// written out has no place: its key stands for it, or the list that it is in.
    #[must_use]
    pub fn nearest(&self, path: &str) -> &Node<'a> {
        let mut node = self;
        for step in path.split(['.', '[']) {
            let next = match step.strip_suffix(']').map(str::parse::<usize>) {
                Some(Ok(index)) => match &node.resolved().content {
                    Content::Sequence { entries, .. } => entries.get(index),
                    _ => None,
                },
                _ => node.entry(step).map(|(key, value)| if value.span.is_empty() { key } else { value }),
            };
            match next {
                Some(next) if !next.span.is_empty() => node = next,
                _ => return node,
            }
        }
        node
    }
}

/// Reads text that holds exactly one document.
///
/// # Errors
/// Text that is not YAML, is nested too deeply, or holds no or several documents.
pub fn parse(text: &str) -> Result<Node<'_>, Problem> {
    Composer::new(text, false).document()
}

/// [`parse`], refusing what YAML 1.2 forbids though most readers let it pass: continuation lines of quoted scalars and flow
/// collections that are indented less than what they belong to.
///
/// # Errors
/// As [`parse`].
pub fn parse_strict(text: &str) -> Result<Node<'_>, Problem> {
    Composer::new(text, true).document()
}

struct Composer<'a> {
    text: &'a str,
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    anchors: HashMap<usize, Rc<Node<'a>>>,
    /// End of the last token that carries content: block collections end here, not where the parser notices it.
    last_end: usize,
}

impl<'a> Composer<'a> {
    fn new(text: &'a str, strict: bool) -> Self {
        let mut options = granit_parser::Options::default();
        options.emit_comments = false;
        options.strict_indentation = strict;
        options.block_scalar_eof_without_line_feed = true;
        Composer { text, parser: Parser::new_from_str_with_options(text, options), anchors: HashMap::new(), last_end: 0 }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        match self.parser.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => {
                let marker = error.marker();
                let offset = marker.byte_offset().unwrap_or(self.text.len());
                let kind = match error.kind() {
                    ErrorKind::RecursionLimitExceeded => ProblemKind::Budget,
                    ErrorKind::UnknownAnchor => ProblemKind::UnknownAnchor,
                    _ => ProblemKind::Syntax,
                };
                Err(Problem::at(kind, offset, error.kind().to_string()))
            }
            None => Err(Problem::at(ProblemKind::Syntax, self.text.len(), "unexpected end of text")),
        }
    }

    fn document(mut self) -> Result<Node<'a>, Problem> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            let offset = span.start.byte_offset().unwrap_or_default();
            match event {
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => {
                    let node = self.node(event, &span, 0)?;
                    let empty = matches!(&node.content, Content::Scalar { plain: true, .. } if node.span.is_empty());
                    match &root {
                        None => root = Some(node),
                        Some(_) if empty => {}
                        Some(_) => return Err(Problem::at(ProblemKind::Documents, offset, "a second document was found")),
                    }
                }
            }
        }
        root.ok_or_else(|| Problem::at(ProblemKind::Documents, 0, "there is no document in it"))
    }

    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node<'a>, Problem> {
        let (mut start, mut end) = match span.byte_range() {
            Some(range) => (range.start, range.end),
            None => (0, 0),
        };
        if depth > MAX_DEPTH {
            return Err(Problem::at(ProblemKind::Budget, start, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let mut height = 0;
        let (content, anchor) = match event {
            Event::Alias(id) => {
                let Some(target) = self.anchors.get(&id) else {
                    return Err(Problem::at(ProblemKind::Syntax, start, "an alias stands inside the value of its own anchor"));
                };
                self.last_end = end;
                height = target.height;
                (Content::Shared(Rc::clone(target)), 0)
            }
            Event::Scalar(text, style, anchor, tag) => {
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    end = self.block_end(start..end);
                    if end == start {
                        // No lines at all: it ends with its mark, and the span is wherever the next token is.
                        start = self.block_mark(self.last_end..start);
                        end = start.saturating_add(1).min(self.text.len());
                    }
                }
                if end > start {
                    self.last_end = end;
                }
                let tag = tag.map(|tag| match tag.parts() {
                    ("tag:yaml.org,2002:", suffix) => suffix.to_owned(),
                    (handle, suffix) => format!("{handle}{suffix}").strip_prefix("tag:yaml.org,2002:").unwrap_or_default().to_owned(),
                });
                (Content::Scalar { text, plain: style == ScalarStyle::Plain, tag }, anchor)
            }
            Event::SequenceStart(style, anchor, _) => {
                let mut entries = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        end = self.end_of_collection(style, &span);
                        break;
                    }
                    let entry = self.node(event, &span, depth.saturating_add(1))?;
                    height = height.max(entry.height);
                    entries.push(entry);
                }
                height = height.saturating_add(1);
                (Content::Sequence { flow: style == StructureStyle::Flow, entries }, anchor)
            }
            Event::MappingStart(style, anchor, _) => {
                let mut entries = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::MappingEnd) {
                        end = self.end_of_collection(style, &span);
                        break;
                    }
                    let key = self.node(event, &span, depth.saturating_add(1))?;
                    let key_end = self.last_end;
                    let (event, span) = self.next()?;
                    let mut value = self.node(event, &span, depth.saturating_add(1))?;
                    if style == StructureStyle::Block {
                        self.start_at_dash(&mut value, key_end);
                    }
                    height = height.max(key.height).max(value.height);
                    entries.push((key, value));
                }
                height = height.saturating_add(1);
                if let (StructureStyle::Block, Some((key, _))) = (style, entries.first()) {
                    start = start.min(key.span.start);
                }
                (Content::Mapping { flow: style == StructureStyle::Flow, entries }, anchor)
            }
            _ => return Err(Problem::at(ProblemKind::Syntax, start, "unexpected end of a collection")),
        };
        if height > MAX_DEPTH {
            return Err(Problem::at(ProblemKind::Budget, start, format!("nested more than {MAX_DEPTH} levels deep, aliases written out")));
        }
        let node = Node { span: start..end.max(start), content, height };
        if anchor == 0 {
            return Ok(node);
        }
        let span = node.span.clone();
        let shared = Rc::new(node);
        self.anchors.insert(anchor, Rc::clone(&shared));
        Ok(Node { span, content: Content::Shared(shared), height })
    }

    /// The parser places a block sequence in the column of its parent's keys behind its first dash; it starts at the dash.
    fn start_at_dash(&self, value: &mut Node<'a>, key_end: usize) {
        if !matches!(value.resolved().content, Content::Sequence { flow: false, .. }) || matches!(value.content, Content::Shared(_)) {
            return;
        }
        let between = self.text.get(key_end..value.span.start).unwrap_or_default();
        let mut next = key_end;
        for (index, line) in between.split_inclusive('\n').enumerate() {
            let at = next;
            next = next.saturating_add(line.len());
            if index == 0 {
                continue;
            }
            let indent = line.len().saturating_sub(line.trim_start_matches(' ').len());
            if line.trim_start_matches(' ').starts_with('-') {
                value.span.start = at.saturating_add(indent);
                return;
            }
        }
    }

    /// Where the last line of a block scalar ends. The span starts in the column of the text and runs on over blank lines and
    /// the next line's indentation; lines of blanks are text as far as they are longer than that column.
    fn block_end(&self, span: Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at.saturating_add(1));
        let mut column = 0;
        let (mut at, mut end) = (span.start, span.start);
        for line in self.text.get(span.clone()).unwrap_or_default().split_inclusive('\n') {
            let content = line.trim_end_matches(['\r', '\n']);
            if content.len() > column || !content.trim().is_empty() {
                end = at.saturating_add(content.len());
            }
            at = at.saturating_add(line.len());
            column = span.start.saturating_sub(line_start);
        }
        end
    }

    /// The `|` or `>` of a block scalar.
    fn block_mark(&self, within: Range<usize>) -> usize {
        let bytes = self.text.as_bytes().get(within.clone()).unwrap_or_default();
        let mut after_blank = false;
        let mut in_comment = false;
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' => in_comment = false,
                b'#' if after_blank => in_comment = true,
                b'|' | b'>' if after_blank && !in_comment => return within.start.saturating_add(at),
                _ => {}
            }
            after_blank = byte.is_ascii_whitespace();
        }
        within.start
    }

    /// A flow collection ends with its bracket; a block collection has no end of its own in the text.
    fn end_of_collection(&mut self, style: StructureStyle, span: &Span) -> usize {
        if style == StructureStyle::Flow {
            self.last_end = span.end.byte_offset().unwrap_or(self.last_end);
        }
        self.last_end
    }
}
