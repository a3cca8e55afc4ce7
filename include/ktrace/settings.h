/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Settings: words of the kernel, or single bits of them, that are read and set by name: from the kernel's own
 * shell, its command line, its panic prompt, and from the host.
 *
 *	static uint32_t verbose;
 *	KTRACE_SETTING_RANGE("debug.ktr.verbose", verbose, 0, 2);
 *
 * A row stands at file scope next to its word, in the linker section `ktrace_settings`. Besides the rows
 * there are, for each group of events,
 *	debug.ktr.<group>_enable	a bit for each event of the group that is on, in hexadecimal; -1: all.
 *	                        	Events of
 *				ktr.h have the bit they were declared with, others those that are free, by
 *				file and line
 *	debug.ktr.<group>.<event>_mask	the event's bit in it, read only
 *
 * Any context, no lock; two calls that change the same thing must not run at the same time. Setting anything
 * brings the states of all events up to date, so a word that they depend on needs no more than its row.
 */
#ifndef KTRACE_SETTINGS_H
#define KTRACE_SETTINGS_H

#include "ktrace/control.h"
#include "ktrace/macros.h"

KTRACE_BEGIN_C

/* The word is a uint32_t or a uint64_t. `flags`: 0 or KTRX_SETTING_READ_ONLY. */
#define KTRACE_SETTING_U32(name, word, flags) \
	KTRACE_SETTING_ROW(name, KTRX_SETTING_U32, word, 4, 0, flags, UINT32_MAX)
#define KTRACE_SETTING_U64(name, word, flags) \
	KTRACE_SETTING_ROW(name, KTRX_SETTING_U64, word, 8, 0, flags, UINT64_MAX)

/* A uint32_t that takes 0 to `most`. */
#define KTRACE_SETTING_RANGE(name, word, flags, most) \
	KTRACE_SETTING_ROW(name, KTRX_SETTING_U32, word, 4, 0, flags, most)

/*
 * One bit of a word as a setting of its own, 0 or 1. Setting it stores the whole word: two bits of one word
 * that are set at the same time, say one by the host, may lose one.
 */
#define KTRACE_SETTING_BIT32(name, word, bit) KTRACE_SETTING_ROW(name, KTRX_SETTING_BIT32, word, 4, bit, 0, 1)
#define KTRACE_SETTING_BIT64(name, word, bit) KTRACE_SETTING_ROW(name, KTRX_SETTING_BIT64, word, 8, bit, 0, 1)

/* Bytes that hold the name of any setting with its NUL: a group and an event of up to 63 characters each. */
#define KTRACE_SETTING_NAME_MAX 160u

/*
 * Writes the setting's value as text: decimal, a mask as hexadecimal with 0x. Returns the length of the text.
 * Errors: NO_SETTING; MEMORY if it does not fit, with an empty text.
 */
int ktrace_setting_get(const char *name, char *buffer, size_t size);

/*
 * "name=value": decimal, hexadecimal with 0x, or negative, as in -1 for all bits. Errors: SYNTAX, NO_SETTING,
 * READ_ONLY, ARGUMENT (more than the setting takes).
 */
int ktrace_setting_set(const char *text);

/*
 * Calls back with the name of each setting: rows first, then of each group its mask and its events' bits. A
 * nonzero answer ends it and is returned.
 */
typedef int ktrace_setting_visit(void *cookie, const char *name);
int ktrace_setting_each(ktrace_setting_visit *visit, void *cookie);

KTRACE_END_C

/*
 * In C++ a row must not stand in a function: g++ would leave that of an inline function out of the section,
 * or refuse all others. What this declares is refused there.
 */
#ifdef __cplusplus
#define KTRACE_NAMESPACE_SCOPE extern "C++" struct ktrace_semicolon;
#else
#define KTRACE_NAMESPACE_SCOPE
#endif

#define KTRACE_SETTING_ROW(name, kind, word, bytes, bit, flags, most)                          \
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
