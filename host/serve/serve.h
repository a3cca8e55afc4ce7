/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A server of HTTP for one trace and one browser on this machine. It listens on 127.0.0.1, and answers only
 * requests whose path contains its token, which is different in each run. ktrace-open(1) describes the
 * server, spec/page.md the requests.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/symbols.h"
#include "ktread/ktread.h"

struct serve_options {
	const char *name;    /* text that begins each message */
	const char *version; /* version of the program, which the page shows */
	const char *path;    /* path of the trace, which must be a regular file */
	uint16_t port;	     /* port; 0: any free port */
	bool browser;	     /* true: open a browser at the start */
	uint64_t whole;	     /* a trace with more events than this is not sent whole, but in time windows */
	bool live; /* true: the file may change, because it is the RAM of a guest or is still being written */
	/*
	 * Opens the trace; `window` as in struct ktread_options. Returns NULL if this fails. The caller
	 * closes the trace. Called in processes that the server has forked.
	 */
	struct ktread *(*open)(void *context, bool window);
	/* Opens the symbols for addresses of the trace. May return NULL: no symbols. */
	struct symbols *(*open_symbols)(void *context, const struct ktread *trace);
	void *context; /* first argument of these two functions; borrowed */
};

/*
 * Prints the server's address on standard error, and serves until SIGINT, SIGTERM or SIGHUP. Returns 0, or
 * -1 after a message on standard error.
 */
int serve_run(const struct serve_options *options);

#endif
