//! The rules of cel-go's grammar (`parser/gen/CEL.g4`) as data, after left recursion is replaced by precedence, as
//! ANTLR replaces it.

use crate::parse::lexer::Token;

/// The rules, by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    Start,
    Expr,
    ConditionalOr,
    ConditionalAnd,
    Relation,
    Calc,
    Unary,
    Member,
    Primary,
    ExprList,
    ListInit,
    FieldInitializerList,
    OptField,
    MapInitializerList,
    EscapeIdent,
    OptExpr,
    Literal,
}

/// The role of a child in its rule: the labels of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// The tree does not use it.
    None,
    /// The operand, or the first one.
    E,
    /// The second operand.
    E1,
    /// The third operand.
    E2,
    /// The operator.
    Op,
    /// The question mark of an optional entry or member.
    Opt,
    /// A name.
    Id,
    /// The dot before a name.
    LeadingDot,
    /// The contents of the brackets of a call, list, map or message.
    Inner,
    /// A colon.
    Col,
    /// A key or the name of a field.
    Key,
    /// A value.
    Value,
    /// The sign of a number.
    Sign,
    /// The token of a literal.
    Tok,
}

/// A set of tokens, with one bit per token number.
pub(super) type TokenSet = u64;

/// One part of a rule.
pub(super) enum Item {
    Token(TokenSet, Label),
    /// A rule, called with a precedence.
    Rule(Rule, u8, Label),
    Optional(&'static [Item]),
    Star(&'static [Item]),
    Plus(&'static [Item]),
    Choice(&'static [&'static [Item]]),
    /// The links of a rule that was left-recursive, each with its precedence.
    Links(&'static [(u8, &'static [Item])]),
}

/// Returns a set of tokens.
pub(super) const fn set(tokens: &[Token]) -> TokenSet {
    let (mut out, mut i) = (0, 0);
    while i < tokens.len() {
        out |= 1 << tokens[i] as u64;
        i += 1;
    }
    out
}

const fn one(token: Token, label: Label) -> Item {
    Item::Token(set(&[token]), label)
}

const fn rule(rule: Rule, label: Label) -> Item {
    Item::Rule(rule, 0, label)
}

const RELATIONS: TokenSet = set(&[
    Token::Equals,
    Token::NotEquals,
    Token::In,
    Token::Less,
    Token::LessEquals,
    Token::GreaterEquals,
    Token::Greater,
]);
const PRODUCTS: TokenSet = set(&[Token::Star, Token::Slash, Token::Percent]);
const SUMS: TokenSet = set(&[Token::Minus, Token::Plus]);

const DOT: Item = one(Token::Dot, Label::Op);
const LEADING_DOT: Item = Item::Optional(&[one(Token::Dot, Label::LeadingDot)]);
const OPTIONAL: Item = Item::Optional(&[one(Token::Question, Label::Opt)]);
const COMMA: Item = one(Token::Comma, Label::None);
const LAST_COMMA: Item = Item::Optional(&[COMMA]);
const NAME: Item = one(Token::Identifier, Label::Id);
const COLON: Item = one(Token::Colon, Label::Col);
const VALUE: Item = rule(Rule::Expr, Label::Value);
const ARGUMENTS: Item = Item::Optional(&[rule(Rule::ExprList, Label::Inner)]);
const RIGHT_PAREN: Item = one(Token::RightParen, Label::None);
const RIGHT_BRACKET: Item = one(Token::RightBracket, Label::None);
const RIGHT_BRACE: Item = one(Token::RightBrace, Label::None);

