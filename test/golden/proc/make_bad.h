/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Invalid process traces: wrong lengths, counts and names, damage, and traces that are cut off. */
#ifndef PROC_MAKE_BAD_H
#define PROC_MAKE_BAD_H

void make_bad(const char *directory);

#endif
