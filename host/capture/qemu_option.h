/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Grammar of a QEMU command line: which words are options, which of them take a value, property lists like
 * "size=1G,slots=2" (a comma inside a value is doubled) and sizes. Knows nothing of what options mean.
 */
#ifndef CAPTURE_QEMU_OPTION_H
#define CAPTURE_QEMU_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_qemu_option {
	const char *name;  /* without dashes; "" for a word that is no option (a disk image) */
	const char *value; /* the next word; NULL for options that take none, or at the end of the line */
	size_t index;	   /* of the option's own word */
};

/* Takes the option at words[*at] and moves *at behind it. False at the NULL that ends the line. */
bool capture_qemu_option_next(char *const *words, size_t *at, struct capture_qemu_option *option);
bool capture_qemu_option_is(const struct capture_qemu_option *option, const char *name);

/*
 * Copies the value of `key` in `list` without doubled commas, cut to `size`. `implied` is the key that a
 * first item without '=' belongs to, or NULL. The last of several wins, as in QEMU. False if there is none.
 */
bool capture_qemu_property(const char *list, const char *implied, const char *key, char *value, size_t size);

/* "128", "1.5G", "0x100000k": bytes; a bare number counts in `unit` bytes. 0 or CAPTURE_E_USAGE. */
int capture_qemu_size(const char *text, uint64_t unit, uint64_t *bytes);

#endif
