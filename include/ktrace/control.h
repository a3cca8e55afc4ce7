/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Setting ktrace up and steering it. Nothing here is needed to record: events go to a static ring from the
 * first instruction. ktrace_init() gives each CPU a ring of its own.
 *
 * Unless a function says otherwise it may be called from any context, never waits, and needs no lock, but two
 * calls that change the same thing must not run at the same time. Errors are negative enum ktrace_error.
 */
#ifndef KTRACE_CONTROL_H
#define KTRACE_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/v2.h"
#include "ktrace/compiler.h"

KTRACE_BEGIN_C

enum ktrace_error {
	KTRACE_OK = 0,
	KTRACE_ERROR_ARGUMENT = -1,    /* a field or parameter is out of range */
	KTRACE_ERROR_MEMORY = -2,      /* the memory lent is too small */
	KTRACE_ERROR_STATE = -3,       /* not before ktrace_init(), or not twice */
	KTRACE_ERROR_NO_EVENT = -4,    /* the pattern matches no event */
	KTRACE_ERROR_SYNTAX = -5,      /* the text cannot be understood */
	KTRACE_ERROR_DEVICE = -6,      /* a transport is absent or failed */
	KTRACE_ERROR_NO_SETTING = -7,  /* no setting has that name */
	KTRACE_ERROR_READ_ONLY = -8,   /* the setting can only be read */
	KTRACE_ERROR_BUSY = -9,	       /* another CPU is at it, or did not answer in time: try again */
	KTRACE_ERROR_NO_PROCESS = -10, /* no process is meant by that number */
	KTRACE_ERROR_PERMISSION = -11, /* none of those that are meant may be traced by the caller */
	KTRACE_ERROR_FAULT = -12,      /* the program's memory cannot be reached there */
	KTRACE_ERROR_LOST = -13,       /* there was no room to record it */
	KTRACE_ERROR_EXIST = -14,      /* there is one already */
	KTRACE_ERROR_LEFT_OUT = -15,   /* the kernel was compiled without it */
};

/* The root: what a reader looks for, in the image. Readable at any time; written by ktrace alone. */
extern KTRACE_HIDDEN struct ktrx_root ktrace_root;

/*
 * A piece of memory lent for ever: mapped on all CPUs, writable, nobody else's. Aligned to 64 bytes or it is
 * cut.
 */
struct ktrace_memory {
	void *base;
	size_t size; /* bytes */
};

struct ktrace_config {
	uint32_t size;	  /* sizeof(struct ktrace_config): tells versions apart */
	uint32_t cpus;	  /* CPUs to make rings for, 1 to KTRACE_MAX_CPUS; 0 = 1 */
	uint32_t slots;	  /* slots of each ring, a power of two, 512 to 2^30; 0 = as many as fit */
	uint32_t policy;  /* KTRX_POLICY_OVERWRITE or KTRX_POLICY_STOP, for the CPUs' rings */
	uint32_t threads; /* most threads to keep names of; 0 = none */
	/*
	 * Most threads to keep what they hold and wait for (ktrace/hooks.h); 256 bytes each, and as much for
	 * each CPU. 0 = none, nor what CPUs hold.
	 */
	uint32_t holders;
	uint32_t counters; /* nonzero: counts a CPU and event, 8 bytes each; 0: one shared count an event */
	uint32_t blocks;   /* entries in memory[] */
	uint32_t build_id_size;
	uint32_t panic_goes_on; /* nonzero: sets debug.ktr.panic_goes_on: a panic does not stop recording */
	const struct ktrace_memory *memory; /* read during the call only; the memory itself stays lent */
	const void *build_id;		    /* the kernel's GNU build id, in its image; NULL = none */
	const char *kernel;		    /* name and version, copied, at most 63 bytes; NULL = none */
	uint64_t frequency; /* of the clock, ticks a second; 0 = what the CPU says, or the host measures */
	uint64_t wall_ns;   /* Unix time now in ns; 0 = unknown */
	/*
	 * Physical address of a virtual one. Called for the root and each 4 KiB page of lent memory during
	 * ktrace_init(), for the reserve word during ktrace_cpu_online(). Lent memory is cut where it is not
	 * contiguous; a ring needs one piece. NULL: memory lent is physically contiguous, and reserve words
	 * lie in the image or in lent memory.
	 */
	uint64_t (*physical)(const volatile void *address);
	/*
	 * The kernel's system calls and errors, "0 read" a line; spec/ktrx.md, section 3, has all that can be
	 * said of them. In its image or in lent memory, readable for ever; NULL = unknown.
	 */
	const char *syscalls;
	uint32_t clocks; /* enum ktrace_clocks of ktrace/clock.h: 0, or 1224 bytes a CPU */
	/*
	 * Has that CPU call ktrace_clock_serve() soon, in an interrupt; must not wait. Called with interrupts
	 * off. NULL: its tick has to do.
	 */
	void (*interrupt)(uint32_t cpu);
	/*
	 * Rows a CPU, of 320 bytes, in which repetitions of events with KTRX_EVENT_FOLD are counted, at most
	 * 64; each serves one event at a time. 0: such events are recorded each time.
	 */
	uint32_t folds;
	/*
	 * Slots of the ring that all CPUs share for events with KTRX_EVENT_RARE, a power of two from 512 on.
	 * 0: those go into the CPUs' rings like all others.
	 */
	uint32_t rare_slots;
	/*
	 * How many earlier boots stay readable after a reset, at most 7; 0: none. The memory lent must then
	 * be the same each boot, survive the reset, and not be cleared by anybody: it is divided into keep +
	 * 1 equal parts, and each boot takes the one that was used the longest ago. Costs 32 bytes a slot of
	 * the boot ring, 128 a ring and a copy of the event table.
	 */
	uint32_t keep;
};
#define KTRACE_FOLDS_MAX 64u
#define KTRACE_KEEP_MAX	 7u

