/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A statistical profile of a guest: samples that are counted by stack, and how they are printed. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "profile/names.h"
#include "profile/target.h"
#include "profile/tree.h"

/* Ids of frames that are not functions of the kernel's file. */
#define PROFILE_ID_UNKNOWN UINT32_MAX	    /* code of the kernel that has no name */
#define PROFILE_ID_USER	   (UINT32_MAX - 1) /* code of a program */

struct profile {
	struct profile_names *names; /* NULL: the kernel's file is unknown */
	struct profile_tree tree;    /* stacks of CPUs that were not idle */
	uint32_t cpus;
	uint64_t rounds;	     /* number of times that all CPUs were sampled */
	uint64_t kernel, user, idle; /* number of samples of single CPUs, by what the CPU did */
	/* number of samples of the kernel, indexed by how the walk of the stack ended */
	uint64_t ends[PROFILE_ENDS];
	/* number of times that the guest did not run, so that nothing was sampled */
	uint64_t paused;
	double seconds; /* seconds from the first sample to the last */
	double halted;	/* seconds for which samples have halted the guest */
};

/* Counts what profile_target_sample() has read. */
void profile_count(struct profile *profile, const struct profile_target *target);
void profile_free(struct profile *profile);

/* ---- Sampling ---- */

/* Why profile_run() has returned; errors are negative. */
enum profile_stop {
	PROFILE_STOP_LIMIT,  /* `seconds` have passed, or `samples` samples of each CPU were taken */
	PROFILE_STOP_ENDED,  /* QEMU has ended */
	PROFILE_STOP_SIGNAL, /* a signal has arrived at the descriptor `signals` */
};

struct profile_options {
	double rate;	  /* number of samples of each CPU per second */
	double seconds;	  /* duration; 0: no limit */
	uint64_t samples; /* number of samples of each CPU; 0: no limit */
	int signals;	  /* descriptor that becomes readable when sampling must end */
};

/*
 * Samples the guest. The times of the samples vary at random, so that they do not coincide with timers of the
 * guest. If samples would take more than 1/25 of the time, takes fewer samples. Returns enum profile_stop or
 * an error. What was sampled before an error is counted.
 */
int profile_run(struct profile *profile, struct profile_target *target,
		const struct profile_options *options);

/* ---- Reports ---- */

/* Writes one line about all samples. */
void profile_put_summary(const struct profile *profile, char *text, size_t size);
/* Writes a table of at most `limit` functions; if `limit` is 0, of all functions. */
void profile_put_table(struct base_output *out, struct profile *profile, uint32_t limit);
/* Writes a line "outermost;…;innermost COUNT" for each stack, as flamegraph.pl reads them. */
void profile_put_folded(struct base_output *out, const struct profile *profile);
#define PROFILE_JSON_VERSION 1u
void profile_put_json(struct base_output *out, struct profile *profile);
/* Draws a flame graph. */
void profile_put_svg(struct base_output *out, struct profile *profile);

/* Returns the name of a frame. It may contain any bytes of the kernel's file. */
const char *profile_name(const struct profile *profile, uint32_t id);

#endif
