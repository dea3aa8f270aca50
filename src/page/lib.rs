//! The solver for a page in the browser: one engine that answers requests in JSON.
//!
//! `.ci/page` compiles it to WebAssembly without a binding tool. The page writes a request into
//! [`request_buffer`], calls [`answer_request`], and reads the reply from [`reply`] and its numbers
//! from [`numbers`]. WebAssembly has one thread here, so the engine is a thread-local. The only
//! unsafe part is the export of these names.

mod engine;
mod forecast;
mod pair_weights;
mod settings;

use engine::Engine;
use std::cell::RefCell;

/// Memory that the page and the engine share.
#[derive(Default)]
struct Session {
    request: Vec<u8>,
    reply: Vec<u8>,
    numbers: Vec<f64>,
    engine: Engine,
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Address at which the page writes a request of `bytes` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn request_buffer(bytes: usize) -> *mut u8 {
    SESSION.with_borrow_mut(|session| {
        session.request.resize(bytes, 0);
        session.request.as_mut_ptr()
    })
}

/// Answers the request and returns the length of the reply. An error gives the reply
/// `{"error": "a sentence"}`.
#[unsafe(no_mangle)]
pub extern "C" fn answer_request() -> usize {
    SESSION.with_borrow_mut(|session| {
        let Session { request, reply, numbers, engine } = session;
        numbers.clear();
        let answer = engine
            .answer(request, numbers)
            .unwrap_or_else(|e| serde_json::json!({"error": e.to_string()}));
        *reply = answer.to_string().into_bytes();
        reply.len()
    })
}

/// Address of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> *const u8 {
    SESSION.with_borrow(|session| session.reply.as_ptr())
}

/// Address of the numbers of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn numbers() -> *const f64 {
    SESSION.with_borrow(|session| session.numbers.as_ptr())
}

/// How many numbers the reply has.
#[unsafe(no_mangle)]
pub extern "C" fn numbers_len() -> usize {
    SESSION.with_borrow(|session| session.numbers.len())
}
