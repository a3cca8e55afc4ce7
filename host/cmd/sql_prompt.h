/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads lines from a terminal, on standard input and standard error. Keys: left, right, Home, End, Backspace,
 * Delete; up and down for earlier lines; Ctrl-A, -E, -K, -U, -W; Ctrl-C discards the line, Ctrl-D ends.
 */
#ifndef CMD_SQL_PROMPT_H
#define CMD_SQL_PROMPT_H

#include <stddef.h>
#include <sys/types.h>

struct sql_prompt;

/* Creates a reader of lines. Returns NULL if memory runs out. */
struct sql_prompt *sql_prompt_open(void);
/*
 * Prints `prompt` and reads a line, as getline(3) does: the line ends in a newline. Returns its length; -1 at
 * the end of the input.
 */
ssize_t sql_prompt_line(struct sql_prompt *reader, const char *prompt, char **line, size_t *room);
/* Frees the reader, which may be NULL. */
void sql_prompt_close(struct sql_prompt *reader);

#endif
