//! Names of files as texts. A name may have bytes that are no text; they become characters of a
//! private range, and bytes again when the path is made.

use std::ffi::OsStr;
use std::path::PathBuf;

/// The character that stands for byte 0.
const FIRST: u32 = 0x10_FF00;

/// A word as text, from which [`decoded`] makes the same path.
pub fn encoded(word: &OsStr) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let stand_in = |byte: &u8| char::from_u32(FIRST + u32::from(*byte)).unwrap_or('?');
        let mut out = String::new();
        for chunk in word.as_bytes().utf8_chunks() {
            out.push_str(chunk.valid());
            out.extend(chunk.invalid().iter().map(stand_in));
        }
        out
    }
    #[cfg(not(unix))]
    {
        word.to_string_lossy().into_owned()
    }
}

/// The path of an encoded word.
///
/// ```
/// use metastable::operation::path::{decoded, encoded};
/// let name = std::ffi::OsStr::new("plain.csv");
/// assert_eq!(decoded(&encoded(name)), std::path::Path::new("plain.csv"));
/// ```
pub fn decoded(text: &str) -> PathBuf {
    #[cfg(unix)]
    if text.chars().any(|c| u32::from(c) >= FIRST) {
        use std::os::unix::ffi::OsStringExt;
        let bytes = |c: char| match u32::from(c).checked_sub(FIRST).map(u8::try_from) {
            Some(Ok(byte)) => vec![byte],
            _ => c.to_string().into_bytes(),
        };
        return std::ffi::OsString::from_vec(text.chars().flat_map(bytes).collect()).into();
    }
    text.into()
}
