/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sets up and controls ktrace. Recording does not need any of these functions: from the first instruction,
 * events go to a static boot ring. ktrace_init() gives each CPU its own ring.
 *
 * Unless stated otherwise, a function may be called from any context, does not wait, and needs no lock.
 * Requires: calls that change the same setting, event or table do not run at the same time.
 * Functions that return int return KTRACE_OK or a negative enum ktrace_error. Comments name errors without
 * the prefix KTRACE_ERROR_.
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
	KTRACE_ERROR_ARGUMENT = -1, /* an argument or a member of a structure is out of range */
	KTRACE_ERROR_MEMORY = -2,   /* the memory that the caller provides is too small */
	/*
	 * the function was called too early, or was called a second time; the comment of each function states
	 * which of these it reports
	 */
	KTRACE_ERROR_STATE = -3,
	KTRACE_ERROR_NO_EVENT = -4,   /* the pattern matches no event */
	KTRACE_ERROR_SYNTAX = -5,     /* the text has a syntax error */
	KTRACE_ERROR_DEVICE = -6,     /* a device is absent or failed */
	KTRACE_ERROR_NO_SETTING = -7, /* no setting has that name */
	KTRACE_ERROR_READ_ONLY = -8,  /* the setting can only be read */
	/* another CPU is doing the same operation, or did not answer in time: try again */
	KTRACE_ERROR_BUSY = -9,
	KTRACE_ERROR_NO_PROCESS = -10, /* no process or process group has that number */
	KTRACE_ERROR_PERMISSION = -11, /* the caller may not trace any of these processes */
	KTRACE_ERROR_FAULT = -12,      /* the program's memory at that address is not accessible */
	KTRACE_ERROR_LOST = -13,       /* the record was lost, because there was no room for it */
	KTRACE_ERROR_EXIST = -14,      /* an object that conflicts with the new object already exists */
	KTRACE_ERROR_LEFT_OUT = -15,   /* the kernel was compiled without this function */
};

/*
 * The root of the trace, in the kernel image. A reader finds the root by a search of memory. Any code may
 * read the root at any time; only ktrace writes to it.
 */
extern KTRACE_HIDDEN struct ktrx_root ktrace_root;

/*
 * A piece of memory that belongs to ktrace as long as the kernel runs. Requires: the memory is mapped and
 * writable on all CPUs, and is used for nothing else.
 * ktrace rounds the beginning up, and the remaining size down, to multiples of 64 bytes.
 */
struct ktrace_memory {
	void *base;
	size_t size; /* size of the memory in bytes */
};

