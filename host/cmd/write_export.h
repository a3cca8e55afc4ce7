/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef CMD_WRITE_EXPORT_H
#define CMD_WRITE_EXPORT_H

#include "cmd/trace_args.h"
#include "export/export.h"

/*
 * Writes `trace` to the file `to` ("-": standard output), says so on stderr, closes the trace. A file that
 * could not be written to its end is removed. Returns the exit status.
 */
int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to);

#endif
