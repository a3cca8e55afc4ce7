// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Text arguments for C.

use core::ptr;

/// A NUL-terminated text that is valid for ever, for C; made by [`name!`](crate::name!).
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Name(*const u8);

// SAFETY: the text is constant.
unsafe impl Send for Name {}
unsafe impl Sync for Name {}

impl Name {
    /// A name without text (NULL in C).
    pub const NONE: Name = Name(ptr::null());

    /// Returns the text as a [`Name`]. It must end with a zero byte.
    ///
    /// # Panics
    /// If the text does not end with a zero byte; in a constant, this is a compile-time error.
    pub const fn new(text: &'static str) -> Name {
        assert!(
            !text.is_empty() && text.as_bytes()[text.len() - 1] == 0,
            "a text for C ends with a zero byte"
        );
        Name(text.as_ptr())
    }
}

/// Makes a constant [`Name`]: `name!("run queue")`.
#[macro_export]
macro_rules! name {
    ($text:literal) => {{
        const NAME: $crate::Name = $crate::Name::new(concat!($text, "\0"));
        NAME
    }};
}
