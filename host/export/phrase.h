/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An event's text taken apart once, so that filling in values costs little. Says exactly what ktread_format()
 * says; texts with flags, widths or precisions, and payloads cut short, are left to that.
 */
#ifndef EXPORT_PHRASE_H
#define EXPORT_PHRASE_H

#include "ktread/ktread.h"

#define PHRASE_BYTES 4096u /* most that phrase_put() writes */

struct phrase;

/* NULL if the text is not plain, or without memory. The type must outlive the phrase. */
struct phrase *phrase_compile(const struct ktread_type *type);
void phrase_free(struct phrase *phrase);
/* The end of the text at `at`, or NULL if the payload is too short for it. */
char *phrase_put(const struct phrase *phrase, char *at, const struct ktread_event *event);

#endif