/*
 * Gives each CPU a ring of its own in lent memory. Once, on one CPU, when every CPU that records by KTRACE()
 * has a valid per-CPU area with a zero reserve word. What was recorded before stays readable. CPUs go on to
 * use the boot ring until ktrace_cpu_online() was called on them. Errors: ARGUMENT, MEMORY, STATE (called
 * before); ktrace goes on with the boot ring alone.
 */
int ktrace_init(const struct ktrace_config *config);

/*
 * Calls ktrace_init() with static memory of `bytes` and returns its result. The other arguments, at least
 * one, initialise fields of the configuration; the macro sets size, blocks and memory. All are constants. For
 * use in a function:
 *     int error = KTRACE_INIT(1 << 20, .cpus = 4, .threads = 256, .kernel = "mykernel 0.1");
 */
#define KTRACE_INIT(bytes, ...)                                                                        \
	__extension__({                                                                                \
		static uint8_t ktrace_lent[bytes] __attribute__((__aligned__(4096)));                  \
		static const struct ktrace_memory ktrace_piece = { ktrace_lent, sizeof(ktrace_lent) }; \
		static struct ktrace_config ktrace_fields = { __VA_ARGS__ };                           \
		ktrace_fields.size = sizeof(ktrace_fields);                                            \
		ktrace_fields.blocks = 1;                                                              \
		ktrace_fields.memory = &ktrace_piece;                                                  \
		ktrace_init(&ktrace_fields);                                                           \
	})

/*
 * Which boot this is of those that the memory lent with `keep` has seen, from 1: greater than 1 after a
 * reset. 0: none is kept.
 */
uint64_t ktrace_boot(void);

/*
 * Starts this CPU's own ring. Called on that CPU (0 to cpus - 1, as ktrace_arch_cpu() counts), with
 * interrupts off, after ktrace_init(). Errors: STATE (no ktrace_init(), online already), ARGUMENT (no such
 * CPU; the port's reserve word is another CPU's, as if ktrace_arch_cpu() were missing). After an error the
 * CPU's events go on into the boot ring, or into the ring of the CPU that the port takes it for.
 */
int ktrace_cpu_online(uint32_t cpu);

/*
 * Names a thread, at most 27 bytes, copied. A name given again replaces the old one, a full table forgets
 * its oldest row. Calls for one thread must not run at the same time. Errors: STATE before ktrace_init(),
 * ARGUMENT (id above KTRX_THREAD_MAX), MEMORY (no table).
 */
int ktrace_thread_name(uint32_t thread, const char *name);

/*
 * From the tick of each CPU: it is alive, and was interrupted at `pc`. Here, too, requests of a host are
 * carried out, by one CPU at a time. No effect before ktrace_cpu_online().
 */
void ktrace_heartbeat(uint64_t pc);

/*
 * Says what this CPU does from now on: KTRX_MODE_*. A few instructions; no effect before
 * ktrace_cpu_online().
 */
void ktrace_mode(uint8_t mode);

/*
 * Stops and resumes recording everywhere. Recording is on from the start. Stopped, each site costs a load
 * and a branch.
 */
void ktrace_start(void);
void ktrace_stop(void);
int ktrace_is_started(void);

/* Forgets what was recorded and counted: what follows is all that a reader shows. */
void ktrace_clear(void);

