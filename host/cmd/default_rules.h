/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Rule files, and the one that ships with the tools. */
#ifndef CMD_DEFAULT_RULES_H
#define CMD_DEFAULT_RULES_H

#include <limits.h>

#include "analyze/rules.h"

/* Where the rules lie that every kernel keeps. 0, or -1 after a message signed by `name`. */
int default_rules_path(const char *name, char path[PATH_MAX]);
/* The text of a rule file, to be freed; NULL after a message. */
char *rules_read(const char *name, const char *path, size_t *length);
/* Both, and parsed: to be freed with free(); NULL after a message. */
struct rules *default_rules(const char *name);

#endif
