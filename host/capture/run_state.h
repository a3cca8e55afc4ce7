/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What run.c, run_loop.c and run_finish.c share of one run. */
#ifndef CAPTURE_RUN_STATE_H
#define CAPTURE_RUN_STATE_H

#include "child.h"
#include "expect.h"
#include "inspection.h"
#include "machine.h"
#include "run.h"
#include "shim.h"
#include "verdict.h"
#include "view.h"
#include "workplace.h"

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
