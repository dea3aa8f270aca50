//! The solver for a page in the browser: one engine, asked in JSON, its numbers read from memory.
//!
//! Compiled to WebAssembly by `.ci/page`, with no binding tool: the page writes a request into [`room`], calls [`ask`] and reads the reply from [`reply`] and
//! the numbers from [`numbers`]. There is one thread, so the engine is a thread-local; nothing here is unsafe but that these names are exported.

mod engine;
mod forecast;
mod settings;

use engine::Engine;
use std::cell::RefCell;

/// What the page and the engine share.
#[derive(Default)]
struct Desk {
    request: Vec<u8>,
    reply: Vec<u8>,
    numbers: Vec<f64>,
    engine: Engine,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Where to write a request of so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    DESK.with_borrow_mut(|desk| {
        desk.request.resize(bytes, 0);
        desk.request.as_mut_ptr()
    })
}

/// Answers the request; the length of the reply. An error is a reply `{"error": "a sentence"}`.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    DESK.with_borrow_mut(|desk| {
        let Desk { request, reply, numbers, engine } = desk;
        numbers.clear();
        let answer = engine.answer(request, numbers).unwrap_or_else(|e| serde_json::json!({"error": e.to_string()}));
        *reply = answer.to_string().into_bytes();
        reply.len()
    })
}

/// Where the reply lies.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> *const u8 {
    DESK.with_borrow(|desk| desk.reply.as_ptr())
}

/// Where the numbers of the reply lie.
#[unsafe(no_mangle)]
pub extern "C" fn numbers() -> *const f64 {
    DESK.with_borrow(|desk| desk.numbers.as_ptr())
}

/// How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn count() -> usize {
    DESK.with_borrow(|desk| desk.numbers.len())
}
