// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Texts as C takes them.

use core::ptr;

/// A text that lasts for ever and ends with a zero byte, as C takes it; made by [`name!`](crate::name!).
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Name(*const u8);

// SAFETY: the text is constant.
unsafe impl Send for Name {}
unsafe impl Sync for Name {}

impl Name {
    /// No text.
    pub const NONE: Name = Name(ptr::null());

    /// The text must end with a zero byte.
    ///
    /// # Panics
    /// If it does not; in a constant, that is an error of the compiler.
    pub const fn new(text: &'static str) -> Name {
        assert!(
            !text.is_empty() && text.as_bytes()[text.len() - 1] == 0,
            "a text for C ends with a zero byte"
        );
        Name(text.as_ptr())
    }
}

/// A constant [`Name`]: `name!("run queue")`.
#[macro_export]
macro_rules! name {
    ($text:literal) => {{
        const NAME: $crate::Name = $crate::Name::new(concat!($text, "\0"));
        NAME
    }};
}