struct ktrace_config {
	uint32_t size;	  /* sizeof(struct ktrace_config): identifies the version of the structure */
	uint32_t cpus;	  /* number of CPUs to make rings for, 1 to KTRACE_MAX_CPUS; 0 = 1 */
	uint32_t slots;	  /* number of slots of each ring: a power of two, 512 to 2^30; 0 = as many as fit */
	uint32_t policy;  /* what a full ring of a CPU does: KTRX_POLICY_OVERWRITE or KTRX_POLICY_STOP */
	uint32_t threads; /* maximum number of thread names; 0 = none */
	/*
	 * The maximum number of threads whose state ktrace stores: the locks that they hold, and what they
	 * wait for (ktrace/hooks.h). Each thread and each CPU needs 320 bytes. If there are more threads,
	 * ktrace stores nothing for the excess threads, and counts the hooks that they call. Set this to a
	 * third more than the number of threads, because a thread may find no free entry if nearly all
	 * entries are in use. 0: ktrace stores nothing, neither for threads nor for CPUs.
	 */
	uint32_t holders;
	/*
	 * nonzero: each event has a counter for each CPU, 8 bytes each; 0: each event has one counter that
	 * all CPUs share
	 */
	uint32_t counters;
	uint32_t blocks; /* number of entries in memory[] */
	uint32_t build_id_size;
	/* nonzero: sets debug.ktr.panic_goes_on, so that a panic does not stop recording */
	uint32_t panic_goes_on;
	/*
	 * Describes ktrace's memory. ktrace reads this array only during the call, but the memory that the
	 * entries describe belongs to ktrace as long as the kernel runs.
	 */
	const struct ktrace_memory *memory;
	const void *build_id; /* the GNU build id, in the kernel's image; NULL = none */
	/* name and version of the kernel; at most 63 bytes are copied; NULL = none */
	const char *kernel;
	/* clock ticks per second; 0 = unknown: the CPU reports the frequency, or the host measures it */
	uint64_t frequency;
	uint64_t wall_ns; /* current Unix time in ns; 0 = unknown */
	/*
	 * Returns the physical address of a virtual address. ktrace_init() calls it for the root and for each
	 * 4 KiB page of ktrace's memory; ktrace_cpu_online() calls it for the reserve word.
	 * If ktrace's memory is not physically contiguous, ktrace splits it into pieces. A ring needs one
	 * contiguous piece.
	 * NULL: ktrace's memory is physically contiguous, and reserve words are in the kernel's image or in
	 * ktrace's memory.
	 */
	uint64_t (*physical)(const volatile void *address);
	/*
	 * Names of the kernel's system calls and errors, one per line, for example "0 read". spec/ktrx.md,
	 * section 3, describes the full format. Requires: the text is in the kernel's image or in ktrace's
	 * memory, and stays readable as long as the kernel runs. NULL: the names are unknown.
	 */
	const char *syscalls;
	/*
	 * when clocks are compared: enum ktrace_clocks of ktrace/clock.h; any value but 0 costs 1224 bytes
	 * for each CPU
	 */
	uint32_t clocks;
	/*
	 * Sends an interrupt to a CPU. The handler on that CPU must call ktrace_clock_serve() soon. This
	 * function must not wait. Called with interrupts disabled. NULL: clocks are compared only when the
	 * CPU's tick calls ktrace_heartbeat().
	 */
	void (*interrupt)(uint32_t cpu);
	/*
	 * Number of entries for each CPU in which ktrace counts repetitions of events with KTRX_EVENT_FOLD:
	 * at most KTRACE_FOLDS_MAX. An entry costs 320 bytes and serves one event at a time. 0: ktrace does
	 * not count repetitions, but records each of these events.
	 */
	uint32_t folds;
	/*
	 * Number of slots of the ring that all CPUs share for events with KTRX_EVENT_RARE: a power of two, at
	 * least 512. 0: these events go into the rings of the CPUs, like all others.
	 */
	uint32_t rare_slots;
	/*
	 * Number of earlier boots whose trace stays readable after a reset, at most KTRACE_KEEP_MAX; 0: none.
	 * ktrace's memory is divided into keep + 1 equal parts; each boot uses the part that was used longest
	 * ago. Costs 32 bytes for each slot of the boot ring, 128 bytes for each ring, and a copy of the
	 * event table.
	 * Requires: ktrace's memory is at the same addresses at each boot, survives the reset, and is not
	 * cleared by firmware, a boot loader or the kernel.
	 */
	uint32_t keep;
};
#define KTRACE_FOLDS_MAX 64u
#define KTRACE_KEEP_MAX	 7u

/*
 * Gives each CPU its own ring in ktrace's memory. Earlier records stay readable. A CPU uses the boot ring
 * until it calls ktrace_cpu_online().
 * Returns KTRACE_OK, or ARGUMENT, MEMORY, or STATE (called before). After an error ktrace continues with the
 * boot ring alone.
 * Requires: called once, on one CPU. Every CPU that records with KTRACE() has a valid per-CPU area with a
 * zero reserve word.
 */
int ktrace_init(const struct ktrace_config *config);

/*
 * Calls ktrace_init() with `bytes` of static memory and returns its result. The other arguments, at least
 * one, initialise members of struct ktrace_config; the macro sets size, blocks and memory. All arguments are
 * constants. Use it in a function:
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
 * If config.keep was not 0, returns the number of this boot; the first boot has number 1. The number is
 * greater than 1 if ktrace's memory survived the reset before this boot. Returns 0 if earlier boots are not
 * kept.
 */
uint64_t ktrace_boot(void);