/*
 * Copies the trace as it is now into memory, as one KTRX version 2 dump, while recording goes on: the state
 * at a moment, kept from being overwritten. Memory is aligned to 8 bytes; *bytes gets the bytes of the dump.
 * With too little memory the error is MEMORY and *bytes what is needed. STATE: rings came or went meanwhile,
 * try again.
 */
int ktrace_snapshot(void *memory, size_t size, size_t *bytes);

/*
 * Sets events and settings by name, items set apart by commas or blanks, from left to right up to the first
 * error:
 *   PATTERN=WORD+WORD…  on, off, count, both (counts and records), stop (records once, then stops all
 *                       recording);
 *                       callers0, callers1, callers2, site, nosite: what its records carry; fold, nofold:
 *                       whether repetitions are counted instead; rare, norare: which ring; all leaving the
 *                       rest as it is
 *   PATTERN, -PATTERN   on, off
 *   SETTING=VALUE       see settings.h
 * Patterns know * and ?; one without a dot is a group. The library's own group "ktrace" (the panic message)
 * matches only patterns that begin with its name. Errors: SYNTAX, NO_EVENT, those of ktrace_setting_set().
 */
int ktrace_control(const char *text);

/*
 * The same from a kernel's command line, arguments set apart by blanks:
 *   debug=ktrace           turns all events on; so does debug=ktrace-all
 *   debug=sched,mm         turns these groups on and all others off; debug=ktrace,sched,mm and
 *                          debug=ktrace-sched,ktrace-mm mean the same
 *                          Several debug= add up: debug=ktrace debug=mm turns all events on, debug=sched
 *                          debug=mm two groups.
 *                          The library's own group "ktrace", which holds the panic message, stays as it is.
 *   ktrace=LIST            goes to ktrace_control(), after debug=
 *   SETTING=VALUE          likewise; names outside debug.ktr. that are no setting belong to somebody else
 * Without any of them nothing changes. An argument with an error does not keep the others from being applied.
 * Returns the first error: as ktrace_control(); NO_EVENT for a name in debug= that is no group.
 * ktrace_refused() gives the word, ktrace_console_refusal() prints it with a suggestion. A kernel that has
 * categories of its own in debug= ignores NO_EVENT for these words.
 */
int ktrace_boot_argument(const char *command_line);

/*
 * The word that the last call stopped at that failed: ktrace_control(), ktrace_boot_argument(),
 * ktrace_setting_set(), or what ktrace/console.h shows. Within the text given to it, so good for as long as
 * that is; its length in *length, 0 if nothing failed yet.
 */
const char *ktrace_refused(size_t *length);

/*
 * Calls back with the names of events, groups and settings, at most 3, that such a word was perhaps meant to
 * be: those that differ in the fewest letters, up to 4, or the word is an event's name without its group. A
 * word's minus and what follows its equals sign do not count. Returns how many; 0 for a word that names
 * something.
 */
typedef void ktrace_near_visit(void *cookie, const char *name);
uint32_t ktrace_control_near(const char *word, size_t length, ktrace_near_visit *visit, void *cookie);

/* Called once when the kernel says that it ends, on that CPU: where a transport dumps. NULL takes it away. */
typedef void ktrace_end_hook(void *cookie);
void ktrace_set_end_hook(ktrace_end_hook *hook, void *cookie);

/*
 * Says how the kernel ended: leaves the outcome in the root, records the message, stops recording unless
 * told to go on, and calls the end hook. Any context, more than once (the first outcome stays, the hook is
 * called once).
 */
void ktrace_panic(const char *message);
void ktrace_exit(int status);

/*
 * Ticks of the clock that a thousand events cost, measured here and now: the best of a few runs, which leave
 * about 100 events ktrace.probe in this CPU's ring. 0 if that event does not record. The figure is kept in
 * the setting debug.ktr.cost, from which a host knows what the trace itself cost; so a kernel calls this
 * once, at boot.
 */
uint64_t ktrace_probe_cost(void);

/*
 * Returns whether ktrace_backtrace() was compiled in. It follows frame pointers: a kernel that is compiled
 * with them (-fno-omit-frame-pointer) defines KTRACE_FRAME_POINTERS, see config.h. Events that record callers
 * find them in the same way.
 */
int ktrace_has_backtrace(void);

/*
 * Return addresses, nearest first, at most `most`: the first one lies in the function that calls this, the
 * next in its caller. Returns how many; 0 where it was not compiled in. Any context; nothing but the current
 * stack is read.
 */
uint32_t ktrace_backtrace(uintptr_t *addresses, uint32_t most);

KTRACE_END_C

#endif
