/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How a run ended, from what QEMU, the trace, the command and the user said. No I/O: facts in, verdict out.
 */
#ifndef CAPTURE_VERDICT_H
#define CAPTURE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* Exit statuses of `ktrace run`. */
enum capture_verdict {
	CAPTURE_CLEAN = 0,
	CAPTURE_FAILED = 1, /* the guest ended by itself, with a status other than 0 */
	CAPTURE_PANIC = 10,
	CAPTURE_STALL = 11,
	CAPTURE_TIMEOUT = 12,
	CAPTURE_RESET = 13,
	CAPTURE_QEMU_DIED = 14,
	CAPTURE_NO_KTRACE = 15,
	CAPTURE_NOT_SEEN = 16,	 /* what was to be seen on the console */
	CAPTURE_SIGNALLED = 128, /* and the signal's number */
};

/* Why ktrace ended the run. */
enum capture_end {
	CAPTURE_END_NONE, /* it did not */
	CAPTURE_END_TIMEOUT,
	CAPTURE_END_STALL,
	CAPTURE_END_SILENT, /* the trace told exit or panic, then nothing more came */
	CAPTURE_END_SEEN,   /* what was to be seen on the console was */
	CAPTURE_END_SIGNAL, /* `signal` came */
};

struct capture_facts {
	bool ran; /* QEMU started the guest */
	enum capture_shutdown shutdown;
	bool stopped_for_good;
	const char *state; /* QEMU's run state then */
	bool found;	   /* there is a trace */
	/* the transport by which the guest sends it; NULL: the host looks for ktrace in the guest */
	const char *sent;
	uint32_t outcome; /* KTRX_OUTCOME_* of the trace */
	int32_t status;
	enum capture_end end;
	int signal;
	bool unseen;	      /* a text was to be seen on the console and was not */
	double limit;	      /* seconds of the timeout or the stall */
	uint32_t stuck;	      /* with a stall: the CPU that beats no more, KTRX_NO_CPU if none does */
	bool leaves_itself;   /* the guest has means of ending QEMU without an event */
	bool has_wait_status; /* QEMU's own status is known … */
	int wait_status;      /* … as from wait() */
};

/* Returns the verdict and puts half a sentence that explains it into `text`. */
int capture_verdict(const struct capture_facts *facts, char *text, size_t size);

#endif
