/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/symbols.h"

#include <elf.h>

#define PAGE	 4096u
#define FARTHEST 512u /* maximum distance in bytes between the registers that a function has stored */
/* size in bytes of a frame of the chain: the caller's frame pointer, then the return address */
#define FRAME	   16u
#define FRAME_MOST (INT64_C(1) << 20) /* maximum size of a function's part of the stack, in bytes */
#define UPPER_HALF (UINT64_C(1) << 63)
/*
 * largest number of times that a walk may continue at a lower address, for example from a handler's stack to
 * the interrupted stack
 */
#define MOST_SWITCHES 2u
#define LEAF_REACH    (UINT64_C(64) << 10)

static bool is_known(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_AARCH64 || machine == EM_RISCV;
}

/*
 * Returns by how many bytes the address in the frame pointer is above the place where the caller's frame
 * pointer is stored.
 */
static uint64_t below(const struct stack_walk *walk)
{
	return walk->machine == EM_RISCV ? 16 : 0;
}

static uint64_t word_at(const unsigned char *bytes)
{
	uint64_t word = 0;

	for (unsigned n = 8; n-- > 0;)
		word = word << 8 | bytes[n];
	return word;
}

static void finish(struct stack_walk *walk, enum stack_end end)
{
	walk->done = true;
	walk->end = end;
}

/* ---- Finding the next frame ---------------------------------------------------------------------- */

static uint64_t cfa_of(const struct stack_walk *walk)
{
	return (walk->table.by_frame ? walk->frame : walk->stack) + (uint64_t)walk->table.cfa;
}

/*
 * Sets *address and *size to the part of the stack in which the function at the last address has stored the
 * registers that the walk needs. If the function has stored none, *size is 0.
 */
static void stored(const struct stack_walk *walk, uint64_t *address, uint64_t *size)
{
	const struct symbols_frame *table = &walk->table;
	int64_t low, high;

	if (!walk->by_table) {
		*address = walk->frame - below(walk);
		*size = FRAME;
		return;
	}
	low = table->back_stored ? table->back : table->frame;
	high = table->frame_stored ? table->frame : table->back;
	*address = cfa_of(walk) + (uint64_t)(low < high ? low : high);
	*size = !table->back_stored && !table->frame_stored ? 0
		: low < high				    ? (uint64_t)high - (uint64_t)low + 8
							    : (uint64_t)low - (uint64_t)high + 8;
}

static bool is_small(int64_t offset)
{
	return offset >= -FRAME_MOST && offset <= FRAME_MOST;
}

/* Returns whether the call frame information for the last address can be used with the known registers. */
static bool is_usable(const struct stack_walk *walk)
{
	const uint64_t base = walk->table.by_frame ? walk->frame : walk->stack;
	uint64_t address, size;

	if (walk->table.is_outermost)
		return true;
	if (!is_small(walk->table.cfa) || !is_small(walk->table.back) || !is_small(walk->table.frame))
		return false;
	stored(walk, &address, &size);
	return base && base % 8 == 0 && size <= FARTHEST && address % 8 == 0 &&
	       address <= UINT64_MAX - PAGE && (walk->table.back_stored || (walk->places == 1 && walk->link));
}

/* Looks up the call frame information for the last address. */
static bool find_table(struct stack_walk *walk)
{
	/*
	 * a return address may already be in the next function; the call instruction before it is in the
	 * right function
	 */
	const uint64_t address = walk->place[walk->places - 1] - (walk->places > 1 && !walk->is_next);
	const struct symbols_frame *found = walk->find ? walk->find(walk->context, address) : NULL;

	if (found)
		walk->table = *found;
	walk->by_table = found != NULL;
	walk->by_table = found && is_usable(walk);
	return walk->by_table;
}

/*
 * Returns whether this frame pointer or return address is that of the outermost function: the kernel's entry
 * code stores zero, or the registers of the program that entered the kernel. The program is in the lower half
 * of the address space; the kernel is in the upper half.
 */
static bool is_end(const struct stack_walk *walk, uint64_t word)
{
	return word == 0 || (walk->high && word < UPPER_HALF);
}

/*
 * Ends the walk if there is no usable frame at walk->frame. Such a frame pointer is the end of the chain only
 * if a function of this stack keeps frame pointers. Otherwise, the register may contain any other value.
 */
static void check_frame(struct stack_walk *walk)
{
	if (is_end(walk, walk->frame))
		finish(walk, walk->chained ? STACK_END_WHOLE : STACK_END_BROKEN);
	else if (walk->frame % 8 || walk->frame <= below(walk) || walk->frame > UINT64_MAX - PAGE)
		finish(walk, STACK_END_BROKEN);
}

static void take_table(struct stack_walk *walk, uint64_t address, const unsigned char *bytes);

/* Prepares the next step, or ends the walk. */
static void prepare(struct stack_walk *walk)
{
	uint64_t address, size;

	if (walk->places == STACK_PLACES) {
		finish(walk, STACK_END_DEEP);
	} else if (!find_table(walk)) {
		if (walk->places > 1 && !walk->chained)
			finish(walk, STACK_END_BROKEN);
		else
			check_frame(walk);
	} else if (walk->table.is_outermost) {
		finish(walk, STACK_END_WHOLE);
	} else {
		stored(walk, &address, &size);
		if (size == 0)
			take_table(walk, address, NULL);
	}
}

