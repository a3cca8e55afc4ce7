/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the source files of `ktrace run`: the command, its signals, the text of --expect,
 * the guest's RAM file, and the run.
 */
#ifndef CAPTURE_RUN_STATE_H
#define CAPTURE_RUN_STATE_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ktread/memory.h"
#include "cpu_state.h"
#include "memory.h"
#include "plan.h"
#include "qmp.h"
#include "run.h"
#include "share.h"
#include "wait.h"
#include "watch.h"

/*
 * The command that ktrace runs, and the signals that concern the command. The command stays in our process
 * group, so that it can use the terminal and gets Ctrl-C. Its orphans become our children, so that we get the
 * status of a QEMU even if the shim, its parent, was killed.
 */

struct capture_child {
	struct capture_signals signals;
	pid_t pid;
	/* descriptor that the command gets as its standard output; -1: the command uses ours */
	int output;
	bool ended;
	bool alone;	  /* neither the command nor any process that it started is still running */
	int status;	  /* status of the command as from wait(), after it has ended */
	pid_t guest;	  /* process id of QEMU; 0: unknown */
	bool guest_ended; /* QEMU has ended, and it was a child of ktrace */
	int guest_status;
};

/*
 * Processes the signals that have arrived, and collects the status of ended children. Returns the last
 * SIGINT, SIGTERM or SIGHUP that arrived, or 0. Adds the number of these three signals to *count.
 */
int capture_child_signals(struct capture_child *child, unsigned *count);

/*
 * Looks for a text in the command's standard output, which usually includes the guest's serial line. The
 * output passes through a pipe and is copied to our standard output unchanged. While our standard output is
 * full, the command waits, but ktrace does not.
 *
 * Carriage returns are ignored: a text of two lines is found with either kind of line end.
 */

#define CAPTURE_EXPECT_MAX   1024u
#define CAPTURE_EXPECT_PIECE 16384u

struct capture_expect {
	int from; /* end of the pipe from which we read; -1: the output is not read, or has ended */
	/* end of the pipe to which the command writes; -1: ktrace has closed its copy of this descriptor */
	int into;
	bool seen;
	bool output_closed; /* the reader of our own standard output has closed it */
	char text[CAPTURE_EXPECT_MAX];
	/*
	 * back[n]: length of the longest proper suffix of the text's first n + 1 bytes that is also a prefix
	 * of the text
	 */
	uint16_t back[CAPTURE_EXPECT_MAX];
	size_t length, matched;
	char piece[CAPTURE_EXPECT_PIECE]; /* bytes as they were read */
	/* bytes [begin, end) of `piece` have not been written to our output yet */
	size_t begin, end;
};

/*
 * Prepares the search. If `text` is NULL, there is no search, and the output is not redirected. Returns 0 or
 * an error.
 */
int capture_expect_open(struct capture_expect *expect, const char *text);
/* Closes our copy of the command's end of the pipe, after the command has started. */
void capture_expect_started(struct capture_expect *expect);
void capture_expect_close(struct capture_expect *expect);

/*
 * The search without the pipe, for text that arrives in pieces of any length. capture_expect_set() returns 0
 * or CAPTURE_E_USAGE.
 */
int capture_expect_set(struct capture_expect *expect, const char *text);
void capture_expect_feed(struct capture_expect *expect, const char *bytes, size_t length);

/*
 * The inspection: reads registers and stacks of a watched machine over its QMP connection, without ever
 * blocking. The first request halts the machine, which stays halted. If QEMU does not answer, the inspection
 * ends without registers and stacks.
 */

struct capture_walk; /* view.c */

struct capture_inspection {
	const char *directory; /* directory in which QEMU saves memory to a file for ktrace; borrowed */
	struct capture_stack_kernel kernel;
	/* time at which the inspection began; 0: the inspection has not begun */
	double begun;
	double moved;			/* time of the last request to QEMU, or answer of QEMU */
	bool done;			/* the inspection has ended, even if nothing could be read */
	struct capture_walk *walk;	/* walk of the stacks; NULL: none */
	bool walking;			/* a step of the walk may still run */
	struct capture_stack_page page; /* the page of memory that QEMU is saving */
	/* registers and stacks as text (spec/ktrx.md, section 3); NULL: none */
	char *text;
};

/* The first call begins the inspection, each later call continues it. Returns true when it is done. */
bool capture_inspection_step(struct capture_inspection *inspection, struct capture_machine *machine);
/* Discards the results. The next call of capture_inspection_step() begins a new inspection. */
void capture_inspection_reset(struct capture_inspection *inspection);

/*
 * The trace in a guest's RAM file, read while the guest runs: finds it, reads its pulse, measures its clock.
 * After the guest's end, the same file is read once more for the dump.
 */

struct capture_view {
	struct ktread_memory *memory; /* NULL until the memory is opened */
	struct ktread_image *image;   /* NULL until a trace is found */
	struct capture_watch watch;
	double looked; /* time of the last look; 0: there was none */
	struct capture_frequency frequency;
	double search_seconds; /* duration of the last search, in seconds */
	uint64_t root;	       /* physical address of the root that was found last; 0: none */
	/* time before which no other search is made, because a search reads all of the guest's RAM */
	double next_search;
};

