/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* `ktrace run`: its options, its result, and the verdict on how the guest ended. */
#ifndef CAPTURE_RUN_H
#define CAPTURE_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "ktread/memory.h"
#include "qmp.h"
#include "output.h"
#include "plan.h"
#include "schedule.h"

/*
 * State of the terminal before the run. It is restored after the run, because a QEMU that is killed leaves
 * the terminal raw and non-blocking.
 */

struct capture_terminal {
	bool present; /* true if stdin is a terminal */
	int flags;    /* status flags of the open file on stdin; -1: unknown */
	struct termios state;
};

/*
 * default of --stall in seconds; it applies only if the kernel has heartbeats, stdin is not a terminal, no
 * debugger may attach, and the run has no virtual deadline
 */
#define CAPTURE_STALL_DEFAULT 30.0

/* Callbacks during a run. They are called in the thread of capture_run(). */
struct capture_hooks {
	/* Called with a message for the user: one sentence, without a newline. */
	void (*say)(void *context, const char *sentence);
	/* Called when the guest starts to run. The argument is the path of its RAM file. May be NULL. */
	void (*ram)(void *context, const char *path);
	/*
	 * Called a few times per second while the guest runs. `pulse` is NULL until ktrace is found in the
	 * guest. May be NULL.
	 */
	void (*progress)(void *context, double seconds, bool guest_uses_terminal,
			 const struct ktread_pulse *pulse);
	void *context;
	/*
	 * Called when the watched word was written and the machine is halted. During the call, a debugger may
	 * connect to the gdb server at `socket`. The run ends when the callback returns. May be NULL.
	 */
	void (*halted)(void *context, const char *socket);
	/* Called after a run with a schedule, with what the plugin has recorded. May be NULL. */
	void (*recorded)(void *context, const struct schedule_control *control);
};

/* What ktrace does with a guest that stalls. */
enum capture_on_stall {
	CAPTURE_ON_STALL_KILL,
	CAPTURE_ON_STALL_REPORT, /* report the stall and continue the run */
	CAPTURE_ON_STALL_KEEP,	 /* pause the guest until the user ends the run */
};

struct capture_run_options {
	/* the command and its arguments, then NULL; capture_run() may replace arguments */
	char **command;
	const char *self;    /* absolute path of this program */
	const char *version; /* version of this program, for the recipe; NULL: unknown */
	const char *out;     /* path of the trace that is written */
	const char *ram_dir; /* directory for the RAM file; NULL: the directory of `out` */
	/* path of the kernel's ELF file: ktrace warns if the trace is of another kernel; NULL: no check */
	const char *elf;
	const char *events; /* value for debug= in the kernel's arguments; "": no debug= is added */
	bool trace_unit;    /* the guest gets a trace unit */
	/*
	 * File to which the trace unit writes the branches; NULL: none. If `trace_unit` is not set, the guest
	 * cannot see the unit.
	 */
	const char *branches;
	bool virtual_branches; /* the file `branches` contains times of the virtual clock */
	double timeout;	       /* seconds from the start of QEMU after which ktrace ends the run; 0: never */
	const char *expect;    /* text to wait for on the console; NULL: none */
	bool expect_continue;  /* continue the run after the expected text has appeared */
	enum capture_on_stall on_stall;
	/*
	 * time in seconds without activity that counts as a stall; 0: no limit; negative:
	 * CAPTURE_STALL_DEFAULT
	 */
	double stall;
	enum capture_transport transport;
	struct capture_schedule schedule;
	const char *qemu; /* version of QEMU that the run requires; NULL: any */
	/* accept guests without ktrace; the verdict on such a run states how the guest ended */
	bool may_lack_ktrace;
	bool keep_ram;
	bool allow_reboot;
	bool force; /* true: continue even if disk space is short or names of events are unknown */
	struct capture_hooks hooks;
};

