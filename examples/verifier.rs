//! The verifier as a program: checks certificates; exit code 1 if one is refused.

fn main() {
    let check = |file: String| {
        (
            std::fs::read_to_string(&file)
                .map_err(|e| e.to_string())
                .and_then(|text| metastable_verifier::check(&text)),
            file,
        )
    };
    let all: Vec<_> = std::env::args().skip(1).map(check).collect();
    let lines: Vec<String> =
        all.iter().map(|(found, file)| format!("{file}: {found:?}\n")).collect();
    let _ = std::io::Write::write_all(&mut std::io::stdout(), lines.concat().as_bytes());
    std::process::exit(all.iter().any(|a| a.0.is_err()).into());
}
