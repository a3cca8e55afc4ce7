/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A statistical profile of a guest: samples, which are counted by stack, and reports about them. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/open.h"
#include "base/output.h"
#include "profile/stack.h"

/* ---- The guest ---- */

/*
 * A QEMU whose guest is sampled. ktrace asks QEMU over QMP to open a socket of its gdb server. Over this
 * socket, reading the registers of all CPUs takes a tenth of the time that it takes over QMP.
 */

#define PROFILE_CPUS_MOST 256u

/* Result of profile_target_sample(); errors are negative. */
enum profile_state {
	PROFILE_SAMPLED,
	PROFILE_PAUSED, /* the guest does not run, and was left unchanged */
	PROFILE_ENDED,	/* QEMU has ended */
};

struct profile_target;

/*
 * Connects to QEMU's QMP socket, opens a socket for gdb's protocol, and lists the CPUs. The guest continues
 * as before. If `starts` is set, starts a guest that waits to be started (-S). Returns 0 or an error
 * (capture/error.h). The caller closes *target in any case.
 */
int profile_target_open(struct profile_target **target, const char *qmp, int timeout_ms, bool starts);
/* Closes the sockets. If the guest was running, it continues. */
void profile_target_close(struct profile_target *target);
/* Sets the kernel's call frame information, which later samples use. */
void profile_target_set_frames(struct profile_target *target, stack_find_frame *find, void *context);
/* Halts the guest, reads the registers and the stack of each CPU, and lets the guest run again. */
int profile_target_sample(struct profile_target *target);
/* Asks QEMU to end. */
void profile_target_quit(struct profile_target *target);

/* ELF machine of the guest (e_machine) */
uint16_t profile_target_machine(const struct profile_target *target);
uint32_t profile_target_cpus(const struct profile_target *target);
const struct profile_cpu *profile_target_cpu(const struct profile_target *target, uint32_t cpu);
/* Returns the path of the file that was given to QEMU with -kernel; "" if there is none. */
const char *profile_target_kernel(const struct profile_target *target);
/* Returns the number of seconds for which the last sample halted the guest. */
double profile_target_pause(const struct profile_target *target);

/* ---- Stacks ---- */

/* Counts stacks: a tree whose root is the outermost caller. Its size is bounded. */
/* maximum number of nodes; stacks that need more nodes are counted at the deepest node that exists */
#define PROFILE_NODES_MOST (1u << 18)

struct profile_node {
	uint32_t id; /* number that the caller uses for the frame */
	/* index of the parent, of a child, and of a sibling; 0: there is none */
	uint32_t parent, child, next;
	uint64_t self; /* number of samples in which this frame was the innermost frame */
	/* number of samples in this frame or in the frames that it called; set by profile_tree_sum() */
	uint64_t total;
};

/* The tree of stacks. If all its bytes are 0, it is empty. Node 0 is the root, which is not a frame. */
struct profile_tree {
	struct profile_node *node;
	uint32_t count, room;
	/* number of samples whose stacks were truncated, because the tree was full or memory ran out */
	uint64_t cut;
};

/* Counts a stack. `id`: the ids of its frames, the outermost first. */
void profile_tree_add(struct profile_tree *tree, const uint32_t *id, uint32_t count);
/* Sets `total` in all nodes. */
void profile_tree_sum(struct profile_tree *tree);
void profile_tree_free(struct profile_tree *tree);

/*
 * Number of samples that contain a frame, anywhere in the tree. A recursive function is counted once for each
 * sample.
 */
struct profile_frame {
	uint32_t id;
	uint64_t self, total;
};

/*
 * Lists the frames of the tree. Frames with the largest number of samples of their own (not of frames that
 * they called) come first. Requires: profile_tree_sum() was called. Returns the number of frames, with
 * *frames for the caller to free; 0 with *frames NULL if memory runs out or the tree is empty.
 */
uint32_t profile_tree_frames(const struct profile_tree *tree, struct profile_frame **frames);

/* ---- Profiles ---- */

/* Ids of frames that are not functions of the kernel's file. */
#define PROFILE_ID_UNKNOWN UINT32_MAX	    /* code of the kernel that has no name */
#define PROFILE_ID_USER	   (UINT32_MAX - 1) /* code of a program */

