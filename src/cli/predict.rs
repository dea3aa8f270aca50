//! `predict`: closed forms and reduced equations. The registry [`prediction`] describes them.

use super::digits::{error_bound, rounded_to};
use super::input;
use super::output::FEW;
use super::sections;
use crate::error::{Result, format_number};
use crate::operation::{Answer, Column, Given, Operation, Rows, Table, column};
use crate::prediction::{self, Accuracy, Prediction};
use serde_json::Value;
use std::sync::LazyLock;

/// All predictions as operations.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| {
        macro_rules! list {
            ($($k:literal)*) => { vec![$(operation::<$k>()),*] };
        }
        let mut all = list!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25);
        all.truncate(prediction::all().count());
        all
    });
    ALL.iter()
}

/// The prediction with this number.
fn numbered(k: usize) -> Option<&'static Prediction> {
    prediction::all().nth(k)
}

/// The operation of a prediction. Functions cannot hold its number, but types can.
fn operation<const K: usize>() -> Operation {
    let Some(p) = numbered(K) else { return Operation::EMPTY };
    let columns: Vec<Column> = p.columns().into_iter().map(|key| described(p, key)).collect();
    let values = p.results.iter().filter(|r| !r.column);
    let values: Vec<Column> = values.map(|r| column(r.key, r.meaning)).collect();
    let source = format!("Source: {}.", p.source);
    // Made once, for the whole run of the program.
    let table = Table { name: "rows", what: "rows", rows: Rows::Lists, columns: columns.leak() };
    Operation {
        family: "predict",
        name: p.name,
        group: "Theorems",
        summary: p.summary,
        notes: sections::wrapped(&source, sections::WIDTH).join("\n").leak(),
        parameters: || numbered(K).map_or_else(Vec::new, |p| p.parameters.to_vec()),
        results: values.leak(),
        tables: if table.columns.is_empty() { &[] } else { vec![table].leak() },
        run: |given, _| numbered(K).map_or_else(|| Ok(Answer::default()), |p| run(p, given)),
        ..Operation::EMPTY
    }
}

/// A column of a prediction.
fn described(p: &Prediction, key: &'static str) -> Column {
    let result = p.results.iter().find(|r| r.key == key).map(|r| r.meaning);
    let parameter = || p.parameters.iter().find(|p| p.name == key).map_or("", |p| p.what);
    column(key, result.unwrap_or_else(parameter))
}

/// A value for people: the resolved digits of numbers, the first entries of a long list, text
/// without quotes. `errors` are the bounds of the errors if the answer has them.
fn plain(value: &Value, accuracy: Option<Accuracy>, errors: &Value) -> String {
    match value {
        Value::Array(all) => {
            let one = |(k, v)| plain(v, accuracy, errors.get(k).unwrap_or(errors));
            let few: Vec<String> = all.iter().take(FEW).enumerate().map(one).collect();
            let rest = if all.len() > FEW {
                format!(", ... {} numbers (--format json)", all.len())
            } else {
                String::new()
            };
            format!("{}{rest}", few.join(", "))
        }
        Value::String(text) => text.clone(),
        Value::Number(v) => {
            v.as_f64().map_or_else(|| v.to_string(), |v| number(v, accuracy, errors.as_f64()))
        }
        other => other.to_string(),
    }
}

/// The resolved digits of a number; all digits of a parameter, which has no accuracy.
fn number(v: f64, accuracy: Option<Accuracy>, error: Option<f64>) -> String {
    match accuracy {
        None => format_number(v),
        Some(Accuracy::ErrorBound) => error_bound(v),
        Some(Accuracy::Absolute(size)) => rounded_to(v, size),
        Some(Accuracy::Relative(share)) => rounded_to(v, share * v.abs()),
        Some(Accuracy::Key(_)) => match error {
            Some(error) => rounded_to(v, error),
            None => number(v, Some(Accuracy::CLOSED_FORM), None),
        },
    }
}

/// Evaluates a prediction.
fn run(p: &Prediction, given: &Given) -> Result<Answer> {
    let answer = p.answer(given)?;
    let of = |name: &str| given.texts(name).first();
    if let (Some(text), Some(beta)) = (of("interaction"), of("beta")) {
        input::interaction(text, beta.parse().ok())?;
    }
    let line = |(key, value): (&String, &Value)| {
        let result = p.results.iter().find(|r| r.key == *key);
        let meaning = result.map_or(String::new(), |r| format!("    {}\n", r.meaning));
        let accuracy = result.map(|r| r.accuracy);
        let errors = match accuracy {
            Some(Accuracy::Key(name)) => &answer[name],
            _ => &Value::Null,
        };
        format!("{}: {}\n{meaning}", key.replace('_', " "), plain(value, accuracy, errors))
    };
    let entries = answer.as_object().into_iter().flatten();
    let text: String = entries.filter(|(_, v)| !v.is_null()).map(line).collect();
    Ok(Answer::new(answer, text.trim_end()))
}
