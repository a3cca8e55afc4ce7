/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A run: its command and terminal, and how it ended. */
#ifndef CAPTURE_RUN_H
#define CAPTURE_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "ktread/memory.h"
#include "machine.h"
#include "output.h"
#include "plan.h"

/* Puts the terminal back as it was: a QEMU that is killed leaves it raw and non-blocking. */

struct capture_terminal {
	bool present; /* stdin is a terminal */
	int flags;    /* of stdin's open file, -1 unknown */
	struct termios state;
};

/* `ktrace run`: a command under observation, and the trace that it leaves. */

#define CAPTURE_STALL_DEFAULT 30.0 /* s; only for kernels that beat, and where nobody sits before them */

/* Reports while running, in the thread of capture_run(). */
struct capture_hooks {
	/* A sentence worth a line of its own. */
	void (*say)(void *context, const char *sentence);
	/* The guest runs, and this is the file behind its RAM. NULL: nobody wants to know. */
	void (*ram)(void *context, const char *path);
	/* A few times a second while the guest runs. `pulse` is NULL until ktrace was found. */
	void (*progress)(void *context, double seconds, bool guest_uses_terminal,
			 const struct ktread_pulse *pulse);
	void *context;
};

/* What becomes of a guest that stalls. */
enum capture_on_stall {
	CAPTURE_ON_STALL_KILL,
	CAPTURE_ON_STALL_REPORT, /* it is said, and the run goes on */
	CAPTURE_ON_STALL_KEEP,	 /* it is paused and stays until the user ends it */
};

struct capture_run_options {
	char **command;	      /* ends in NULL; words may be replaced */
	const char *self;     /* absolute path of this program */
	const char *out;      /* trace */
	const char *ram_dir;  /* folder of the RAM file, NULL: beside `out` */
	const char *elf;      /* kernel that the trace must belong to, NULL: any */
	const char *events;   /* for debug= in the kernel's arguments, "" none */
	bool trace_unit;      /* the guest is to have one … */
	const char *branches; /* … and all branches go here, NULL: nowhere */
	double timeout;	      /* s from the start of QEMU, 0 never */
	const char *expect;   /* text to be seen on the console, NULL: none */
	bool expect_continue; /* go on when it was seen */
	enum capture_on_stall on_stall;
	double stall; /* s of silence, 0 never, below 0: CAPTURE_STALL_DEFAULT */
	enum capture_transport transport;
	bool keep_ram;
	bool allow_reboot;
	bool force; /* short disk and foreign kernels do not matter */
	struct capture_hooks hooks;
};

struct capture_result {
	int status;	/* of `ktrace run`: enum capture_verdict */
	char text[256]; /* how it ended */
	double seconds; /* that the guest ran */
	double search;	/* seconds that it took to find ktrace in the guest's memory … */
	uint64_t root;	/* … and its physical address there; 0: it was not found so */
	/* … where it was while the guest ran, and is no longer; 0: unknown, or it is still there */
	uint64_t lost;
	bool written; /* there is a trace, and `summary` tells what is in it */
	bool sent;    /* the guest sent it: it covers what came before it was taken */
	/* then: seconds from when the last of it came to the end of the run; negative: unknown */
	double taken;
	struct capture_summary summary;
	char kernel[PATH_MAX]; /* as QEMU was given it, "" if it was not */
	char kept[PATH_MAX];   /* file of the guest's RAM that was left behind, "" if none */
};

/* 0 and a result, or an error that left no result. */
int capture_run(const struct capture_run_options *options, struct capture_result *result);

/* How a run ended, from what QEMU, the trace, the command and the user said. No I/O: facts in, verdict out.
 */

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
