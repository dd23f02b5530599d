//! Items as raw tokens.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// The whole attribute that is being expanded, seen from where its item was written: a bare call site would make rustc add that the
/// error comes from a macro.
pub(crate) fn attribute_span(item: &TokenStream) -> Span {
    let written = item
        .clone()
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span());
    Span::call_site().resolved_at(written)
}

/// Adds `declaration` at the end of an `impl` block, behind inner attributes and whatever else its body holds.
pub(crate) fn append(item: &TokenStream, declaration: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.pop_if(|last| is_body(last)) {
        let mut inside = body.stream();
        inside.extend(declaration);
        tokens.push(with_content(&body, inside));
    }
    tokens.into_iter().collect()
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn with_content(group: &Group, content: TokenStream) -> TokenTree {
    let mut replaced = Group::new(group.delimiter(), content);
    replaced.set_span(group.span());
    replaced.into()
}

/// Puts something else where `Self` stands.
pub(crate) fn replace_self(
    tokens: TokenStream,
    replacement: &dyn Fn(&Ident) -> TokenStream,
) -> TokenStream {
    let replaced = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => replacement(&ident),
        TokenTree::Group(group) => {
            with_content(&group, replace_self(group.stream(), replacement)).into()
        }
        other => other.into(),
    };
    tokens.into_iter().map(replaced).collect()
}

/// The first of `names` in `tokens`. What follows a `::` or a `.` is somebody else's.
pub(crate) fn mention(tokens: TokenStream, names: &[&Ident]) -> Option<Ident> {
    let (mut colons, mut dots) = (0, 0);
    for token in tokens {
        match token {
            TokenTree::Punct(sign) => {
                colons = if sign.as_char() == ':' { colons + 1 } else { 0 };
                dots = if sign.as_char() == '.' { dots + 1 } else { 0 };
                continue;
            }
            TokenTree::Ident(ident) => {
                let is_member = colons > 1 || dots == 1;
                if !is_member && names.contains(&&ident) {
                    return Some(ident);
                }
            }
            TokenTree::Group(group) => {
                if let Some(found) = mention(group.stream(), names) {
                    return Some(found);
                }
            }
            TokenTree::Literal(_) => {}
        }
        (colons, dots) = (0, 0);
    }
    None
}

/// A type as a person would write it: `Mailer<S, 4>`, where tokens print as `Mailer < S , 4 >`.
pub(crate) fn written(tokens: TokenStream) -> String {
    let mut text = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                if text.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
                    text.push(' ');
                }
                text.push_str(&token.to_string());
            }
            TokenTree::Punct(sign) => match sign.as_char() {
                ',' | ';' => text.extend([sign.as_char(), ' ']),
                '+' | '=' => text.extend([' ', sign.as_char(), ' ']),
                other => text.push(other),
            },
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                text.push_str(&written(group.stream()));
                text.push_str(close);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R4: the registry shows handlers as their authors wrote them.
    #[test]
    fn types_are_written_as_by_a_person() {
        for source in [
            "Mailer",
            "Mailer<S, 4>",
            "jobs::Send<'a, dyn Sink + Send>",
            "[u8; 3]",
            "(A, B)",
        ] {
            let tokens = source.parse().expect("a type");
            assert_eq!(written(tokens), source);
        }
    }

    /// R16: a name is found where it means what it says, not as a part of another's.
    #[test]
    fn members_of_others_are_no_mention() {
        let name = Ident::new("N", Span::call_site());
        let is_mentioned = |source: &str| {
            let tokens = source.parse().expect("tokens");
            mention(tokens, &[&name]).is_some()
        };
        for own in [
            "N",
            "2 * N",
            "f(N)",
            "A { n: N }",
            "0..N",
            "N::MAX",
            "<N>::A",
        ] {
            assert!(is_mentioned(own), "{own}");
        }
        for another in ["M", "limits::N", "::N", "limits.N", "f(a::N)", "\"N\""] {
            assert!(!is_mentioned(another), "{another}");
        }
    }
}
