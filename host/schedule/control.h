/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The page that `ktrace run` and the schedule plugin share: a file that ktrace fills in before QEMU starts
 * and that both map. All times are virtual: nanoseconds of QEMU's virtual clock since the start of the
 * machine.
 */
#ifndef SCHEDULE_CONTROL_H
#define SCHEDULE_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_MAGIC UINT64_C(0x3730434854584b00) /* changes whenever the structure changes */
#define SCHEDULE_PATH  4096u

#define SCHEDULE_WATCHES      8u     /* maximum number of watched ranges */
#define SCHEDULE_WATCH_MOST   4096u  /* maximum length of a watched range in bytes */
#define SCHEDULE_RECORDS_MOST 65536u /* maximum number of records of accesses */

/* What determines the end of a CPU's slice. */
enum schedule_noise_kind {
	SCHEDULE_TIMERS, /* a random length, chosen when the slice begins */
	SCHEDULE_HOOKS,	 /* a random choice at each hook; if there is none, CPUs take turns */
	SCHEDULE_BOTH,	 /* odd seeds: like SCHEDULE_TIMERS; even seeds: like SCHEDULE_HOOKS */
};

/* Forced switches: a new slice of random length begins whenever the previous slice ends. */
struct schedule_noise {
	uint64_t seed; /* 0: no forced switches */
	uint64_t mean; /* mean length of a slice, in ns; 0: chosen by the seed */
	uint64_t kind; /* enum schedule_noise_kind */
};

#define SCHEDULE_HOOKS_MOST 32u

/* Virtual addresses of the guest's ktrace functions that report locks and threads. */
struct schedule_hooks {
	uint64_t count; /* 0: unknown */
	uint64_t address[SCHEDULE_HOOKS_MOST];
};

enum schedule_end {
	SCHEDULE_RUNS, /* the plugin has not halted the machine */
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
	uint32_t kinds;	  /* a set of enum schedule_kind */
};

/* An access to a watched range. */
struct schedule_access {
	/*
	 * Time at which the CPU began or continued to run. The access occurred at this time or later: the
	 * clock cannot be read while a CPU executes a block.
	 */
	uint64_t time;
	uint64_t code;	  /* virtual address of the instruction */
	uint64_t address; /* virtual address of the first byte that was accessed */
	/*
	 * value of these bytes after the access; if the access is larger than 8 bytes, value of the first 8
	 */
	uint64_t bytes;
	uint64_t word; /* value of the aligned 8 bytes around the first byte, after the access */
	uint32_t size; /* in bytes */
	uint16_t cpu;
	uint8_t watch; /* number of the range */
	uint8_t kind;  /* enum schedule_kind */
	uint8_t known; /* `bytes` and `word` are valid */
	uint8_t padding[7];
};

enum schedule_how {
	SCHEDULE_CALL,	    /* a call instruction led to the function */
	SCHEDULE_INTERRUPT, /* an interrupt or exception led to it, from code of the kernel */
	/* it was entered from code outside the kernel, or it is the first function of a thread */
	SCHEDULE_OTHER,
};

/* A function that was entered. */
struct schedule_entry {
	uint64_t time;	 /* when the function began: exact to one block of code */
	uint64_t code;	 /* virtual address of its first instruction */
	uint64_t caller; /* address of the instruction from which it was entered; 0: unknown */
	uint32_t depth;	 /* number of functions below it on its stack, which have not returned */
	uint16_t cpu;
	uint8_t how; /* enum schedule_how */
	uint8_t padding;
};

/*
 * The virtual time of an event. The plugin stores it when the first word of the event's slot was written,
 * because this word is written last.
 */
struct schedule_mark {
	uint64_t word, position; /* as in struct schedule_control; word 0: there is no mark */
	uint64_t time;		 /* set by the plugin, exact to two blocks of code; 0: not written */
};

#define SCHEDULE_ANY_CPU UINT32_MAX

/*
 * Which functions are recorded: functions in [begin, end), whether they are called from there or from other
 * code.
 */
struct schedule_functions {
	uint64_t begin, end; /* 0, 0: no function is recorded */
	/*
	 * Recording begins when the 8 bytes at this offset of the RAM file have become `word`; 0: at the
	 * start of the machine
	 */
	uint64_t word, position;
	uint32_t cpu;	 /* only this CPU; SCHEDULE_ANY_CPU: all */
	uint32_t listed; /* not 0: only functions whose addresses are in `file` are recorded */
	/*
	 * Before the run, the file contains these addresses, sorted. The plugin replaces them by records of
	 * struct schedule_entry.
	 */
	char file[SCHEDULE_PATH];
};

struct schedule_control {
	uint64_t magic;
	/* Set by ktrace before QEMU starts. */
	struct schedule_noise noise; /* from the start of the machine; until time `change` if that is not 0 */
	struct schedule_noise later; /* from time `change` on; not used if `change` is 0 */
	uint64_t change;
	/*
	 * May be set by the process that becomes QEMU. Used only if the kind of `noise` or `later` needs
	 * hooks.
	 */
	struct schedule_hooks hooks;
	uint64_t deadline; /* time at which the machine is halted; 0: never */
	/*
	 * The machine is halted after 8 bytes of its RAM have become `word`: the first word of a slot, which
	 * is written last. 0: no word is watched.
	 */
	uint64_t word;
	uint64_t position;	   /* file offset of these bytes in the RAM file; a multiple of 8 */
	uint64_t disks;		   /* not 0: the machine has disks; set by the process that becomes QEMU */
	char input[SCHEDULE_PATH]; /* script that is typed on the serial line (parts.h); "": none */
	char ram[SCHEDULE_PATH];   /* the RAM file; set by the process that becomes QEMU */
	struct schedule_functions functions;
	struct schedule_mark mark;
	/* Ranges whose accesses are recorded. */
	struct schedule_watch watch[SCHEDULE_WATCHES];
	uint32_t watches;
	uint32_t records; /* number of elements of `record`; not 0 if ranges are watched */
	/* Set by the plugin. */
	uint64_t now;  /* time at which the machine was halted, or at which QEMU ended; 0: it still runs */
	uint64_t mean; /* mean length of a slice at the beginning, in ns; 0: no forced switches */
	uint64_t cuts; /* slices that were ended */
	uint64_t hook_calls; /* number of times that CPUs executed a hook */
	uint64_t hook_cuts;  /* slices that were ended because of a hook */
	uint32_t end;	     /* enum schedule_end */
	uint32_t padding;
	uint64_t entries; /* number of functions in the file of functions */
	uint32_t failure; /* errno of the last write to this file that failed; 0: none failed */
	/* number of stacks that were given up; for functions on these stacks, `depth` is too small */
	uint32_t forgotten;
	uint64_t accesses; /* number of accesses to watched ranges */
	/* A ring with the newest accesses. Access number n, from 0, is at n % records. */
	struct schedule_access record[];
};

/* Returns the size of the file in bytes. */
static inline size_t schedule_bytes(uint32_t records)
{
	return sizeof(struct schedule_control) + records * sizeof(struct schedule_access);
}

#endif