/* Opens the RAM file. Returns 0 or CAPTURE_E_SYSTEM. */
int capture_view_open(struct capture_view *view, const char *path, const struct capture_map *map,
		      const char *architecture);
/*
 * Reads the pulse once. `running`: the guest is not paused. `lost`: seconds since the last look for which the
 * host did not let QEMU run (capture_share_lost()); a long time without a look does not count either. Returns
 * true at the first pulse of a boot.
 */
bool capture_view_look(struct capture_view *view, bool running, double lost);
/*
 * Searches again, after the guest has ended. Returns 0 with a pulse in watch.last, CAPTURE_E_ABSENT, or
 * another error.
 */
int capture_view_search_again(struct capture_view *view);
/*
 * Writes to `text` at which address the root was found earlier, and what may have overwritten it. Writes ""
 * if the root was never found. `may_reset`: the guest was allowed to reset, which clears its memory.
 * Requires: capture_view_search_again() returned CAPTURE_E_ABSENT.
 */
void capture_view_explain_loss(const struct capture_view *view, bool may_reset, char *text, size_t size);
void capture_view_close(struct capture_view *view);

/*
 * Sets the kernel whose stacks the inspection walks. `elf`: path of the kernel's file (borrowed); NULL:
 * unknown. `file`: contents of that file; NULL: unknown.
 */
void capture_inspection_set_kernel(struct capture_inspection *inspection, const struct capture_view *view,
				   const char *elf, const struct capture_kernel *file);

/* One run, shared by run.c, run_loop.c and run_finish.c. */

/* The dumps that a guest stores in shared memory. */
struct capture_shared {
	uint64_t hash;	/* of the heads of both dumps, when they were last read */
	double changed; /* time at which ktrace noticed the last change; 0: there is no dump yet */
};

struct capture_run {
	const struct capture_run_options *options;
	struct capture_workplace place;
	struct capture_child child;
	struct capture_machine machine;
	struct capture_expect expect;
	struct capture_guest guest;
	struct capture_view view;
	struct capture_shared shared;
	/*
	 * registers and stacks of the CPUs, read before ktrace ends the guest or after the guest has stalled
	 */
	struct capture_inspection inspection;
	/* true if the shim has reported that it starts a QEMU; `guest` is the shim's report */
	bool has_guest;
	struct capture_cycles begin; /* the host's cycle counter at the beginning of the run */
	double connected;	     /* time at which QEMU connected; 0: QEMU has not connected */
	struct capture_kernel file;  /* the file of --elf; valid if there is such a file */
	/* file status of the kernel's file at the time `connected`; st_nlink is 0: unknown */
	struct stat kernel;
	double started;	      /* time at which the guest began to run; 0: the guest has not */
	double ended;	      /* time at which QEMU closed the connection; 0: QEMU has not */
	double command_ended; /* time at which ktrace noticed the end of the command; 0: not yet */
	/* time at which ktrace noticed that QEMU shuts down or has stopped for good; 0: not yet */
	double ending_since;
	double quit; /* time at which ktrace asked QEMU to quit; 0: ktrace has not */
	/*
	 * number of steps taken to end the command: the first step is to wait, the second is SIGTERM, later
	 * steps are SIGKILL
	 */
	unsigned end_requests;
	double end_requested; /* time of the last step that was taken to end the command */
	/* time in seconds for which the guest had recorded nothing when ktrace last found it running */
	double silence;
	/*
	 * time in seconds for which a CPU had been stuck when ktrace last found the guest running; 0 if the
	 * kernel has no heartbeats
	 */
	double stuck;
	struct capture_share share; /* how much CPU time QEMU gets */
	double next_progress;
	bool stalling;		     /* a stall was reported, and has not ended yet */
	struct ktread_pulse stalled; /* pulse at the beginning of the stall */
	bool serving;		     /* QEMU was asked to start its gdb server */
	bool inspecting;	     /* the guest has stalled and its registers are being read */
	/* the guest has stalled and stays paused, so that the user can inspect it */
	bool stays_paused;
	unsigned interrupts; /* number of SIGINT, SIGTERM and SIGHUP received */
	enum capture_end end;
	int signal;
};

/* Reports a sentence through the hook `say`. */
__attribute__((format(printf, 2, 3))) void capture_run_say(const struct capture_run *run, const char *format,
							   ...);
/* Notices a new dump in memory that the guest shares with the host. Does nothing for other transports. */
void capture_shared_look(struct capture_run *run);
/* Watches the guest until the command and its QEMU have ended. Returns 0, or an error of the host. */
int capture_run_loop(struct capture_run *run);
/* Writes the trace of a guest that has stalled and is paused. Returns 0 or an error. */
int capture_run_save(struct capture_run *run);
/* Writes the trace and fills in *result. Returns 0 or an error. */
int capture_run_finish(struct capture_run *run, struct capture_result *result);

#endif
