/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The file that a command writes beside the trace it reads. Messages are printed. */
#ifndef CMD_OUTPUT_FILE_H
#define CMD_OUTPUT_FILE_H

#include "cmd/trace_args.h"
#include "export/export.h"

/* Writing to `to` would destroy what is read from `from`. */
int output_file_is(const char *to, const char *from);
/* A descriptor, standard output for "-"; -1 after a message. What is read has to be asked about before. */
int output_file_create(const char *name, const char *to);
/* The same, refused for the trace itself. */
int output_file_open(const struct trace_args *args, const char *to);
/*
 * Closes what output_file_open() gave. `error`: errno of the first failed write, 0 if none; nothing remains
 * of a file that could not be written. Returns the exit status.
 */
int output_file_close(const struct trace_args *args, const char *to, int fd, int error);

/*
 * Writes `trace` to the file `to` ("-": standard output), says so on stderr, closes the trace. A file that
 * could not be written to its end is removed. Returns the exit status.
 */
int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to);

#endif