/// The rules with their parts, in the order of [`Rule`].
pub(super) const GRAMMAR: [(Rule, &[Item]); 17] = [
    (Rule::Start, &[rule(Rule::Expr, Label::E), one(Token::Eof, Label::None)]),
    (
        Rule::Expr,
        &[
            rule(Rule::ConditionalOr, Label::E),
            Item::Optional(&[
                one(Token::Question, Label::Op),
                rule(Rule::ConditionalOr, Label::E1),
                one(Token::Colon, Label::None),
                rule(Rule::Expr, Label::E2),
            ]),
        ],
    ),
    (
        Rule::ConditionalOr,
        &[
            rule(Rule::ConditionalAnd, Label::E),
            Item::Star(&[one(Token::Or, Label::Op), rule(Rule::ConditionalAnd, Label::E1)]),
        ],
    ),
    (
        Rule::ConditionalAnd,
        &[rule(Rule::Relation, Label::E), Item::Star(&[one(Token::And, Label::Op), rule(Rule::Relation, Label::E1)])],
    ),
    (
        Rule::Relation,
        &[
            rule(Rule::Calc, Label::E),
            Item::Links(&[(1, &[Item::Token(RELATIONS, Label::Op), Item::Rule(Rule::Relation, 2, Label::E1)])]),
        ],
    ),
    (
        Rule::Calc,
        &[
            rule(Rule::Unary, Label::E),
            Item::Links(&[
                (2, &[Item::Token(PRODUCTS, Label::Op), Item::Rule(Rule::Calc, 3, Label::E1)]),
                (1, &[Item::Token(SUMS, Label::Op), Item::Rule(Rule::Calc, 2, Label::E1)]),
            ]),
        ],
    ),
    (
        Rule::Unary,
        &[Item::Choice(&[
            &[rule(Rule::Member, Label::E)],
            &[Item::Plus(&[one(Token::Exclamation, Label::Op)]), rule(Rule::Member, Label::E)],
            &[Item::Plus(&[one(Token::Minus, Label::Op)]), rule(Rule::Member, Label::E)],
        ])],
    ),
    (
        Rule::Member,
        &[
            rule(Rule::Primary, Label::E),
            Item::Links(&[
                (3, &[DOT, OPTIONAL, rule(Rule::EscapeIdent, Label::Id)]),
                (2, &[one(Token::Dot, Label::None), NAME, one(Token::LeftParen, Label::Op), ARGUMENTS, RIGHT_PAREN]),
                (1, &[one(Token::LeftBracket, Label::Op), OPTIONAL, rule(Rule::Expr, Label::Inner), RIGHT_BRACKET]),
            ]),
        ],
    ),
    (
        Rule::Primary,
        &[Item::Choice(&[
            &[LEADING_DOT, NAME],
            &[LEADING_DOT, NAME, one(Token::LeftParen, Label::Op), ARGUMENTS, RIGHT_PAREN],
            &[one(Token::LeftParen, Label::None), rule(Rule::Expr, Label::E), RIGHT_PAREN],
            &[
                one(Token::LeftBracket, Label::Op),
                Item::Optional(&[rule(Rule::ListInit, Label::Inner)]),
                LAST_COMMA,
                RIGHT_BRACKET,
            ],
            &[
                one(Token::LeftBrace, Label::Op),
                Item::Optional(&[rule(Rule::MapInitializerList, Label::Inner)]),
                LAST_COMMA,
                RIGHT_BRACE,
            ],
            &[
                LEADING_DOT,
                NAME,
                Item::Star(&[one(Token::Dot, Label::None), NAME]),
                one(Token::LeftBrace, Label::Op),
                Item::Optional(&[rule(Rule::FieldInitializerList, Label::Inner)]),
                LAST_COMMA,
                RIGHT_BRACE,
            ],
            &[rule(Rule::Literal, Label::E)],
        ])],
    ),
    (Rule::ExprList, &[rule(Rule::Expr, Label::E), Item::Star(&[COMMA, rule(Rule::Expr, Label::E)])]),
    (Rule::ListInit, &[rule(Rule::OptExpr, Label::E), Item::Star(&[COMMA, rule(Rule::OptExpr, Label::E)])]),
    (
        Rule::FieldInitializerList,
        &[
            rule(Rule::OptField, Label::Key),
            COLON,
            VALUE,
            Item::Star(&[COMMA, rule(Rule::OptField, Label::Key), COLON, VALUE]),
        ],
    ),
    (Rule::OptField, &[OPTIONAL, rule(Rule::EscapeIdent, Label::Id)]),
    (
        Rule::MapInitializerList,
        &[
            rule(Rule::OptExpr, Label::Key),
            COLON,
            VALUE,
            Item::Star(&[COMMA, rule(Rule::OptExpr, Label::Key), COLON, VALUE]),
        ],
    ),
    (Rule::EscapeIdent, &[Item::Choice(&[&[NAME], &[one(Token::EscapedIdentifier, Label::Id)]])]),
    (Rule::OptExpr, &[OPTIONAL, rule(Rule::Expr, Label::E)]),
    (
        Rule::Literal,
        &[Item::Choice(&[
            &[SIGN, one(Token::Int, Label::Tok)],
            &[one(Token::Uint, Label::Tok)],
            &[SIGN, one(Token::Float, Label::Tok)],
            &[one(Token::String, Label::Tok)],
            &[one(Token::Bytes, Label::Tok)],
            &[one(Token::True, Label::Tok)],
            &[one(Token::False, Label::Tok)],
            &[one(Token::Null, Label::Tok)],
        ])],
    ),
];

const SIGN: Item = Item::Optional(&[one(Token::Minus, Label::Sign)]);
