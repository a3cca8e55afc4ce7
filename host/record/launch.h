/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How recording begins: with a command, or with processes that are there; and the signals that concern us
 * meanwhile.
 */
#ifndef RECORD_LAUNCH_H
#define RECORD_LAUNCH_H

#include "record/tracees.h"

struct record_plan {
	const char *path; /* of the file */
	bool append;
	uint32_t facilities; /* 1 << KTRX_PROC_* */
	bool inherit;
	bool descend; /* of targets, their descendants, too: of a group's as well */
	pid_t pid;    /* a target, 0: none */
	pid_t group;  /* all of that process group, 0: none */
};

/* What is to be told when it is over. */
struct record_outcome {
	const char *what; /* what failed: a path, "fork", …; NULL: nothing */
	int error;	  /* and why, an errno */
	int status;	  /* of the command, as wait() has it; -1 if it goes on */
};

/*
 * Runs a command and records it until all that is recorded has ended. 0, or a positive errno with
 * outcome->what.
 */
int record_command(const struct record_plan *plan, char *const *command, struct record_outcome *outcome);

/*
 * Attaches to the plan's targets in a process of its own, which goes on in the background; returns when all
 * are attached. 0, or a positive errno with outcome->what.
 */
int record_targets(const struct record_plan *plan, struct record_outcome *outcome);

#endif
