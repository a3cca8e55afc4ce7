/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A context of hardware trace and the file that is written from it: the kernel's records, and between the
 * records the bytes that the trace units have written (ktrx/hwt.h).
 */
#ifndef USER_RECORDING_H
#define USER_RECORDING_H

#include <hwt.h>
#include <ktrx/hwt.h>
#include <stdbool.h>

#define RECORDING_UNITS_MAX 64

/* The trace of one unit. */
struct recording_unit {
	int fd;			    /* its device file in /dev */
	const unsigned char *bytes; /* mapped */
	uint32_t number;	    /* number of the CPU, or the thread's index in the context */
	uint32_t tid;		    /* thread mode */
	uint64_t taken;		    /* position; all bytes before it are in the file or are lost */
	uint64_t missed;	    /* number of bytes that were overwritten before they were read */
	struct abi_hwt_place place; /* the last known position of the trace unit */
};

struct recording {
	/* The output file, opened by the caller; negative: nothing is written. */
	int file;
	int device; /* /dev/hwt; the context ends when it is closed */
	uint32_t ident;
	uint32_t mode;
	uint32_t pid;
	uint64_t buffer_size;
	unsigned units;
	struct recording_unit unit[RECORDING_UNITS_MAX];
	uint64_t records, lost; /* numbers of records read and of records lost so far */
	uint64_t stamp;		/* timestamp of the last record */
	int unit_error;		/* error of opening a thread's unit; 0: no error */
	bool is_over;		/* true: the target has ended and all records were taken */
	/*
	 * Error of the first failed write to the output file; after it, nothing more is written. 0: no error.
	 */
	int error;
	char bytes[65536];
};

/*
 * Creates a context and maps its files; recording->file becomes -1. Returns 0 or -errno; after an error
 * nothing remains.
 */
int recording_open(struct recording *recording, const struct abi_hwt_alloc *wanted);
void recording_close(struct recording *recording);

/* Sends a request to the context. Returns 0 or -errno. */
int recording_request(struct recording *recording, unsigned request, void *argument);

/*
 * Stops tracing and writes the remaining trace to the file. Call it before the context is configured again.
 * Returns 0 or -errno.
 */
int recording_stop(struct recording *recording);

/*
 * Takes the available records, waiting up to timeout_ms for the first one, and the trace. Calls `seen` for
 * each record after it is in the file, and with NULL after the last record of a batch; wake paused threads
 * only in that call. Returns 0 or -errno; -EINTR: a signal arrived.
 */
typedef void recording_seen(void *context, const struct ktrx_proc_record *record, const void *payload);
int recording_take(struct recording *recording, unsigned timeout_ms, recording_seen *seen, void *context);

#endif
