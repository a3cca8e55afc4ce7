/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A context of hardware trace and the file that becomes of it: the kernel's records as they come, and between them what the
 * trace unit has written (ktrx/hwt.h).
 */
#ifndef USER_RECORDING_H
#define USER_RECORDING_H

#include <hwt.h>
#include <ktrx/hwt.h>
#include <stdbool.h>

#define RECORDING_UNITS_MAX 64

/* What one unit writes. */
struct recording_unit {
	int fd;			    /* of its file in /dev */
	const unsigned char *bytes; /* mapped */
	uint32_t number;	    /* the CPU, or the thread's index in the context */
	uint32_t tid;		    /* thread mode */
	uint64_t taken;		    /* up to this position it is in the file, or lost */
	uint64_t missed;	    /* bytes that had been written over */
	struct abi_hwt_place place; /* as it was last */
};

struct recording {
	int file;   /* what is written, once the caller has opened it; below 0: nothing is */
	int device; /* /dev/hwt: the context lives as long as it is open */
	uint32_t ident;
	uint32_t mode;
	uint32_t pid;
	uint64_t buffer_size;
	unsigned units;
	struct recording_unit unit[RECORDING_UNITS_MAX];
	uint64_t records, lost; /* seen so far */
	uint64_t stamp;		/* of the last */
	int unit_error;		/* of a thread's unit that could not be opened; 0: all were */
	bool is_over;		/* the target has ended and all records are there */
	int error;		/* of writing the file: it is not tried any more */
	char bytes[65536];
};

/* Makes the context that is asked for, with its files mapped, and no file to write yet. 0 or -errno, nothing left behind. */
int recording_open(struct recording *recording, const struct abi_hwt_alloc *wanted);
void recording_close(struct recording *recording);

/* To all units: of the context, by one of its files. 0 or -errno. */
int recording_request(struct recording *recording, unsigned request, void *argument);

/* Nothing is traced any more, and what has been is in the file, before anything that is configured anew. 0 or -errno. */
int recording_stop(struct recording *recording);

/*
 * Takes what there is of records, waiting a while for the first, and of trace. `seen` is told of each record after it is in
 * the file, and of NULL behind the last of those that came together: not before may they be let go who wait for what is done
 * about any of them. 0 or -errno; -EINTR: a signal came.
 */
typedef void recording_seen(void *context, const struct ktrx_proc_record *record, const void *payload);
int recording_take(struct recording *recording, unsigned timeout_ms, recording_seen *seen, void *context);

#endif
