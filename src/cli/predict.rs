//! `predict`: closed forms and reduced equations. The registry [`prediction`] describes them.

use super::digits::{error_bound, rounded_to};
use super::input;
use super::output::{FEW, Output};
use super::parameter::numbers;
use crate::error::{Result, format_number};
use crate::prediction::{self, Accuracy, Kind, Parameter, Prediction};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::Value;

/// A prediction with the values of its parameters.
pub struct Arguments {
    prediction: &'static Prediction,
    values: Vec<(&'static str, String)>,
}

impl clap::FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, own) = matches.subcommand().ok_or_else(missing)?;
        let prediction = prediction::all().find(|p| p.name == name).ok_or_else(missing)?;
        let text = |p: &Parameter| {
            let words: Vec<_> =
                own.get_raw(p.name)?.map(|t| t.to_string_lossy().into_owned()).collect();
            (p.kind != Kind::Switch || own.get_flag(p.name)).then(|| (p.name, words.join(",")))
        };
        Ok(Self { prediction, values: prediction.parameters.iter().filter_map(text).collect() })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Arguments {
    fn augment_args(command: Command) -> Command {
        let one = |p: &'static Prediction| {
            let details = format!("{}.\n\nSource: {}.", p.summary, p.source);
            Command::new(p.name)
                .about(p.summary)
                .long_about(details)
                .args(p.parameters.iter().map(|parameter| flag(parameter, p.parameters)))
        };
        command
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(prediction::all().map(one))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The flag of a parameter beside others.
fn flag(p: &'static Parameter, others: &'static [Parameter]) -> Arg {
    let replacing = others.iter().filter(|o| o.replaces.contains(&p.name)).map(|o| o.name);
    let replacing: Vec<&str> = replacing.collect();
    let is_known = |name: &&&str| others.iter().any(|o| o.name == **name);
    let excluded: Vec<&str> = p.excludes.iter().filter(is_known).copied().collect();
    let arg = Arg::new(p.name).long(p.name).help(p.help()).conflicts_with_all(excluded);
    let arg = match p.required {
        true if replacing.is_empty() => arg.required(true),
        true => arg.required_unless_present_any(replacing),
        false => arg,
    };
    let arg = match p.kind {
        Kind::Integer => arg.value_name("NUMBER").value_parser(value_parser!(i64)),
        Kind::Real => arg.value_name("NUMBER").value_parser(value_parser!(f64)),
        Kind::List => arg.value_name("NUMBERS"),
        Kind::Word => arg.value_name("NAME"),
        Kind::Switch => return arg.action(ArgAction::SetTrue),
    };
    arg.allow_hyphen_values(true).default_value(p.default)
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

impl Arguments {
    /// Evaluates the prediction and prints its results.
    pub fn run(self, out: &Output) -> Result<i32> {
        let mut values = self.values;
        for (name, text) in &mut values {
            let parameter = self.prediction.parameters.iter().find(|p| p.name == *name);
            if parameter.is_some_and(|p| p.kind == Kind::List) {
                let all = numbers(&format!("--{name}"), text)?;
                *text = all.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            }
        }
        let given: Vec<(&str, &str)> = values.iter().map(|(n, text)| (*n, text.as_str())).collect();
        let answer = self.prediction.evaluate(&given)?;
        let of = |name: &str| given.iter().find(|(n, _)| *n == name).map(|(_, text)| *text);
        if let (Some(text), Some(beta)) = (of("interaction"), of("beta")) {
            input::interaction(text, beta.parse().ok())?;
        }
        let line = |(key, value): (&String, &Value)| {
            let result = self.prediction.results.iter().find(|r| r.key == *key);
            let meaning = result.map_or(String::new(), |r| format!("    {}\n", r.meaning));
            let accuracy = result.map(|r| r.accuracy);
            let errors = match accuracy {
                Some(Accuracy::Key(name)) => &answer[name],
                _ => &Value::Null,
            };
            format!("{}: {}\n{meaning}", key.replace('_', " "), plain(value, accuracy, errors))
        };
        let text: String = answer
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, v)| !v.is_null())
            .map(line)
            .collect();
        out.table(&answer, &self.prediction.columns(), text.trim_end());
        Ok(0)
    }
}
