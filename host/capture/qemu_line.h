/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* QEMU's command line: its words, its options, and what they mean. */
#ifndef CAPTURE_QEMU_LINE_H
#define CAPTURE_QEMU_LINE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Grammar of a QEMU command line: which words are options, which of them take a value, property lists like
 * "size=1G,slots=2" (a comma inside a value is doubled) and sizes. Knows nothing of what options mean.
 */

struct capture_qemu_option {
	const char *name;  /* without dashes; "" for a word that is no option (a disk image) */
	const char *value; /* the next word; NULL for options that take none, or at the end of the line */
	size_t index;	   /* of the option's own word */
};

/* Takes the option at words[*at] and sets *at to the word after it. False at the NULL that ends the line. */
bool capture_qemu_option_next(char *const *words, size_t *at, struct capture_qemu_option *option);
bool capture_qemu_option_is(const struct capture_qemu_option *option, const char *name);

/*
 * Copies the value of `key` in `list` without doubled commas, cut to `size`. `implied` is the key that a
 * first item without '=' belongs to, or NULL. The last of several wins, as in QEMU. False if there is none.
 */
bool capture_qemu_property(const char *list, const char *implied, const char *key, char *value, size_t size);

/* "128", "1.5G", "0x100000k": bytes; a bare number counts in `unit` bytes. 0 or CAPTURE_E_USAGE. */
int capture_qemu_size(const char *text, uint64_t unit, uint64_t *bytes);

/* A growing list of words that ends in NULL, as execv() wants it. Running out of memory is remembered, not
 * returned. */

struct capture_words {
	char **word; /* owned, as are the words; NULL while empty */
	size_t count;
	uint32_t room;
	bool failed; /* a word could not be stored: the list must not be used */
};

void capture_words_add(struct capture_words *words, const char *word);
__attribute__((format(printf, 2, 3))) void capture_words_format(struct capture_words *words,
								const char *format, ...);
void capture_words_free(struct capture_words *words);

/*
 * What a QEMU command line says, as far as ktrace has to know: how much RAM of which machine, what is there
 * already and must not be added twice, and what cannot be traced.
 */

#define CAPTURE_QEMU_PREFIX "qemu-system-"

struct capture_qemu_line {
	char architecture[32]; /* of the program's name: x86_64, i386, aarch64 … */
	char machine[64];      /* board; "" if the line names none */
	uint64_t ram_bytes;
	bool asks_only;	     /* -version, -device help: ends by itself, there is no guest */
	bool stays_on_reset; /* no -no-reboot and no -action reboot=shutdown */
	bool own_shutdown;   /* it says itself what becomes of QEMU when the guest shuts down */
	bool paused;	     /* -S: whoever gave it starts the guest */
	bool incoming;	     /* -incoming: the migration starts the guest */
	bool gdb;	     /* -s or -gdb: someone may look at a dead guest */
	bool uses_terminal;  /* serial line or monitor on stdin and stdout */
	bool leaves_itself;  /* a device or call of the guest ends QEMU without an event */
	bool semihosting;
	bool kernel;	      /* -kernel */
	char accelerator[32]; /* the first that the line names; "" if none */
	bool own_clock;	      /* -icount: guest counters do not follow wall time */
	size_t append_at;     /* index of the value of -append, 0 if there is none */

	char kernel_path[PATH_MAX]; /* of -kernel, as given; "" without, or if it is too long */

	/* RAM that the line shares already; both "" if it leaves RAM to QEMU. */
	char backend[64];
	char backend_path[PATH_MAX];
};

/* "qemu-system-x86_64" of a path to such a program, else NULL. */
const char *capture_qemu_program(const char *path);

/* x64, arm64 … to the names that QEMU has; others unchanged. */
const char *capture_qemu_architecture(const char *name);

bool capture_qemu_is_x86(const char *architecture);

/* 0, or CAPTURE_E_USAGE if the line has what ktrace cannot work with. words[0] is the program. */
int capture_qemu_line_read(struct capture_qemu_line *line, char *const *words);

#endif
