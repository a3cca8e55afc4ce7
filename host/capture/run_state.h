/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the sources of `ktrace run` share: the command, its signals, the patterns of --expect, the view of the
 * guest, and the run.
 */
#ifndef CAPTURE_RUN_STATE_H
#define CAPTURE_RUN_STATE_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "watch.h"
#include "ktread/memory.h"
#include "machine.h"
#include "memory.h"
#include "run.h"
#include "shim.h"
#include "cpu_state.h"
#include "plan.h"

/*
 * The command that is run, and the signals that concern it. It stays in our process group, so the terminal is
 * its own and Ctrl-C reaches it as ever. Orphans of it become ours, so that the status of a QEMU whose
 * stand-in was killed is still known.
 */

struct capture_child {
	int signals; /* descriptor: readable when a signal is there to be taken */
	sigset_t before;
	pid_t pid;
	int output; /* what it gets for its standard output, -1: ours */
	bool ended;
	bool alone;	  /* it has ended, and so have all processes that it started */
	int status;	  /* as from wait(), once it has ended */
	pid_t guest;	  /* QEMU's process if it is known, 0 if not */
	bool guest_ended; /* … and could be waited for */
	int guest_status;
};

/* Takes signals and reaps. Returns the last of SIGINT, SIGTERM, SIGHUP that came, or 0; adds to *count. */
int capture_child_signals(struct capture_child *child, unsigned *count);
void capture_child_close(struct capture_child *child);

/*
 * Looks for a text in what the command writes to its standard output, where the guest's serial line usually
 * leads. The output passes through a pipe on its way, and on to our own standard output as it comes, byte for
 * byte. Where that takes nothing more, the command has to wait, and nobody else.
 *
 * Carriage returns do not matter: a text of two lines is found however the guest ends its lines.
 */

#define CAPTURE_EXPECT_MAX   1024u
#define CAPTURE_EXPECT_PIECE 16384u

struct capture_expect {
	int from; /* the pipe's end to read, -1: no output is looked at, or there will be no more */
	int into; /* its other end, for the command; -1 once it is there */
	bool seen;
	bool mute; /* our own output is gone */
	char text[CAPTURE_EXPECT_MAX];
	/* of the text's first n + 1 bytes: how many are the text's beginning again */
	uint16_t back[CAPTURE_EXPECT_MAX];
	size_t length, matched;
	char piece[CAPTURE_EXPECT_PIECE]; /* as it was read … */
	size_t begin, end;		  /* … and what of it was not passed on yet */
};

/* `text` NULL: nothing is looked for, and the output stays as it is. 0 or an error. */
int capture_expect_open(struct capture_expect *expect, const char *text);
/* The command has its end of the pipe. */
void capture_expect_started(struct capture_expect *expect);
/* Takes what there is and passes it on, without waiting. */
void capture_expect_read(struct capture_expect *expect);
void capture_expect_close(struct capture_expect *expect);

/* The search alone: bytes in pieces of any length. */
int capture_expect_set(struct capture_expect *expect, const char *text);
void capture_expect_feed(struct capture_expect *expect, const char *bytes, size_t length);

/*
 * Registers and stacks of a machine under observation, asked for over its QMP connection without ever
 * blocking: the machine is halted by the first question and stays so. One that does not answer is given up.
 */

struct capture_inspection {
	const char *directory;		/* borrowed; QEMU writes there */
	double begun;			/* 0: not yet */
	bool done;			/* also where there is nothing to be had */
	struct capture_stacks *stacks;	/* while they are walked */
	struct capture_stack_page page; /* that QEMU is saving */
	char *text;			/* as in spec/ktrx.md section 3; NULL: nothing was learnt */
};

/* Begins at the first call, goes on with each; true when it is done. */
bool capture_inspection_step(struct capture_inspection *inspection, struct capture_machine *machine);
/* The next step begins anew. */
void capture_inspection_reset(struct capture_inspection *inspection);

/*
 * The trace inside a guest's RAM file, looked at while the guest runs: finds it, feels its pulse, measures
 * its clock. After the guest's end the same file is read once more for the dump.
 */

struct capture_view {
	struct ktread_memory *memory; /* NULL until opened */
	struct ktread_image *image;   /* NULL until found */
	struct capture_watch watch;
	struct capture_frequency frequency;
	double search_seconds; /* that the search took which found it */
	uint64_t root;	       /* physical address of the root that was found last; 0: none was */
	double next_search;    /* a search reads all of the guest's RAM: not more often than it is worth */
};

/* 0 or CAPTURE_E_SYSTEM. */
int capture_view_open(struct capture_view *view, const char *path, const struct capture_map *map,
		      const char *architecture);
/* Looks once; `running` tells whether the guest may move at all. True if a boot was seen for the first time.
 */
bool capture_view_look(struct capture_view *view, bool running);
/* Searches anew, for the guest has ended. 0 with a pulse in watch.last, CAPTURE_E_ABSENT, or another error.
 */
int capture_view_settle(struct capture_view *view);
/*
 * After capture_view_settle() returned CAPTURE_E_ABSENT: writes to `text` where the root had been found
 * before, and what may have overwritten it since. "" if it was never found. `may_reset`: the guest was
 * allowed to reset, which clears its memory.
 */
void capture_view_say_lost(const struct capture_view *view, bool may_reset, char *text, size_t size);
void capture_view_close(struct capture_view *view);

/* What run.c, run_loop.c and run_finish.c share of one run. */

struct capture_run {
	const struct capture_run_options *options;
	struct capture_workplace place;
	struct capture_child child;
	struct capture_machine machine;
	struct capture_expect expect;
	struct capture_guest guest;
	struct capture_view view;
	struct capture_inspection inspection; /* of the CPUs, before the guest has to go */
	bool has_guest;			      /* `guest` is set: a QEMU was claimed */
	struct capture_cycles begin;	      /* of the host's counter */
	double connected;		      /* when QEMU dialled; 0 if it has not */
	double started;			      /* when the guest first ran; 0 if it has not */
	double ended;			      /* when QEMU was gone */
	double orphaned;		      /* when the command had ended */
	double told;			      /* when QEMU's end was heard of or asked for; 0: not */
	double quit;			      /* when QEMU was last asked to quit; 0: not */
	unsigned reminders;		      /* how often the command was told to end … */
	double reminded;		      /* … and when */
	double silence;			      /* of the guest, in seconds, when it was last seen to run */
	double next_progress;
	bool stalling;		     /* a stall was told and goes on … */
	struct ktread_pulse stalled; /* … since the pulse was this */
	bool looking;		     /* it stalled and is looked into before it goes on, or stays */
	bool kept;		     /* it stalled and stays, paused, to be looked at */
	unsigned interrupts;	     /* signals that came */
	enum capture_end end;
	int signal;
};

__attribute__((format(printf, 2, 3))) void capture_run_say(const struct capture_run *run, const char *format,
							   ...);
/* Waits until the command and its QEMU are gone. 0 or an error of the host. */
int capture_run_loop(struct capture_run *run);
/* Writes the trace of a guest that has stalled and is paused. 0 or an error. */
int capture_run_save(struct capture_run *run);
/* Writes the trace and tells how it was. */
int capture_run_finish(struct capture_run *run, struct capture_result *result);

#endif