struct capture_result {
	int status;	/* exit status of `ktrace run`, of enum capture_verdict */
	char text[256]; /* a phrase that states how the run ended */
	double seconds; /* seconds for which the guest ran */
	double search;	/* seconds that the last search for ktrace in the guest's memory took */
	uint64_t root;	/* physical address of the root; 0: no search has found it */
	/*
	 * physical address that the root had while the guest ran, if it is no longer there; 0: unknown, or
	 * still there
	 */
	uint64_t lost;
	/* when ktrace last found the guest running, the guest had stalled, or one of its CPUs was stuck */
	bool stalled;
	bool written; /* a trace was written, and `summary` describes it */
	bool linked;  /* no trace was found, but the kernel's file contains ktrace */
	bool sent;    /* the guest itself sent the trace, which has no events after the guest's dump */
	/*
	 * if `sent` is set: seconds from the arrival of the last byte of the trace to the end of the run;
	 * negative: unknown
	 */
	double taken;
	struct capture_summary summary;
	bool gave_up;	/* the run was ended because the real time of --timeout had passed */
	uint64_t ended; /* virtual time in ns at which a run with a schedule ended; 0: unknown */
	/*
	 * hash of the contents of the files that QEMU's command line names, and of QEMU's version; "" if
	 * it is unknown, or if the guest can write to a file
	 */
	char files[CAPTURE_RECIPE_HASH];
	bool no_hooks;	       /* hooks were to end the CPUs' time slices, but the guest executed no hook */
	char kernel[PATH_MAX]; /* value of QEMU's -kernel; "" if there is none */
	char kept[PATH_MAX];   /* path of the file with the guest's RAM if it was not removed, otherwise "" */
};

/* Runs the command and writes the trace. Returns 0 with *result set, or an error. */
int capture_run(const struct capture_run_options *options, struct capture_result *result);

/*
 * The verdict on a run. It is derived, without I/O, from what was reported by QEMU, the trace, the command
 * and the user.
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
	CAPTURE_NOT_SEEN = 16,	 /* the expected text did not appear on the console */
	CAPTURE_SIGNALLED = 128, /* the exit status is this value plus the number of the signal */
};

/* The reason why ktrace ended the run. */
enum capture_end {
	CAPTURE_END_NONE, /* the run was not ended by ktrace */
	CAPTURE_END_TIMEOUT,
	CAPTURE_END_STALL,
	CAPTURE_END_SILENT,   /* the guest recorded an exit or a panic, and nothing after it */
	CAPTURE_END_SEEN,     /* the expected text has appeared on the console */
	CAPTURE_END_SIGNAL,   /* ktrace received `signal` */
	CAPTURE_END_DEADLINE, /* the virtual time limit was reached */
	CAPTURE_END_WORD,     /* the watched word was written */
};

struct capture_facts {
	bool ran; /* QEMU started the guest */
	enum capture_shutdown shutdown;
	bool stopped_for_good;
	const char *state; /* QEMU's run state, if `stopped_for_good` is set */
	bool found;	   /* true if a trace was found */
	/*
	 * name of the transport by which the guest sends its trace; NULL: the host reads the guest's memory
	 */
	const char *sent;
	uint32_t outcome; /* KTRX_OUTCOME_* of the trace */
	int32_t status;
	enum capture_end end;
	int signal;
	bool linked;	      /* the kernel's file contains ktrace */
	bool may_lack_ktrace; /* the guest may run without ktrace, so `found` does not affect the verdict */
	bool unseen;	      /* the expected text has not appeared on the console */
	/* the limit that ended the run, in seconds: of the timeout, the stall or the deadline */
	double limit;
	/* if the guest stalled: the CPU whose heartbeats have stopped; KTRX_NO_CPU if there is none */
	uint32_t stuck;
	bool ends_without_event; /* the guest can end QEMU without a QMP event */
	bool has_wait_status;	 /* true if `wait_status` is valid */
	int wait_status;	 /* QEMU's status, as from wait() */
};

/* Returns the verdict. Writes a phrase that explains the verdict to `text`. */
int capture_verdict(const struct capture_facts *facts, char *text, size_t size);

#endif
