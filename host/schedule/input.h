/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Types a script on the guest's first serial line, at virtual times. */
#ifndef SCHEDULE_INPUT_H
#define SCHEDULE_INPUT_H

/*
 * Reads the script at `path` and sets a timer. Each line is "SECONDS TEXT", sorted by time. TEXT and a
 * carriage return are typed, beginning at this virtual time. Returns NULL, or what is wrong.
 */
const char *input_open(const char *path);

#endif
