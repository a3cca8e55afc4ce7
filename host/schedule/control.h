/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The control file: a page that `ktrace run` and the schedule plugin share. ktrace fills it in before QEMU
 * starts, and both map it. All times are virtual: nanoseconds of QEMU's virtual clock since the start of the
 * machine.
 */
#ifndef SCHEDULE_CONTROL_H
#define SCHEDULE_CONTROL_H

#include <stddef.h>
#include <stdint.h>

/* version of this structure, which changes whenever the structure changes */
#define SCHEDULE_MAGIC UINT64_C(0x3830434854584b00)
#define SCHEDULE_PATH  4096u

#define SCHEDULE_WATCHES      8u     /* maximum number of watched ranges */
#define SCHEDULE_WATCH_MOST   4096u  /* maximum length of a watched range in bytes */
#define SCHEDULE_RECORDS_MOST 65536u /* maximum number of records of accesses */

/* What ends a CPU's time slice. */
enum schedule_noise_kind {
	SCHEDULE_TIMERS, /* a timer, set to a random time when the slice begins */
	SCHEDULE_HOOKS,	 /* a random decision at each hook; without hooks, CPUs take turns */
	SCHEDULE_BOTH,	 /* like SCHEDULE_TIMERS if the seed is odd, like SCHEDULE_HOOKS if it is even */
};

/* Forced switches between CPUs: whenever a CPU's time slice ends, a new slice of random length begins. */
struct schedule_noise {
	uint64_t seed; /* the seed; 0: no forced switches */
	uint64_t mean; /* mean length of a slice, in ns; 0: the seed determines it */
	uint64_t kind; /* an enum schedule_noise_kind */
};

#define SCHEDULE_HOOKS_MOST 32u

/* Virtual addresses of the guest's hooks: the ktrace functions that report locks and threads. */
struct schedule_hooks {
	uint64_t count; /* number of addresses; 0: unknown */
	uint64_t address[SCHEDULE_HOOKS_MOST];
};

enum schedule_end {
	SCHEDULE_RUNS, /* the plugin has not halted the machine (yet) */
	SCHEDULE_DEADLINE,
	SCHEDULE_WORD, /* the watched word was written */
};

enum schedule_kind {
	SCHEDULE_READ = 1,
	SCHEDULE_WRITE = 2,
};

/* A range of memory. Accesses to it are recorded. */
struct schedule_watch {
	uint64_t address; /* virtual address */
	uint32_t length;  /* in bytes, from 1 to SCHEDULE_WATCH_MOST */
	uint32_t kinds;	  /* accesses that are recorded, a set of enum schedule_kind */
};

/* An access to a watched range. */
struct schedule_access {
	/*
	 * Time at which the CPU began or continued to run before the access. The access itself may be later,
	 * because the clock cannot be read while a CPU executes a block.
	 */
	uint64_t time;
	uint64_t code;	  /* virtual address of the instruction */
	uint64_t address; /* virtual address of the first byte that was accessed */
	/*
	 * value of these bytes after the access; if the access is larger than 8 bytes, value of the first 8
	 */
	uint64_t bytes;
	uint64_t word; /* value of the aligned 8 bytes around the first byte, after the access */
	uint32_t size; /* size of the access in bytes */
	uint16_t cpu;
	uint8_t watch; /* number of the range */
	uint8_t kind;  /* kind of the access, an enum schedule_kind */
	uint8_t known; /* `bytes` and `word` are valid */
	uint8_t padding[7];
};

enum schedule_how {
	SCHEDULE_CALL,	    /* a call instruction led to the function */
	SCHEDULE_INTERRUPT, /* an interrupt or exception led to it, from code of the kernel */
	/* it was entered from code outside of the kernel, or it is the first function of a thread */
	SCHEDULE_OTHER,
};

/* A function that was entered. */
struct schedule_entry {
	uint64_t time;	 /* time at which the function began; accurate to one block of code */
	uint64_t code;	 /* virtual address of its first instruction */
	uint64_t caller; /* address of the instruction from which it was entered; 0: unknown */
	uint32_t depth;	 /* depth: number of functions below it on its stack that have not returned */
	uint16_t cpu;
	uint8_t how; /* an enum schedule_how */
	uint8_t padding;
};

