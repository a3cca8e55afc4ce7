/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Declarations shared by target.c, which connects to QEMU, and sample.c, which samples its guest. */
#ifndef PROFILE_TARGET_STATE_H
#define PROFILE_TARGET_STATE_H

#include "capture/gdb.h"
#include "capture/qmp.h"
#include "profile/profile.h"

#define PROFILE_CPU_NAME 44u
#define PROFILE_CODES	 512u /* number of pieces of code in the cache, a power of two */

/* A piece of memory that ktrace has asked QEMU for. */
struct profile_piece {
	enum { PROFILE_PIECE_NONE, PROFILE_PIECE_STACK, PROFILE_PIECE_TOP, PROFILE_PIECE_CODE } kind;
	uint64_t address;
	size_t size;
};
#define PROFILE_PIECES 3u

struct profile_target_cpu {
	struct profile_cpu seen;
	char name[PROFILE_CPU_NAME]; /* name of the CPU in gdb's protocol (a thread) */
	struct profile_piece piece[PROFILE_PIECES];
	bool has_top; /* true if the word at the stack pointer was read, cannot be read, or is not needed */
	/*
	 * The piece of the stack that is read together with the registers. It begins at the address at which
	 * the stack was in the last sample, because the stack is usually still at that address. If the size
	 * is 0, there is no such piece.
	 */
	uint64_t guess;
	size_t guess_size;
};

/* Cached code of the kernel, which is assumed not to change. */
struct profile_code {
	uint64_t address; /* address of the instruction after the code */
	bool known;
	unsigned char bytes[PROFILE_CODE]; /* the bytes; all zeros if the code cannot be read */
};

struct profile_target {
	struct capture_monitor monitor;
	struct gdb gdb;
	struct gdb_batch batch;
	bool connected; /* true if the gdb socket is open */
	bool serving;	/* true if QEMU was asked to open the gdb socket */
	bool was_running;
	bool halted;  /* true if a sample has halted the guest */
	bool resumes; /* true if the last message to QEMU resumed the guest */
	bool ended;   /* true if QEMU has closed the QMP connection */
	char directory[BASE_PRIVATE_ROOM], socket[PATH_MAX];
	char kernel[PATH_MAX];
	uint16_t machine;
	struct profile_target_cpu *cpu;
	uint32_t cpus;
	double pause;
	stack_find_frame *find; /* finds call frame information, with `context`; NULL: there is none */
	void *context;
	struct profile_code code[PROFILE_CODES];
};

/* Lets the guest run again. Returns 0 or an error. */
int profile_target_resume(struct profile_target *target);
/* Discards the events that QEMU has sent. Returns true if QEMU has closed the connection within `ms`. */
bool profile_target_has_ended(struct profile_target *target, int ms);

#endif
