//! `plot`: one column over another, from a folder of `run`, `solve --out` or `measure --out`.

mod columns;
mod curves;
mod settings;

use super::figure::{DrawingArguments, DrawnFigure};
use super::output::table_name;
use super::parameter::pair;
use super::run_folder;
use crate::draw::Picture;
use crate::error::{Error, Result};
use crate::lab::provenance::quoted;
use crate::lab::{Provenance, provenance::without_folders};
use crate::operation::{Answer, Operation, Parameters, Rows, Table, any, column};
use crate::parameters;
use columns::{LongTable, select_table, tables};
use curves::{Drawn, axis_label, curves, label, max_values_per_point, panel};
use serde_json::json;
use settings::{Law, LogAxes, PlotSettings};
use std::path::PathBuf;

parameters! {
    /// Parameters of `plot`.
    struct Plot {
        ..drawing: DrawingArguments;
        /// A folder that `run`, `solve --out` or `measure --out` wrote.
        folder: PathBuf, any().positional().form("FOLDER");
        /// Column of the horizontal axis: of the time lines or the results, or an axis of the grid
        /// (n, d, beta, eta).
        x: String, any().or("t").form("COLUMN");
        /// Column of the vertical axis; several, separated by commas, get one panel each.
        y: Vec<String>, any().form("COLUMN").separated();
        /// One curve for each value of this column (n, d, beta, eta, dynamics, init, model, or one
        /// of the table's own).
        by: Option<String>, any().form("COLUMN");
        /// Draw means instead of medians; without --band, bars of one standard error.
        mean: bool;
        /// Two percentiles whose band is filled around the curve, for example 10,90.
        band: Option<String>, any().form("LOW,HIGH");
        /// Draw what the theory says as dotted lines. Without a column: predicted_t for
        /// t_one_cluster, `exact`, `expected` or `stated` of a study.
        theory: Option<String>, any().form("COLUMN").alone("auto");
        /// Fit a law to the points of every curve by least squares: power, y = a x^b; exponential,
        /// y = a e^(b x); or line, y = a + b x. The legend shows b with its standard error.
        fit: Option<Law>, any().form("LAW");
        /// Draw only rows with this value of a column; repeat it for other columns.
        r#where: Vec<String>, any().form("COLUMN=VALUE");
        /// Logarithmic axes: none, x, y or xy. Default: the axes whose positive values span more
        /// than three decades.
        log: Option<LogAxes>, any().form("AXES");
        /// Draw markers instead of lines.
        points: bool;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "plot",
    group: "Analyse",
    summary: "Plot one column against another, from a run, an experiment or a study",
    notes: "Examples:
  metastable plot run --y clusters
  metastable plot runs/leaders-1a2b3c4d5e6f --y leader_share --by beta --band 10,90
  metastable plot runs/regimes-1a2b3c4d5e6f --x beta --y t_one_cluster --by d \\
      --where dynamics=sa --log y
  metastable plot runs/study-merging-times --x beta --y measured,exact --where alpha=0.5 \\
      --by rho --points
  metastable plot runs/regimes-1a2b3c4d5e6f --x beta --y t_one_cluster --mean --theory --fit power
  metastable plot runs/regimes-1a2b3c4d5e6f --x beta --y one_cluster --by n
An unknown column name lists the known ones. --table NAME chooses among several tables. Rows with
the same x are drawn as one point, their median (or mean): realisations, and axes of the grid other
than --x and --by. The share `one_cluster` has its 95 % Clopper-Pearson interval.",
    parameters: Plot::table,
    results: &[
        column("files", "the files of the plot"),
        column("table", "the table"),
        column("rows", "number of rows that are drawn"),
        column("curves", "number of curves"),
        column("left_out", "values that are left out"),
    ],
    tables: &[Table {
        name: "fits",
        what: "one row for each fitted curve",
        rows: Rows::Objects("fits"),
        columns: &[
            column("y", "column of the vertical axis"),
            column("curve", "the curve"),
            column("slope", "the exponent or slope b"),
            column("error", "its standard error"),
            column("intercept", "the constant, or its logarithm"),
        ],
    }],
    run: |given, _| Plot::of(given)?.run(),
    ..Operation::EMPTY
};

/// The theory that is known for the columns.
const AUTO: &str = "auto";

impl Plot {
    /// Draws the plot.
    fn run(self) -> Result<Answer> {
        if self.y.is_empty() {
            return Err(Error::parameter("y", "nothing", "a column"));
        }
        self.drawing.sheet()?;
        self.drawing.check_own()?;
        let band = self.band.as_deref().map(percentiles).transpose()?;
        let only = self.r#where.iter().map(|text| condition(text)).collect::<Result<Vec<_>>>()?;
        let mut names: Vec<(&str, &str)> = vec![("--x", &self.x)];
        names.extend(self.y.iter().map(|y| ("--y", y.as_str())));
        names.extend(self.by.iter().map(|by| ("--by", by.as_str())));
        names.extend(only.iter().map(|(column, _)| ("--where", *column)));
        self.refuse_a_table()?;
        names.extend(self.theory.iter().filter(|t| *t != AUTO).map(|t| ("--theory", t.as_str())));
        let found = run_folder::read(&self.folder, None)?;
        let table = select_table(tables(&found, &self.folder)?, table_name().as_deref(), &names)?;
        let rows = matching_rows(&table, &only)?;
        let settings = PlotSettings {
            x: self.x.clone(),
            by: self.by.clone(),
            mean: self.mean,
            band,
            theory: self.theory.as_ref().map(|t| self.theory_of(t, &table)).transpose()?,
            fit: self.fit,
            log: self.log,
            points: self.points,
        };
        let (mut panels, mut left_out, mut hidden, mut values, mut count) =
            (Vec::new(), 0, 0, 0, 0);
        let mut fits = Vec::new();
        for y in &self.y {
            let (curves, not_finite) = curves(&table, &rows, &settings, y)?;
            let (panel, not_positive) = panel(&curves, &settings, y)?;
            panels.push(panel);
            for (curve, fit) in curves.iter().filter_map(|c| Some((c, c.fit?))) {
                fits.push(json!({
                    "y": y, "curve": label(curve), "slope": fit.slope, "error": fit.error,
                    "intercept": fit.intercept,
                }));
            }
            hidden += not_positive;
            (left_out, values, count) = (
                left_out + not_finite,
                values.max(max_values_per_point(&curves)),
                count + curves.len(),
            );
        }
        let caption = self.caption(&table, &rows, &settings, [left_out, hidden, values]);
        let columns = panels.len().min(2);
        let picture =
            Picture { panels, columns, aspect: if columns > 1 { 0.8 } else { 0.6 }, caption };
        let files = self.drawing.write(&self.draw(picture))?;
        let files: Vec<String> = files.iter().map(|p| p.display().to_string()).collect();
        let text = files.join("\n");
        let values = json!({
            "files": files, "table": table.name, "rows": rows.len(), "curves": count,
            "left_out": left_out + hidden, "fits": fits,
        });
        Ok(Answer::new(values, text))
    }

    /// The column of the theory: the named one, or the one known for the columns --y.
    ///
    /// **Errors** no known column; several columns --y.
    fn theory_of(&self, named: &str, table: &LongTable) -> Result<String> {
        if self.y.len() > 1 {
            let found = format!("{} columns --y", self.y.len());
            return Err(Error::parameter("--theory", found, "one column that it predicts"));
        }
        if named != AUTO {
            return Ok(named.to_owned());
        }
        let known: &[&str] = match self.y.as_slice() {
            [y] if y == "t_one_cluster" => &["predicted_t"],
            [y] if y == "median_t_one_cluster" => &["median_predicted_t"],
            _ => &["exact", "expected", "stated"],
        };
        let found = known.iter().find(|name| table.find(name).is_some());
        found.map(ToString::to_string).ok_or_else(|| {
            let expected = "--theory COLUMN: no column of this table is known to be the theory";
            Error::parameter("--theory", "no column", expected)
        })
    }

    /// **Errors** a table in the place of its folder.
    fn refuse_a_table(&self) -> Result<()> {
        let table = self.folder.file_stem().filter(|_| self.folder.is_file());
        let Some(table) = table else { return Ok(()) };
        let parent = self.folder.parent().filter(|p| !p.as_os_str().is_empty());
        let folder = parent.map_or(".".into(), |p| quoted(&p.display().to_string()));
        let x = if self.x == "t" { String::new() } else { format!(" --x {}", quoted(&self.x)) };
        let y = quoted(&self.y.join(","));
        let table = quoted(&table.to_string_lossy());
        let problem = format!(
            "found a file of a folder, expected the folder: `plot {folder} --table {table}{x} --y {y}`"
        );
        Err(Error::File { path: self.folder.display().to_string(), place: String::new(), problem })
    }

    /// The picture with the command that reproduces it.
    fn draw(&self, picture: Picture) -> DrawnFigure {
        let mut flags = format!(" --x {} --y {}", quoted(&self.x), quoted(&self.y.join(",")));
        let mut add =
            |flag: &str, value: &str| flags.push_str(&format!(" --{flag} {}", quoted(value)));
        self.by.iter().for_each(|v| add("by", v));
        self.band.iter().for_each(|v| add("band", v));
        self.theory.iter().filter(|t| *t != AUTO).for_each(|v| add("theory", v));
        self.fit.iter().for_each(|v| add("fit", v.name()));
        self.r#where.iter().for_each(|v| add("where", v));
        table_name().iter().for_each(|v| add("table", v));
        self.log.iter().for_each(|v| add("log", v.name()));
        // A flag without a value would take the next word for one.
        let bare = self.theory.as_deref() == Some(AUTO);
        for (set, flag) in [(self.mean, "mean"), (self.points, "points"), (bare, "theory")] {
            if set {
                flags.push_str(&format!(" --{flag}"));
            }
        }
        let folder = self.folder.display().to_string();
        let configuration = format!("{flags}{:?}", picture.panels);
        let reproduce = format!(
            "metastable plot {}{flags}{}",
            quoted(&without_folders(&folder)),
            self.drawing.flags()
        );
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
        let rest: Vec<String> = self
            .by
            .iter()
            .map(|by| format!("-by-{by}"))
            .chain(self.r#where.iter().map(|w| format!("-{w}")))
            .collect();
        let name = format!("{}-{}-over-{}{}", self.base(), self.y.join("-"), self.x, rest.concat());
        let name: String = name.replace('_', "-").chars().map(plain).take(120).collect();
        let what = format!("{} over {} of {}", self.y.join(", "), self.x, self.base());
        DrawnFigure { picture, provenance: Provenance::new(what, &configuration, reproduce), name }
    }

    /// The name of the folder.
    fn base(&self) -> String {
        let named = self.folder.file_name().map(|n| n.to_string_lossy().into_owned());
        named.unwrap_or_else(|| without_folders(&self.folder.display().to_string()))
    }

    /// Caption: which columns and rows are drawn, and which values are left out.
    fn caption(
        &self,
        table: &LongTable,
        rows: &[usize],
        settings: &PlotSettings,
        [left_out, hidden, values]: [usize; 3],
    ) -> String {
        let y: Vec<String> = self.y.iter().map(|y| axis_label(y)).collect();
        let mut text = format!("{} over {}", y.join(", "), axis_label(&self.x));
        let shares = self.y.iter().any(|y| Drawn::of(table, settings, y) == Drawn::Shares);
        if values > 1 && !shares {
            let middle = if settings.mean { "Mean" } else { "Median" };
            text = format!(
                "{middle} of {text}, of up to {values} values at each {}",
                axis_label(&self.x)
            );
        }
        match settings.band {
            Some((low, high)) => {
                text.push_str(&format!(", in the band of the percentiles {low} and {high}"));
            }
            None if shares => text.push_str(", with 95 % Clopper-Pearson intervals of shares"),
            None if settings.mean => text.push_str(", with bars of one standard error"),
            None => {}
        }
        if let Some(theory) = &settings.theory {
            text.push_str(&format!("; dotted: {}", axis_label(theory)));
        }
        if let Some(law) = settings.fit {
            let (law, points, scale) = match law {
                Law::Power => ("a x^b", "points with positive x and y", " in logarithms"),
                Law::Exponential => ("a e^(b x)", "points with positive y", " in logarithms"),
                Law::Line => ("a + b x", "points", ""),
            };
            text.push_str(&format!(
                "; dashed: the least-squares fit of {law} to the {points} of each curve, all with \
                 the same weight{scale}, b with its standard error from the scatter"
            ));
        }
        if let Some(by) = &settings.by {
            text.push_str(&format!("; one curve for each {}", axis_label(by)));
        }
        let axes = table.columns[..table.axes]
            .iter()
            .filter(|(name, _)| *name != self.x && settings.by.as_ref() != Some(name));
        let several = axes
            .map(|(name, column)| (name, column.groups(rows).len()))
            .filter(|(_, count)| *count > 1);
        let pooled: Vec<String> =
            several.map(|(name, count)| format!("{count} values of {name}")).collect();
        if !pooled.is_empty() {
            text.push_str(&format!("; values of {} are pooled", pooled.join(", ")));
        }
        if !self.r#where.is_empty() {
            text.push_str(&format!(
                "; only rows with {}",
                without_folders(&self.r#where.join(", "))
            ));
        }
        if left_out > 0 {
            text.push_str(&format!("; {left_out} NaN or infinite values are left out"));
        }
        if hidden > 0 {
            text.push_str(&format!(
                "; {hidden} points at 0 or below are left out of logarithmic axes"
            ));
        }
        let first = text.chars().next().map_or(0, char::len_utf8);
        let (first, rest) = text.split_at(first);
        format!("{}{rest}. From {} of {}.", first.to_uppercase(), table.name, self.base())
    }
}

/// Parses `LOW,HIGH`.
fn percentiles(text: &str) -> Result<(f64, f64)> {
    let both = text
        .split_once(',')
        .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    let ordered =
        both.filter(|(low, high): &(f64, f64)| *low >= 0.0 && low < high && *high <= 100.0);
    ordered.ok_or_else(|| {
        Error::parameter(
            "--band",
            text,
            "LOW,HIGH: two percentiles from 0 to 100 in ascending order, for example 10,90",
        )
    })
}

/// Parses a column and the value that its rows must have.
fn condition(text: &str) -> Result<(&str, &str)> {
    pair(text, "COLUMN=VALUE").map_err(|_| Error::parameter("--where", text, "COLUMN=VALUE"))
}

/// The rows that meet all conditions. **Errors** a condition that no row meets; the error lists the
/// values of the column.
fn matching_rows(table: &LongTable, only: &[(&str, &str)]) -> Result<Vec<usize>> {
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    for (name, value) in only {
        let Some(column) = table.find(name) else { continue };
        let matching: std::collections::BTreeSet<usize> =
            column.rows_of(value).into_iter().collect();
        let (left, before): (Vec<usize>, _) =
            (rows.iter().copied().filter(|r| matching.contains(r)).collect(), rows);
        if left.is_empty() {
            let groups = column.groups(&before);
            let few: Vec<&str> = groups.iter().take(12).map(|g| g.0.as_str()).collect();
            let more = if groups.len() > few.len() {
                format!(" and {} more", groups.len() - few.len())
            } else {
                String::new()
            };
            return Err(Error::parameter(
                "--where",
                format!("{name}={value}"),
                format!("one of the values {}{more}", few.join(", ")),
            ));
        }
        rows = left;
    }
    Ok(rows)
}
