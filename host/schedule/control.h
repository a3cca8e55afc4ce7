/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The page that `ktrace run` and the schedule plugin share: a file that ktrace fills in before QEMU starts and
 * that both map. All times are virtual: nanoseconds of QEMU's virtual clock since the start of the machine.
 */
#ifndef SCHEDULE_CONTROL_H
#define SCHEDULE_CONTROL_H

#include <stdint.h>

#define SCHEDULE_MAGIC UINT64_C(0x3330434854584b00) /* changes whenever the structure changes */
#define SCHEDULE_PATH  4096u

/* Forced switches: a new slice of random length begins whenever the previous slice ends. */
struct schedule_noise {
	uint64_t seed; /* 0: no forced switches */
	uint64_t mean; /* mean length of a slice, in ns; 0: drawn from the seed */
};

enum schedule_end {
	SCHEDULE_RUNS, /* the plugin has not halted the machine */
	SCHEDULE_DEADLINE,
	SCHEDULE_WORD, /* the watched word was written */
};

struct schedule_control {
	uint64_t magic;
	/* Set by ktrace before QEMU starts. */
	struct schedule_noise noise; /* from the start of the machine */
	struct schedule_noise later; /* from time `change` on; not used if `change` is 0 */
	uint64_t change;
	uint64_t deadline; /* time at which the machine is halted; 0: never */
	/*
	 * The machine is halted after 8 bytes of its RAM have become `word`: the first word of a slot, which is
	 * written last. 0: no word is watched.
	 */
	uint64_t word;
	uint64_t position;	   /* file offset of these bytes in the RAM file; a multiple of 8 */
	uint64_t disks;		   /* not 0: the machine has disks; set by the process that becomes QEMU */
	char input[SCHEDULE_PATH]; /* script that is typed on the serial line (input.h); "": none */
	char ram[SCHEDULE_PATH];   /* the RAM file; set by the process that becomes QEMU */
	/* Set by the plugin. */
	uint64_t now;  /* time at which the machine was halted, or at which QEMU ended; 0: it still runs */
	uint64_t mean; /* mean length of a slice at the beginning, in ns; 0: no forced switches */
	uint64_t cuts; /* slices that were ended */
	uint32_t end;  /* enum schedule_end */
	uint32_t padding;
};

#endif