/*
 * Makes this CPU use its own ring. `cpu` is the number that ktrace_arch_cpu() returns, 0 to config.cpus - 1.
 * Returns KTRACE_OK, or:
 * STATE: ktrace_init() was not called, or this CPU is online already.
 * ARGUMENT: no such CPU, or the port's reserve word belongs to another CPU (is ktrace_arch_cpu() missing?).
 * After an error the CPU's events go to the boot ring, or to the ring of the CPU that the port reports.
 * Requires: called on that CPU, with interrupts disabled, after ktrace_init().
 */
int ktrace_cpu_online(uint32_t cpu);

/*
 * Names a thread. At most 27 bytes of the name are copied. A second call for the same thread replaces the
 * name. If the table is full, the oldest entry is replaced.
 * Returns KTRACE_OK, or STATE (before ktrace_init()), ARGUMENT (id above KTRX_THREAD_MAX), MEMORY
 * (config.threads was 0).
 * Requires: calls for the same thread do not run at the same time.
 */
int ktrace_thread_name(uint32_t thread, const char *name);

/*
 * Reports that this CPU is alive and was interrupted at `pc`. Call it in the timer tick of each CPU. It also
 * carries out requests of a host; one CPU at a time does that. No effect before ktrace_cpu_online().
 */
void ktrace_heartbeat(uint64_t pc);

/*
 * Reports the mode of this CPU from now on: KTRX_MODE_*. Costs a few instructions. No effect before
 * ktrace_cpu_online().
 */
void ktrace_mode(uint8_t mode);

/*
 * ktrace_start() and ktrace_stop() start and stop recording on all CPUs. ktrace_is_started() returns nonzero
 * while recording is started. Recording is started from the first instruction on. While recording is stopped,
 * each event costs a load and a branch. A start records in the trace when recording was stopped before it.
 */
void ktrace_start(void);
void ktrace_stop(void);
int ktrace_is_started(void);

/* Discards all records and counts. Readers show only records that are made after this call. */
void ktrace_clear(void);

/*
 * Copies the trace into `memory` as a KTRX version 2 dump, while recording continues. The copy cannot be
 * overwritten by later records.
 * Sets *bytes to the size of the dump.
 * Returns KTRACE_OK, or MEMORY (`size` is too small; *bytes is the size that is needed), STATE (rings were
 * added or removed during the copy: try again).
 * Requires: `memory` is aligned to 8 bytes. The memory still belongs to the caller.
 */
int ktrace_snapshot(void *memory, size_t size, size_t *bytes);

/*
 * Sets events and settings by name. Items are separated by commas or blanks, and are applied from left to
 * right up to the first error:
 *   PATTERN=WORD+WORD…  changes the events that match the pattern. Each WORD sets one property:
 *       on, off         record the event, or do not record it
 *       count           count, and do not record
 *       both            count and record
 *       stop            record once, then stop all recording
 *       callers0, callers1, callers2, site, nosite
 *                       number of callers in each record; with or without the site
 *       fold, nofold    count repetitions instead of recording them, or record them
 *       rare, norare    use the ring for rare events, or the rings of the CPUs
 *   PATTERN, -PATTERN   the same as PATTERN=on and PATTERN=off
 *   SETTING=VALUE       see settings.h
 * In patterns, * and ? are wildcards; a pattern without a dot is a group. The library's own group "ktrace"
 * (the panic message) matches only patterns that begin with "ktrace".
 * Returns KTRACE_OK, or SYNTAX, NO_EVENT, or an error of ktrace_setting_set().
 */
int ktrace_control(const char *text);

/*
 * Applies a kernel's command line, whose arguments are separated by blanks:
 *   debug=ktrace           turns all events on; so does debug=ktrace-all
 *   debug=sched,mm         turns these groups on and all others off; debug=ktrace,sched,mm and
 *                          debug=ktrace-sched,ktrace-mm mean the same
 *   ktrace=LIST            items as for ktrace_control(), applied after all debug= arguments
 *   SETTING=VALUE          as in LIST; an unknown SETTING is ignored unless it begins with debug.ktr.
 * Several debug= arguments are combined: "debug=ktrace debug=mm" turns all events on, "debug=sched debug=mm"
 * two groups. debug= does not change the library's own group "ktrace", which has the panic message. Without
 * any of these arguments nothing changes.
 * An argument with an error does not prevent the other arguments from being applied.
 * Returns KTRACE_OK or the first error: an error of ktrace_control(), or NO_EVENT for a name in debug= that
 * is not a group. A kernel that also uses debug= for categories of its own ignores NO_EVENT for their names.
 * ktrace_refused() returns the item with the first error, and ktrace_console_refusal() prints that item with
 * a suggestion.
 */