/* Adds a return address. If the value is not a return address, ends the walk and returns false. */
static bool add_place(struct stack_walk *walk, uint64_t back)
{
	if (is_end(walk, back)) {
		finish(walk, STACK_END_WHOLE);
		return false;
	}
	walk->place[walk->places++] = back;
	return true;
}

/*
 * Returns whether the caller's stack pointer is possible. Stacks grow downwards, so the caller's stack
 * pointer is higher than that of the function, or equal if a leaf function stores nothing. Code may change to
 * another stack before it calls a handler. Its frame pointer then still points to the previous stack.
 */
static bool is_higher(struct stack_walk *walk, uint64_t cfa)
{
	if (walk->stack == 0 || cfa > walk->stack)
		return true;
	if (cfa == walk->stack)
		return walk->places == 1;
	return walk->places > 1 && walk->table.by_frame && walk->table.frame_stored &&
	       ++walk->switches <= MOST_SWITCHES;
}

/*
 * Adds the caller that call frame information describes. `bytes`: contents of memory at `address`; not needed
 * if the function has stored nothing.
 */
static void take_table(struct stack_walk *walk, uint64_t address, const unsigned char *bytes)
{
	const struct symbols_frame *table = &walk->table;
	const uint64_t cfa = cfa_of(walk);
	const uint64_t back =
		table->back_stored ? word_at(bytes + (cfa + (uint64_t)table->back - address)) : walk->link;

	if (!is_higher(walk, cfa)) {
		finish(walk, STACK_END_BROKEN);
		return;
	}
	if (walk->places == 1)
		walk->exact = true;
	if (!add_place(walk, back))
		return;
	if (table->frame_stored && (walk->frame == cfa || walk->frame == cfa + (uint64_t)table->frame))
		walk->chained = true;
	if (table->frame_stored)
		walk->frame = word_at(bytes + (cfa + (uint64_t)table->frame - address));
	walk->stack = cfa;
	walk->is_next = table->is_interrupt;
	walk->link = 0;
	prepare(walk);
}

/*
 * Returns whether this is the frame of a leaf function on RISC-V, which stores its caller's frame pointer
 * where other functions store the return address.
 */
static bool is_leaf(const struct stack_walk *walk, uint64_t word)
{
	return walk->machine == EM_RISCV && walk->places == 1 && word > walk->frame &&
	       word - walk->frame < LEAF_REACH && word % 8 == 0;
}

/*
 * Returns the stack pointer of the caller, after the function with this frame pointer has returned; 0 if it
 * is unknown, as on AArch64, where the frame may be anywhere in the function's part of the stack.
 */
static uint64_t stack_after(const struct stack_walk *walk)
{
	return walk->machine == EM_X86_64 ? walk->frame + FRAME : walk->machine == EM_RISCV ? walk->frame : 0;
}

/* Adds the frame from which `caller` and `back` were read, and continues with the frame of the caller. */
static void take_frame(struct stack_walk *walk, uint64_t caller, uint64_t back)
{
	if (is_leaf(walk, back)) {
		caller = back;
		back = walk->link;
	}
	/* nothing but this frame shows that the register is a frame pointer, and this frame does not */
	if (!walk->chained && is_end(walk, back) && !is_end(walk, caller)) {
		finish(walk, STACK_END_BROKEN);
		return;
	}
	if (!add_place(walk, back))
		return;
	if (caller && caller <= walk->frame && (caller == walk->frame || ++walk->switches > MOST_SWITCHES)) {
		finish(walk, STACK_END_BROKEN);
		return;
	}
	walk->chained = true;
	walk->stack = stack_after(walk);
	walk->is_next = false;
	walk->link = 0;
	walk->frame = caller;
	prepare(walk);
}

/* ---- Functions that make a walk ------------------------------------------------------------------ */

void stack_walk_begin(struct stack_walk *walk, uint16_t machine, const struct stack_registers *registers,
		      stack_find_frame *find, void *context)
{
	*walk = (struct stack_walk){ .machine = machine,
				     .place = { registers->pc },
				     .places = 1,
				     .find = find,
				     .context = context,
				     .frame = registers->frame,
				     .link = registers->link,
				     .stack = registers->sp,
				     .high = registers->pc >= UPPER_HALF };
	if (registers->user)
		finish(walk, STACK_END_WHOLE);
	else if (is_known(machine))
		prepare(walk);
	else
		finish(walk, STACK_END_BROKEN);
}

bool stack_walk_wants(const struct stack_walk *walk, uint64_t *address, size_t *size)
{
	uint64_t needed;
	size_t left;

	if (walk->done)
		return false;
	stored(walk, address, &needed);
	left = PAGE - (size_t)(*address % PAGE);
	*size = left < needed ? (size_t)needed : left < STACK_WINDOW ? left : STACK_WINDOW;
	return true;
}

void stack_walk_put(struct stack_walk *walk, uint64_t address, const unsigned char *bytes, size_t size)
{
	uint64_t wanted, needed;

	for (bool first = true; !walk->done; first = false) {
		stored(walk, &wanted, &needed);
		if (first && (size == 0 || (wanted == address && size < needed)))
			finish(walk, STACK_END_UNREADABLE);
		if (walk->done || wanted < address || size < needed || wanted - address > size - needed)
			return;
		if (walk->by_table)
			take_table(walk, wanted, bytes + (wanted - address));
		else
			take_frame(walk, word_at(bytes + (wanted - address)),
				   word_at(bytes + (wanted - address) + 8));
	}
}
