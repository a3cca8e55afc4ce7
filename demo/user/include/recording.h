/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A context of hardware trace, and the file into which it is recorded. The file contains the kernel's records
 * and, in between, the bytes that the trace units have written (ktrx/hwt.h).
 */
#ifndef USER_RECORDING_H
#define USER_RECORDING_H

#include <hwt.h>
#include <ktrx/hwt.h>
#include <stdbool.h>

#define RECORDING_UNITS_MAX 64

/* A trace unit of the context. */
struct recording_unit {
	int fd;			    /* the unit's device file in /dev */
	const unsigned char *bytes; /* address at which the unit's buffer is mapped */
	uint32_t number;	    /* number of the CPU, or index of the thread in the context */
	uint32_t tid;		    /* thread mode: id of the thread */
	/* Position in the trace: the bytes before it have been written to the file, or are lost. */
	uint64_t taken;
	uint64_t missed;	    /* number of bytes that were overwritten before they could be copied */
	struct abi_hwt_place place; /* position of the trace unit, as last read from the kernel */
};

struct recording {
	/*
	 * The output file. The caller opens it after recording_open(). If it is negative, nothing is written.
	 */
	int file;
	int device; /* open file of /dev/hwt; closing it ends the context */
	uint32_t ident;
	uint32_t mode;
	uint32_t pid;
	uint64_t buffer_size;
	unsigned units;
	struct recording_unit unit[RECORDING_UNITS_MAX];
	/* Number of records read so far, and number of records that the kernel lost. */
	uint64_t records, lost;
	uint64_t stamp; /* timestamp of the last record */
	/* Error of the last failed attempt to open a thread's unit; 0 if there was none. */
	int unit_error;
	bool is_over; /* true: the target has ended, and all its records have been read from the kernel */
	/*
	 * Error of the first write to the output file that failed; 0 if none has failed. After an error,
	 * nothing more is written.
	 */
	int error;
	char bytes[65536];
};

/*
 * Creates a context and maps the buffers of its trace units. recording->file becomes -1. Returns 0 or -errno;
 * after an error, nothing remains open.
 */
int recording_open(struct recording *recording, const struct abi_hwt_alloc *wanted);
void recording_close(struct recording *recording);

/* Sends an HWT_IOC_* request to the context. Returns 0 or -errno. */
int recording_request(struct recording *recording, unsigned request, void *argument);

/*
 * Stops tracing and writes the remaining trace to the file. Must be called before the context is configured
 * again. Returns 0 or -errno.
 */
int recording_stop(struct recording *recording);

/*
 * Takes the available records and the trace data, and writes them to the file. Waits up to timeout_ms for the
 * first record. When a batch of records has been written, calls `seen` for each of them, and once more with
 * NULL; `seen` may wake paused threads only in the last call. Returns 0 or -errno; -EINTR: a signal arrived.
 */
typedef void recording_seen(void *context, const struct ktrx_proc_record *record, const void *payload);
int recording_take(struct recording *recording, unsigned timeout_ms, recording_seen *seen, void *context);

#endif
