//! What an unquoted YAML scalar means to Kubernetes: YAML 1.1 as Go's `sigs.k8s.io/yaml` reads it, in one table.
//!
//! `0400` is 256 there, `yes` is true and `1_000` is 1000, whatever YAML 1.2 says. The same table decides which strings the
//! writer must quote. Checked against Go's own answers in `testdata/yaml11.tsv`.

use serde_json::{Number, Value};

/// Why a scalar has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAValue(pub String);

/// The value of a plain (unquoted, untagged) scalar.
///
/// # Errors
/// Infinity and NaN, which JSON and so Kubernetes cannot hold.
pub fn resolve(text: &str) -> Result<Value, NotAValue> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Ok(Value::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(NotAValue(format!("`{text}` is not a number that Kubernetes can hold")));
    }
    Ok(number(text).unwrap_or_else(|| Value::String(text.to_owned())))
}

/// The value of a scalar with an explicit tag, by the suffix of the tag if it is one of YAML's own. To Go, a tag that it does
/// not know makes a string.
///
/// # Errors
/// Infinity, NaN, text that is not of the tag's type, and `!!binary` text that is not base64.
pub fn resolve_tagged(suffix: &str, text: &str) -> Result<Value, NotAValue> {
    match suffix {
        "binary" => base64(text).map(Value::String).ok_or_else(|| NotAValue("`!!binary` value is not base64 of text".to_owned())),
        "int" | "float" | "bool" | "null" => {
            let value = resolve(text)?;
            let fits = match suffix {
                "int" => value.is_i64() || value.is_u64(),
                "float" => value.is_number(),
                "bool" => value.is_boolean(),
                _ => value.is_null(),
            };
            if fits { Ok(value) } else { Err(NotAValue(format!("`{text}` is not what its tag `!!{suffix}` says"))) }
        }
        _ => Ok(Value::String(text.to_owned())),
    }
}

/// Whether a string may be written without quotes: it must read as the same string under YAML 1.1 and 1.2, in Go, Python
/// and Rust alike. Narrower than any of them, so that nobody has to know the corner cases.
#[must_use]
pub fn is_safe_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if first.is_ascii_digit() {
        return is_quantity(text);
    }
    if !(first.is_ascii_alphabetic() || matches!(first, b'/' | b'_' | b'$' | b'(')) || matches!(last, b' ' | b':') {
        return false;
    }
    let allowed = |b: &u8| {
        b.is_ascii_alphanumeric() || matches!(b, b' ' | b'.' | b'_' | b'/' | b'-' | b':' | b'+' | b'$' | b'(' | b')' | b'=' | b';')
    };
    bytes.iter().all(allowed) && !bytes.windows(2).any(|pair| pair == b": ") && !is_word_with_a_meaning(text)
}

/// `500m`, `1Gi`: what resources are full of. A number with a suffix that no YAML reader takes for an exponent or a base.
fn is_quantity(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    matches!(text.get(digits..), Some("m" | "k" | "M" | "G" | "T" | "P" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei"))
}

fn is_word_with_a_meaning(text: &str) -> bool {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Go: `strconv.ParseInt(text without underscores, 0, 64)`, then `ParseUint`, then a float in YAML's style.
fn number(text: &str) -> Option<Value> {
    if !text.starts_with(['+', '-', '.']) && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if text.starts_with('.') {
        // Handed to Go's own reader of floats, which lets an underscore stand between two digits only.
        let bytes = text.as_bytes();
        let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        let between = |at: usize| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1));
        let allowed = bytes.iter().enumerate().all(|(at, byte)| *byte != b'_' || between(at));
        return allowed.then(|| text.replace('_', "")).and_then(|text| float(&text));
    }
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    integer(&digits).or_else(|| float(&digits))
}

fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, lower.get(1..).unwrap_or_default())
    } else {
        (10, lower.as_str())
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative { 0i64.checked_sub_unsigned(magnitude).map(Value::from) } else { Some(Value::from(magnitude)) }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at)?, Some(unsigned.get(at.saturating_add(1)..)?)),
        None => (unsigned, None),
    };
    let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let well_formed = match fraction {
        Some(fraction) if whole.is_empty() => all_digits(fraction),
        Some(fraction) => all_digits(whole) && (fraction.is_empty() || all_digits(fraction)),
        None => all_digits(whole),
    };
    let exponent_ok = exponent.is_none_or(|e| all_digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    if !well_formed || !exponent_ok {
        return None;
    }
    let value: f64 = text.strip_prefix('+').unwrap_or(text).parse().ok()?;
    // JSON has one kind of number: 1e3 and 1000 are the same to the API server.
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        #[allow(clippy::cast_possible_truncation)]
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut buffer, mut bits) = (0u32, 0u32);
    for byte in text.bytes().filter(|b| !matches!(b, b'\r' | b'\n' | b'=')) {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        buffer = (buffer << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((buffer >> bits) & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_as_go_reads_them() {
        for (text, value) in [
            ("0400", json!(256)),
            ("0o14", json!(12)),
            ("0b11", json!(3)),
            ("0x1F", json!(31)),
            ("1_000", json!(1000)),
            ("0899", json!(899)),
            ("-0", json!(0)),
            ("1e3", json!(1000)),
            (".5", json!(0.5)),
            ("1.10", json!(1.1)),
            ("0.", json!(0)),
            ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("12:30", json!("12:30")),
            ("1.2.3", json!("1.2.3")),
            ("_1", json!("_1")),
            ("+", json!("+")),
            ("-", json!("-")),
        ] {
            assert_eq!(resolve(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn strings_that_look_typed_are_not_plain() {
        for text in [
            "yes",
            "N",
            "on",
            "null",
            "~",
            "",
            "0777",
            "12:30",
            "1e3",
            ".5",
            "-1",
            "+1",
            "1_000",
            "0x1F",
            "2001-01-01",
            "<<",
            "=",
            "a: b",
            "a #b",
            "a:",
            " a",
            "a ",
            "*a",
            "&a",
            "!a",
            "@a",
            "`a",
            "NaN",
        ] {
            assert!(!is_safe_plain(text), "{text}");
        }
        for text in
            ["valkey-cache", "500m", "1Gi", "/bin/sh", "a.example.org", "$(POD_IP)", "IfNotPresent", "topology.kubernetes.io/zone", "a b"]
        {
            assert!(is_safe_plain(text), "{text}");
        }
    }
}