/*
 * The virtual time of an event. The plugin stores it when the first word of the event's slot is written,
 * which is the last word of the slot to be written.
 */
struct schedule_mark {
	uint64_t word, position; /* as in struct schedule_control; if `word` is 0, there is no mark */
	/* time, set by the plugin, accurate to two blocks of code; 0: the word has not been written */
	uint64_t time;
};

#define SCHEDULE_ANY_CPU UINT32_MAX

/* The functions that are recorded: functions in [begin, end), no matter from where they are called. */
struct schedule_functions {
	uint64_t begin, end; /* 0, 0: no function is recorded */
	/*
	 * Recording begins when the 8 bytes at this offset of the RAM file have become `word`; 0: at the
	 * start of the machine
	 */
	uint64_t word, position;
	uint32_t cpu;	 /* only functions entered on this CPU; SCHEDULE_ANY_CPU: on all CPUs */
	uint32_t listed; /* if not 0, only functions whose addresses are in `file` are recorded */
	/*
	 * Before the run, the file contains these addresses, sorted. The plugin replaces them by records of
	 * struct schedule_entry.
	 */
	char file[SCHEDULE_PATH];
};

struct schedule_control {
	uint64_t magic;
	/* Members that ktrace sets before QEMU starts. */
	/* noise from the start of the machine, until time `change` if that is not 0 */
	struct schedule_noise noise;
	struct schedule_noise later; /* noise from time `change` on; not used if `change` is 0 */
	uint64_t change;
	/*
	 * Addresses of hooks. The process that executes QEMU may set them. Used only if the kind of `noise`
	 * or `later` needs hooks.
	 */
	struct schedule_hooks hooks;
	uint64_t deadline; /* time at which the machine is halted; 0: never */
	/*
	 * The machine is halted after 8 bytes of its RAM have become `word`: the first word of a slot, which
	 * is written last. 0: no word is watched.
	 */
	uint64_t word;
	uint64_t position; /* file offset of these bytes in the RAM file; a multiple of 8 */
	/* if not 0, the machine has disks; set by the process that executes QEMU */
	uint64_t disks;
	/* path of the script that is typed on the serial line (parts.h); "": none */
	char input[SCHEDULE_PATH];
	char ram[SCHEDULE_PATH]; /* path of the RAM file; set by the process that executes QEMU */
	struct schedule_functions functions;
	struct schedule_mark mark;
	/* Ranges whose accesses are recorded. */
	struct schedule_watch watch[SCHEDULE_WATCHES];
	uint32_t watches;
	uint32_t records; /* number of elements of `record`; not 0 if ranges are watched */
	/* Members that the plugin sets. */
	/* time at which the machine was halted, or at which QEMU ended; 0: the machine still runs */
	uint64_t now;
	uint64_t slice_end; /* time at which the slice ends; valid even if QEMU was killed */
	/* mean length in ns of a slice, or of a delay at a hook, for the first seed; 0: no forced switches */
	uint64_t mean;
	uint64_t cuts;	     /* number of slices that were ended */
	uint64_t hook_calls; /* number of times that CPUs executed a hook */
	uint64_t hook_cuts;  /* number of slices that were ended because of a hook */
	uint32_t end;	     /* an enum schedule_end */
	uint32_t padding;
	uint64_t entries; /* number of entries in the file of functions */
	uint32_t failure; /* errno of the last write to this file that failed; 0: none failed */
	/* number of stacks that were dropped; for functions on these stacks, `depth` is too small */
	uint32_t forgotten;
	uint64_t accesses; /* number of accesses to watched ranges */
	/*
	 * A circular buffer of the newest accesses. Access number n, counted from 0, is at index n % records.
	 */
	struct schedule_access record[];
};

/* Returns the size of the file in bytes. */
static inline size_t schedule_bytes(uint32_t records)
{
	return sizeof(struct schedule_control) + records * sizeof(struct schedule_access);
}

#endif
