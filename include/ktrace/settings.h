/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Settings: variables of the kernel, or single bits of them, that are read and set by name. The kernel's
 * shell, its command line, its panic prompt and the host can read and set them.
 *
 *	static uint32_t verbose;
 *	KTRACE_SETTING_RANGE("debug.ktr.verbose", verbose, 0, 2);
 *
 * The macro defines a setting descriptor in the linker section `ktrace_settings`. Use it at file scope, in
 * the file that defines the variable. For each group of events the library adds these settings:
 *   debug.ktr.<group>_enable         a bit for each event of the group that is on, in hexadecimal; -1
 *                                    sets all bits. An event declared with ktr.h has the bit of its
 *                                    declaration. The other events get the free bits, ordered by file
 *                                    and line.
 *   debug.ktr.<group>.<event>_mask   the bits of one event in that mask, one for each of its declarations,
 *                                    read only
 *
 * Any context, no lock. Requires: two calls that change the same thing do not run at the same time. Each
 * change of a setting updates the states of all events. So a variable that affects these states needs a
 * descriptor, but no code that reacts to its change.
 */
#ifndef KTRACE_SETTINGS_H
#define KTRACE_SETTINGS_H

#include "ktrace/control.h"
#include "ktrace/macros.h"

KTRACE_BEGIN_C

/* Defines a setting for `word`, a uint32_t or a uint64_t. `flags`: 0 or KTRX_SETTING_READ_ONLY. */
#define KTRACE_SETTING_U32(name, word, flags) \
	KTRACE_SETTING_DESCRIPTOR(name, KTRX_SETTING_U32, word, 4, 0, flags, KTRX_U32_MAX)
#define KTRACE_SETTING_U64(name, word, flags) \
	KTRACE_SETTING_DESCRIPTOR(name, KTRX_SETTING_U64, word, 8, 0, flags, KTRX_U64_MAX)

/* Defines a setting for a uint32_t that accepts 0 to `most`. */
#define KTRACE_SETTING_RANGE(name, word, flags, most) \
	KTRACE_SETTING_DESCRIPTOR(name, KTRX_SETTING_U32, word, 4, 0, flags, most)

/*
 * Defines a setting for one bit of a word; it accepts 0 and 1. Setting it stores the whole word. So if two
 * CPUs, or a CPU and the host, set bits of the same word at the same time, one of the changes may be lost.
 */
#define KTRACE_SETTING_BIT32(name, word, bit) \
	KTRACE_SETTING_DESCRIPTOR(name, KTRX_SETTING_BIT32, word, 4, bit, 0, 1)
#define KTRACE_SETTING_BIT64(name, word, bit) \
	KTRACE_SETTING_DESCRIPTOR(name, KTRX_SETTING_BIT64, word, 8, bit, 0, 1)

/*
 * Size of a buffer for the name of any setting with its NUL: a group and an event of up to 63 characters
 * each.
 */
#define KTRACE_SETTING_NAME_MAX 160u

/*
 * Stores the value of a setting as text: decimal, or hexadecimal with 0x for a mask.
 * Returns the length of the text, or NO_SETTING, or MEMORY (`size` is too small; the text is empty then).
 */
int ktrace_setting_get(const char *name, char *buffer, size_t size);

/*
 * Sets a setting. `text` is "name=value"; the value is decimal, hexadecimal with 0x, or negative (-1 for all
 * bits).
 * Returns KTRACE_OK, or SYNTAX, NO_SETTING, READ_ONLY, or ARGUMENT (larger than the setting accepts).
 */
int ktrace_setting_set(const char *text);

/*
 * Calls `visit` with the name of each setting: first those with a descriptor, then for each group its mask
 * and the bits of its events. Stops when `visit` returns nonzero.
 * Returns that value, or 0.
 */
typedef int ktrace_setting_visit(void *cookie, const char *name);
int ktrace_setting_each(ktrace_setting_visit *visit, void *cookie);

KTRACE_END_C

/*
 * In C++ a setting must not be defined in a function: g++ would omit the descriptor of an inline function
 * from the section, or reject all other descriptors. This declaration makes the compiler reject a setting in
 * a function.
 */
#ifdef __cplusplus
#define KTRACE_NAMESPACE_SCOPE extern "C++" struct ktrace_semicolon;
#else
#define KTRACE_NAMESPACE_SCOPE
#endif

#define KTRACE_SETTING_DESCRIPTOR(name, kind, word, bytes, bit, flags, most)                   \
	KTRACE_NAMESPACE_SCOPE                                                                 \
	KTRX_STATIC_ASSERT(sizeof(word) == (bytes) && sizeof(name) <= 48 && (bit) < (bytes)*8, \
			   "ktrace: the word, the bit or the name does not fit the setting");  \
	static struct ktrx_setting KTRACE_PASTE(ktrace_setting_, __LINE__)                     \
		__attribute__((__section__("ktrace_settings"), __aligned__(8),                 \
			       KTRACE_KEEP)) = { KTRX_SETTING_MAGIC,                           \
						 sizeof(struct ktrx_setting),                  \
						 kind,                                         \
						 bit,                                          \
						 flags,                                        \
						 0,                                            \
						 KTRACE_ADDRESS(&(word)),                      \
						 0,                                            \
						 most,                                         \
						 name }

#endif
