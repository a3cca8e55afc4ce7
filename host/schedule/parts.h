/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The parts of the schedule plugin. Each heading names the source file of a part. functions.c also uses
 * frames.h.
 */
#ifndef SCHEDULE_PARTS_H
#define SCHEDULE_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "control.h"
#include "plugin/api.h"

struct CPUState;

/* ---- cpus.c ---- */

/*
 * Chooses which CPU of the guest runs. With -icount, QEMU runs the CPUs one after another in one thread,
 * always starting with CPU 0. A CPU that neither halts nor yields prevents all CPUs after it from running. If
 * an event of the host interrupts that thread, the next CPU runs; this happens at a different time in each
 * run. So all CPUs but one are frozen: QEMU skips frozen CPUs. To the guest, these CPUs only seem to be slow.
 */

/*
 * All functions require: QEMU's lock is held, as it is while a timer is called, and no CPU executes an
 * instruction.
 */

/*
 * Returns NULL, or a message if this number of CPUs is not supported. Must be called once, before the other
 * functions.
 */
const char *cpus_open(int number);

/* Thaws all CPUs. Returns the number of CPUs that are not idle. */
unsigned cpus_thaw(void);

/*
 * Freezes all CPUs but one: number `chosen` of those that are not idle, from 0 in the order of the CPUs.
 * Other CPUs do not run before the next choice, even if an interrupt wakes them.
 * Requires: cpus_thaw() was called before, no CPU has run since, and `chosen` is below its result.
 */
void cpus_choose(unsigned chosen);

/* Returns the CPU that is next after the last chosen one, as a number among the CPUs that are not idle. */
unsigned cpus_next(void);

/*
 * Returns the number of the CPU, from 0, among the CPUs that were not idle at the last cpus_thaw(); -1 if the
 * CPU was idle.
 */
int cpus_number(unsigned cpu);

/* Returns true if CPUs are frozen. */
bool cpus_are_frozen(void);

/*
 * Call this function if cpus_interrupted() will be called for each interrupt. Otherwise,
 * cpus_others_may_run() always returns true. `woken` is called, as by cpus_call(), when an interrupt makes
 * cpus_others_may_run() true.
 */
void cpus_see_interrupts(void (*woken)(void));

/*
 * Call this function when an interrupt is raised for a CPU. May also be called while a CPU executes a block.
 */
void cpus_interrupted(const struct CPUState *cpu);

/*
 * Returns false if all CPUs but the chosen one were idle at the last cpus_thaw(), and no interrupt has been
 * raised for them since. May also be called while a CPU executes a block.
 */
bool cpus_others_may_run(void);

/*
 * Calls the function once, outside the guest's code, before any CPU begins another block of code. Does
 * nothing if the same call is already queued. May also be called while a CPU executes a block.
 */
void cpus_call(void (*call)(void));

/* ---- cpus.c: idle CPUs ---- */

/*
 * Delays the moment at which QEMU regards the machine as idle. If all CPUs are idle, QEMU's main thread moves
 * the virtual clock to the next timer. But a CPU counts as idle from the moment at which it executes its halt
 * instruction, and its last instructions are added to the clock a little later, by the CPUs' thread. If the
 * main thread checks before that, it moves the clock too far, by the time of these instructions (seen with
 * QEMU 7.2: once in about ten runs on a loaded host). With this correction, the main thread waits until the
 * CPUs' thread itself has found all CPUs idle.
 */

/*
 * `again` is called in the CPUs' thread when all CPUs that are not frozen are idle. It returns true if it
 * lets another CPU run.
 */
void idle_open(bool (*again)(void));

/* Returns whether a CPU is idle. QEMU calls this function to confirm that a CPU is idle. */
bool idle_confirm(struct CPUState *cpu);

/* ---- cpus.c: the accelerator ---- */

/*
 * Replaces functions of QEMU's accelerator: the one that confirms that a CPU is idle, and the one that raises
 * an interrupt.
 */

/*
 * Replaces the functions when the first CPU begins, before it executes an instruction. QEMU calls `is_idle`
 * to confirm that a CPU is idle, and `interrupted` before it raises an interrupt for a CPU. `replaced` is
 * called if the functions were replaced; if not, a message is printed. Returns NULL, or a message that states
 * why runs may differ in rare cases.
 */
const char *accelerator_open(qemu_plugin_id_t id, bool (*is_idle)(struct CPUState *cpu),
			     void (*interrupted)(const struct CPUState *cpu), void (*replaced)(void));