int ktrace_boot_argument(const char *command_line);

/*
 * Does the same as ktrace_boot_argument(), and calls `refused` for each item with an error. During that call,
 * ktrace_refused() returns the item, and ktrace_console_refusal() prints it.
 * Requires: `refused` calls no function that changes events or settings.
 */
typedef void ktrace_refused_visit(void *cookie, int error);
int ktrace_boot_arguments(const char *command_line, ktrace_refused_visit *refused, void *cookie);

/*
 * Returns the item (such as "sched.swich=on") that caused the error which the last failed call returned.
 * These functions store the item: ktrace_control(), ktrace_boot_argument(), ktrace_boot_arguments(),
 * ktrace_setting_set(), and those of ktrace/console.h. Sets *length to the length of the item, or to 0 if no
 * call has failed.
 * The pointer points into the text that was passed to that call, and is valid as long as that text.
 */
const char *ktrace_refused(size_t *length);

/*
 * Finds names that resemble a misspelt word, and calls `visit` for at most 3 of them. Compares the word with
 * the names of events, groups and settings, and takes those that differ from it in the fewest letters. Names
 * that differ in more than 4 letters, or in more than a third of the word's letters (rounded up), are not
 * taken. A word without a dot is also compared with the names of events without their groups. A minus at the
 * beginning of the word, and everything from an equals sign on, are ignored.
 * Returns the number of names; 0 also if the word itself is a valid name.
 */
typedef void ktrace_near_visit(void *cookie, const char *name);
uint32_t ktrace_control_near(const char *word, size_t length, ktrace_near_visit *visit, void *cookie);

/*
 * Sets a function to be called once, on the CPU that calls ktrace_panic() or ktrace_exit(); for example a
 * function that dumps the trace through a transport. NULL removes it.
 */
typedef void ktrace_end_hook(void *cookie);
void ktrace_set_end_hook(ktrace_end_hook *hook, void *cookie);

/*
 * Record in the root how the kernel ended, and call the end hook.
 * ktrace_panic() also records the message as the event ktrace.panic, and stops recording unless
 * debug.ktr.panic_goes_on is set.
 * Any context. A second call of either function does not change the recorded end, and does not call the hook
 * again. There is one exception: a panic after ktrace_exit() is recorded as the end.
 */
void ktrace_panic(const char *message);
void ktrace_exit(int status);

/*
 * Measures several times, on this CPU, how many clock ticks a thousand events cost, and returns the lowest
 * result. The measurements record about 100 events named ktrace.probe in this CPU's ring. Returns 0 if that
 * event is not recorded.
 * The result is stored in the setting debug.ktr.cost, from which a host computes how much time recording
 * took. A kernel therefore calls this once, at boot.
 */
uint64_t ktrace_probe_cost(void);

/*
 * Returns nonzero if ktrace_backtrace() is compiled in. It follows frame pointers, so it needs a kernel that
 * is compiled with frame pointers (-fno-omit-frame-pointer) and defines KTRACE_FRAME_POINTERS (config.h).
 * Events that record their callers need a kernel that is compiled in the same way.
 */
int ktrace_has_backtrace(void);

/*
 * Stores at most `most` return addresses of the current call chain, innermost first: the first address is in
 * the function that calls ktrace_backtrace(), the second in the caller of that function.
 * Returns the number of stored addresses; 0 if ktrace_backtrace() is not compiled in.
 * Any context. Reads only the current stack.
 */
uint32_t ktrace_backtrace(uintptr_t *addresses, uint32_t most);

KTRACE_END_C

#endif