struct profile {
	struct profile_names *names; /* names of the kernel's functions; NULL: the kernel's file is unknown */
	struct profile_tree tree;    /* counted stacks of the CPUs that were not idle */
	uint32_t cpus;
	uint64_t rounds;	     /* number of times that samples of all CPUs were taken */
	uint64_t kernel, user, idle; /* numbers of samples of single CPUs, by what the CPU did */
	/* number of samples of the kernel without any function whose name is known */
	uint64_t unnamed;
	uint64_t alone; /* number of samples of the kernel without any caller */
	/* numbers of samples of the kernel, indexed by the reason why the walk of the stack ended */
	uint64_t ends[STACK_ENDS];
	/* number of times that the guest did not run, so that nothing was sampled */
	uint64_t paused;
	double seconds; /* seconds from the first sample to the last */
	double halted;	/* seconds for which samples have halted the guest */
};

/* Counts the sample that profile_target_sample() has read. */
void profile_free(struct profile *profile);

/* ---- A QEMU that is started for profiling ----- */

struct profile_child {
	pid_t pid;			   /* process id of QEMU; 0: QEMU was not started, or has ended */
	char directory[BASE_PRIVATE_ROOM]; /* path of a private directory; "": none */
	char qmp[PATH_MAX];		   /* path of the socket of QEMU's QMP server */
	bool starts;			   /* true if QEMU waits until the profiler starts the guest */
};

/*
 * Starts QEMU with a QMP socket. `command`: QEMU's program and options. `mask`: the signals that are blocked
 * in QEMU. The caller calls profile_child_end() in any case. Returns 0, or an error (capture/error.h): the
 * program is not QEMU, or cannot be started.
 */
int profile_child_start(struct profile_child *child, char *const *command, const sigset_t *mask);
/* Waits until the QMP socket exists. Returns 0, or an error if QEMU ends before that. */
int profile_child_await(struct profile_child *child);
/* Waits until QEMU has ended, and removes the directory. Kills a QEMU that does not end in time. */
void profile_child_end(struct profile_child *child);

/* ---- Sampling ---- */

/* The reason why profile_run() has returned; errors are negative. */
enum profile_stop {
	PROFILE_STOP_LIMIT,  /* `seconds` have passed, or `samples` samples of each CPU were taken */
	PROFILE_STOP_ENDED,  /* QEMU has ended */
	PROFILE_STOP_SIGNAL, /* a signal has arrived at the descriptor `signals` */
};

struct profile_options {
	double rate;	  /* number of samples of each CPU per second */
	double seconds;	  /* maximum duration of sampling; 0: no limit */
	uint64_t samples; /* number of samples of each CPU; 0: no limit */
	int signals;	  /* descriptor that becomes readable when sampling must end */
	/* called with `context` when the guest is found paused, once for each pause */
	void (*on_pause)(void *context);
	void *context;
};

/*
 * Samples the guest. The times of the samples vary at random, so that they do not coincide with timers of the
 * guest. If samples would halt the guest for more than 1/25 of the time, takes fewer samples. Returns enum
 * profile_stop or an error. Samples from before an error are counted.
 */
int profile_run(struct profile *profile, struct profile_target *target,
		const struct profile_options *options);

/* ---- Reports ---- */

/* Writes one line about all samples. */
void profile_put_summary(const struct profile *profile, char *text, size_t size);
/* Writes a table of at most `limit` functions; if `limit` is 0, writes all functions. */
void profile_put_table(struct base_output *out, struct profile *profile, uint32_t limit);
/* Writes a line "outermost;…;innermost COUNT" for each stack, as flamegraph.pl reads them. */
void profile_put_folded(struct base_output *out, const struct profile *profile);
#define PROFILE_JSON_VERSION 1u
void profile_put_json(struct base_output *out, struct profile *profile);
/* Draws a flame graph. */
void profile_put_svg(struct base_output *out, struct profile *profile);

/* Returns the name of a frame. The name may contain any bytes of the kernel's file. */
const char *profile_name(const struct profile *profile, uint32_t id);

#endif