/* ---- blocks.c ---- */

/*
 * Calls several functions for each block of code that QEMU translates. QEMU itself calls only one function of
 * a plugin, the one that was registered last.
 */

typedef void blocks_look(struct qemu_plugin_tb *block);

/* Adds a function that is called for each block; at most 8. */
void blocks_add(blocks_look *look);

/* From now on, calls the functions that blocks_add() has added. */
void blocks_open(qemu_plugin_id_t id);

/* ---- blocks.c: hooks ---- */

/*
 * Detects when a CPU executes a hook: a function of ktrace by which the guest reports that it takes or
 * releases a lock, or that it blocks, wakes or switches threads.
 */

/*
 * Begins to watch for hooks. `wanted` is called before the first instruction of each hook, while the CPU
 * executes a block. If it returns true, `pass` is called after this block, in the thread of the CPUs, with
 * the number of the CPU. Otherwise, QEMU is not interrupted.
 */
void hooks_open(const struct schedule_hooks *hooks, bool (*wanted)(void), void (*pass)(unsigned cpu));

/* ---- blocks.c: instructions that wait ---- */

/*
 * Lets another CPU run when a CPU executes an instruction that is meant for waiting: pause (x86, RISC-V),
 * yield or wfe (AArch64). Without this, a CPU that waits for a frozen CPU would wait until its own slice
 * ends.
 */

/*
 * Begins to watch for these instructions. `target`: name of the architecture. `wanted` is called before each
 * such instruction, while the CPU executes a block. If it returns true, `yield` is called after the block, in
 * the thread of the CPUs, with the number of the CPU. If not, QEMU is not interrupted.
 */
void yield_open(const char *target, bool (*wanted)(void), void (*yield)(unsigned cpu));

/* ---- blocks.c: a word that halts the machine ---- */

/*
 * Halts the machine when a word of its RAM has a value. The word is read before each block of code. If the
 * value is found, the current block is still completed. So the machine halts within two blocks after the
 * write, at the same instruction in each run.
 */

/* `reached` is called once, in the thread of the CPUs. Returns NULL, or an error message. */
const char *watch_open(const struct schedule_control *control, void (*reached)(void));

/* ---- blocks.c: times of blocks, and of a mark ---- */

/* Determines the time of each block of code, and the time at which a word of the guest's RAM is written. */

/* Makes virtual_now() (plugin/api.h) valid in parts that blocks_add() adds later. */
void mark_times(void);

/*
 * Begins to watch the word of control->mark, and stores the time at which the word is written. Returns NULL,
 * or an error message.
 */
const char *mark_open(struct schedule_control *control);

/* ---- noise.c ---- */

/*
 * Chooses the lengths of slices, and the CPUs that run in them, from a seed. With -icount, a CPU runs until
 * the next timer of the virtual clock expires. So the plugin sets a timer to determine how long a CPU runs.
 */

struct noise {
	uint64_t state;	 /* state of the generator, splitmix64 */
	uint64_t mean;	 /* mean length of a slice, or of a delay at a hook, in ns; 0: no forced switches */
	uint64_t bursts; /* number of slices, of each 8, that last only a few instructions */
	/* n: on average, one in 2^n instructions that wait lets another CPU run */
	uint64_t patience;
	bool has_slices; /* the lengths of slices are random */
	bool has_hooks;	 /* slices are ended by hooks */
	/* The following members are used only with hooks. */
	uint64_t hook_state; /* state of a second generator */
	uint64_t rarity;     /* n: on average, one in 2^n hooks ends a slice */
	uint64_t distance;   /* maximum time in ns from a hook to the end of the slice, plus 1 */
};

/* Prepares the generator. The seed determines the mean, unless `from` contains one. */
void noise_begin(struct noise *noise, const struct schedule_noise *from);

/* Returns the number of the CPU that runs next: a random number below `cpus`, which must not be 0. */
unsigned noise_cpu(struct noise *noise, unsigned cpus);

/* Decides, when a CPU executes an instruction that waits, whether another CPU runs now. */
bool noise_gives_way(struct noise *noise);

/* Returns the length of the next slice in ns, at least 1. Requires: noise->has_slices. */
uint64_t noise_next(struct noise *noise);

/*
 * Decides, when a CPU executes a hook, whether its slice ends soon. *after: the time in ns until then.
 * Requires: noise->has_hooks.
 */
