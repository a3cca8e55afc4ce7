/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Process traces that cannot be: lengths, counts and names that lie, damage, ends in the middle of something. */
#ifndef PROC_MAKE_BAD_H
#define PROC_MAKE_BAD_H

void make_bad(const char *directory);

#endif