bool noise_hook(struct noise *noise, uint64_t *after);

/*
 * Returns the time in ns, at least 1, for which other CPUs run after a hook has ended a slice. Requires:
 * noise->has_hooks.
 */
uint64_t noise_delay(struct noise *noise);

/* ---- devices.c: disks ---- */

/*
 * Makes requests to disks complete at the same virtual time each time. QEMU's threads read and write disks in
 * real time. So after each access to a device, no CPU runs before all requests are complete: to the guest, a
 * request takes no time.
 */

/*
 * Begins to watch accesses to devices. `target`: name of the architecture. Returns NULL, or a message that
 * states what is missing.
 */
const char *disks_open(const char *target);

/* ---- devices.c: input ---- */

/* Types a script on the guest's first serial line, at virtual times. */

/*
 * Reads the script at `path` and sets a timer. Each line is "SECONDS TEXT", sorted by time. TEXT and a
 * carriage return are typed, beginning at this virtual time. Returns NULL, or an error message.
 */
const char *input_open(const char *path);

/* ---- memory.c: words of the RAM file ---- */

/* Maps a word of the guest's RAM file, so that the plugin can see when the guest writes the word. */

/*
 * Maps the 8 bytes at offset `position` of the file `path`, which may still be empty. Sets *word. The memory
 * stays mapped until the process ends. Returns NULL, or an error message that names the file and the offset.
 * The message is valid until the next call.
 */
const char *ram_map_word(const char *path, uint64_t position, const _Atomic uint64_t **word);

/* ---- memory.c: watched ranges ---- */

/*
 * Decides which accesses touch a watched range. A range is given by its virtual address. The first access
 * through that address shows the physical page. From then on, an access through another virtual address of
 * the page is found as well.
 *
 *	if (!match_may_touch(match, address))
 *		return;					true for most accesses
 *	watch = match_virtual(match, &access);
 *	if (watch < 0 && match_needs_physical(match, &access))
 *		watch = match_physical(match, &access, physical);
 */

#define MATCH_PAGE UINT64_C(4096)
#define MATCH_SIZE 64u /* maximum size of an access that can be found by its physical address */

struct match_range {
	struct schedule_watch watch;
	/* physical pages of the first and the second virtual page of the range */
	uint64_t page[2];
	bool known[2]; /* `page` is known */
};

struct match {
	/* for each offset in a page, a bit: whether an access that begins there may touch a range */
	uint64_t offsets[MATCH_PAGE / 64];
	struct match_range range[SCHEDULE_WATCHES];
	uint32_t ranges;
};

struct match_access {
	uint64_t address; /* virtual address */
	uint32_t size;
	enum schedule_kind kind;
};

/* Prepares the search. Returns NULL, or a message about an invalid range. */
const char *match_open(struct match *match, const struct schedule_watch *watch, uint32_t watches);

/* Returns false if an access that begins at this address touches no range. */
static inline bool match_may_touch(const struct match *match, uint64_t address)
{
	const uint64_t offset = address % MATCH_PAGE;

	return match->offsets[offset / 64] >> offset % 64 & 1;
}

/* Returns the number of the first range that the access touches by its virtual address; -1: none. */
int match_virtual(const struct match *match, const struct match_access *access);

/*
 * Returns true if the access touches a range by its offset in the page, and the physical page of that range
 * is known.
 */
bool match_needs_physical(const struct match *match, const struct match_access *access);

/* Does the same as match_virtual(), but with the physical address of the first byte. */
int match_physical(const struct match *match, const struct match_access *access, uint64_t physical);

/* Stores the physical page of a range. Requires: match_virtual() has returned `range` for this access. */
void match_learn(struct match *match, int range, const struct match_access *access, uint64_t physical);

/* ---- access.c ---- */

/*
 * Records the accesses to watched ranges of memory in the control file. Accesses by devices are not seen.
 */

/* Begins to watch. `target`: QEMU's name of the architecture. Returns NULL, or an error message. */
const char *access_open(const char *target, struct schedule_control *control);

/* ---- functions.c ---- */

/* Records which functions of the kernel are entered, in a file. */

/* Begins to record. Returns NULL, or an error message. */
const char *functions_open(const struct qemu_info *info, struct schedule_control *control);

/* Writes all records to the file, if functions are recorded. */
void functions_flush(void);

#endif
