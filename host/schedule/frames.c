/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "frames.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/code.h"

#define DEPTH_MOST  4096u
#define SLOTS	    4u
#define STACKS_MOST 16384u
#define REGISTERS   32u
#define HANDLERS    4096u /* number of elements in the set of handlers, a power of 2 */

struct frame {
	uint64_t back; /* return address of the function; 0: unknown */
	/*
	 * Addresses at which the return address is saved; 0: not saved yet. The function loads it from
	 * slot[0]. The other addresses are those to which it was last copied: a function may also store its
	 * return address to record its caller.
	 */
	uint64_t slot[SLOTS];
	/*
	 * for the frame of an interrupt or exception: the interrupted block; NULL: it is not a block of the
	 * kernel
	 */
	const struct frames_code *from;
	/*
	 * for the frame of an interrupt: address from which the interrupted code had loaded the return
	 * address
	 */
	uint64_t loaded;
	bool interrupt;
};

struct stack {
	struct frame *frame;
	uint32_t depth, room;
	uint32_t number;
	bool free;
};

struct cpu {
	const struct frames_code *at; /* the block that began last; NULL: no block has begun */
	/* the last block of the kernel, if code outside of the kernel has interrupted it; otherwise NULL */
	const struct frames_code *resume;
	struct stack *stack;
	uint64_t pushed;
	uint64_t loaded[REGISTERS];
};

static struct cpu *cpus;
static uint8_t link_register;
static frames_enter *enter;
static uint32_t forgotten;

/* ---- Stacks -------------------------------------------------------------------------------------- */

static struct stack *stacks[STACKS_MOST];
static uint32_t stack_count, oldest;

static bool is_current(const struct stack *stack, const struct cpu *all, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		if (all[n].stack == stack)
			return true;
	return false;
}

static unsigned cpu_count;

/* Returns a stack that no CPU uses. The number of stacks is limited. */
static struct stack *new_stack(void)
{
	struct stack *stack;

	for (uint32_t n = 0; n < stack_count; n++)
		if (stacks[n]->free) {
			stacks[n]->free = false;
			return stacks[n];
		}
	if (stack_count < STACKS_MOST) {
		stack = calloc(1, sizeof(*stack));
		if (stack != NULL) {
			stack->number = stack_count;
			stacks[stack_count++] = stack;
			return stack;
		}
	}
	if (stack_count <= cpu_count)
		return NULL;
	do
		stack = stacks[oldest++ % stack_count];
	while (is_current(stack, cpus, cpu_count));
	stack->depth = 0;
	forgotten++;
	return stack;
}

static void use_stack(struct cpu *cpu, struct stack *stack)
{
	if (stack == NULL || stack == cpu->stack)
		return;
	if (cpu->stack->depth == 0)
		cpu->stack->free = true;
	stack->free = false;
	cpu->stack = stack;
}

static struct frame *top_of(const struct stack *stack)
{
	return stack->depth > 0 ? &stack->frame[stack->depth - 1] : NULL;
}

static void push(struct stack *stack, const struct frame *frame)
{
	if (stack->depth == DEPTH_MOST) {
		stack->depth = 0;
		forgotten++;
	}
	if (stack->depth == stack->room) {
		uint32_t room = stack->room > 0 ? 2 * stack->room : 32;
		struct frame *grown = realloc(stack->frame, room * sizeof(*grown));

		if (grown == NULL) {
			stack->depth = 0;
			forgotten++;
			return;
		}
		stack->frame = grown;
		stack->room = room;
	}
	stack->frame[stack->depth++] = *frame;
}

/* ---- Addresses at which return addresses are saved ----------------------------------------------- */

/*
 * Maps an address to the frame whose return address is saved there. An element is valid only while this frame
 * exists and has this slot. Elements are never removed.
 */
struct place {
	uint64_t slot; /* the address; 0: this element is free */
	uint32_t stack, frame;
};

static struct place *places;
static size_t place_room, place_count; /* place_room is a power of 2 */

static struct place *place_of(struct place *table, size_t room, uint64_t slot)
{
	size_t n = (slot * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (room - 1);

	while (table[n].slot != 0 && table[n].slot != slot)
		n = (n + 1) & (room - 1);
	return &table[n];
}

static bool grow_places(void)
{
	const size_t room = place_room > 0 ? 2 * place_room : 4096;
	struct place *table = calloc(room, sizeof(*table));

	if (table == NULL)
		return false;
	for (size_t n = 0; n < place_room; n++)
		if (places[n].slot != 0)
			*place_of(table, room, places[n].slot) = places[n];
	free(places);
	places = table;
	place_room = room;
	return true;
}

static bool has_slot(const struct frame *frame, uint64_t slot)
{
	bool has = false;

	for (unsigned n = 0; n < SLOTS; n++)
		has |= frame->slot[n] == slot;
	return has;
}

/* Finds the frame whose return address is saved at `slot`. Returns its stack, NULL if there is none. */
static struct stack *find_frame(uint64_t slot, uint32_t *number)
{
	const struct place *place = slot != 0 ? place_of(places, place_room, slot) : NULL;
	struct stack *stack;

	if (place == NULL || place->slot == 0)
		return NULL;
	stack = stacks[place->stack];
	*number = place->frame;
	return *number < stack->depth && has_slot(&stack->frame[*number], slot) ? stack : NULL;
}

/*
 * Removes the frame whose return address was at `slot`, and the frames above it, because they have ended
 * although no return was seen. Keeps the topmost frame of `stack` in any case.
 */
static void forget_former(struct stack *stack, uint64_t slot)
{
	uint32_t number;
	struct stack *former = find_frame(slot, &number);

	if (former == NULL || former->frame[number].slot[0] != slot)
		return;
	if (former != stack) {
		former->depth = number;
	} else if (number + 1 < stack->depth) {
		stack->frame[number] = *top_of(stack);
		stack->depth = number + 1;
	}
}

/*
 * Stores where the return address of the topmost frame is saved. `anew`: the earlier addresses are no longer
 * valid. Requires: there is a frame.
 */
static void set_slot(struct stack *stack, uint64_t slot, bool anew)
{
	struct frame *top = &stack->frame[stack->depth - 1];
	struct place *place;

	if (2 * place_count >= place_room && !grow_places())
		return;
	if (anew || top->slot[0] == 0) {
		forget_former(stack, slot);
		top = &stack->frame[stack->depth - 1];
		for (unsigned n = 0; n < SLOTS; n++)
			top->slot[n] = n == 0 ? slot : 0;
	} else if (!has_slot(top, slot)) {
		memmove(&top->slot[2], &top->slot[1], (SLOTS - 2) * sizeof(top->slot[0]));
		top->slot[1] = slot;
	}
	place = place_of(places, place_room, slot);
	place_count += place->slot == 0;
	*place = (struct place){ .slot = slot, .stack = stack->number, .frame = stack->depth - 1 };
}

/* ---- Handlers ------------------------------------------------------------------------------------ */

/* The set of addresses to which interrupts and exceptions have led. */
static uint64_t handlers[HANDLERS];
static unsigned handler_count;

static uint64_t *handler_place(uint64_t address)
{
	size_t n = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (HANDLERS - 1);

	while (handlers[n] != 0 && handlers[n] != address)
		n = (n + 1) & (HANDLERS - 1);
	return &handlers[n];
}

static bool is_handler(const struct frames_code *to)
{
	return *handler_place(to->start) == to->start;
}

static void add_handler(const struct frames_code *to)
{
	uint64_t *place = handler_place(to->start);

	if (*place != 0 || handler_count + 1 >= HANDLERS)
		return;
	*place = to->start;
	handler_count++;
}

/* ---- Following the code from block to block ------------------------------------------------------ */

static unsigned number_of(const struct cpu *cpu)
{
	return (unsigned)(cpu - cpus);
}

static void call(struct cpu *cpu, const struct frames_code *from, const struct frames_code *to)
{
	const struct frame frame = { .back = from->next };

	enter(number_of(cpu), to, from->last, SCHEDULE_CALL, cpu->stack->depth);
	push(cpu->stack, &frame);
	if (link_register == FRAMES_LINK && cpu->pushed != 0 && cpu->stack->depth > 0)
		set_slot(cpu->stack, cpu->pushed, true);
	cpu->pushed = 0;
	cpu->loaded[link_register] = 0;
}

/* Enters a handler. `from`: the interrupted block; NULL: the interrupted code is not code of the kernel. */
static void interrupt(struct cpu *cpu, const struct frames_code *from, const struct frames_code *to)
{
	const struct frame frame = { .from = from, .loaded = cpu->loaded[link_register], .interrupt = true };

	add_handler(to);
	enter(number_of(cpu), to, from != NULL ? from->last : 0,
	      from != NULL ? SCHEDULE_INTERRUPT : SCHEDULE_OTHER, cpu->stack->depth);
	push(cpu->stack, &frame);
	memset(cpu->loaded, 0, sizeof(cpu->loaded));
	cpu->pushed = 0;
}

/* Ends a handler. Sets *from to the interrupted block. Returns false if no handler is known to be running. */
static bool leave(struct cpu *cpu, const struct frames_code **from)
{
	uint32_t n;
	struct stack *stack = find_frame(cpu->loaded[link_register], &n);

	if (stack != NULL && stack->frame[n].interrupt) {
		use_stack(cpu, stack);
	} else {
		stack = cpu->stack;
		n = stack->depth;
		while (n > 0 && !stack->frame[n - 1].interrupt)
			n--;
		if (n == 0)
			return false;
		n--;
	}
	stack->depth = n;
	*from = stack->frame[n].from;
	cpu->loaded[link_register] = stack->frame[n].loaded;
	return true;
}

/*
 * Follows a return. Ends the frame whose return address was loaded; if the function has not saved its return
 * address, this is the topmost frame. If the return address was loaded from an address at which no function
 * has saved it, a new thread begins.
 */
static void give_back(struct cpu *cpu, const struct frames_code *from, const struct frames_code *to)
{
	const uint64_t slot = cpu->loaded[from->reg];
	struct frame *top = top_of(cpu->stack);
	uint32_t n;
	struct stack *stack = find_frame(slot, &n);

	cpu->loaded[from->reg] = cpu->loaded[link_register] = 0;
	if (stack != NULL) {
		stack->depth = n;
		use_stack(cpu, stack);
		return;
	}
	if (top != NULL && top->back == to->start && top->slot[0] == 0) {
		cpu->stack->depth--;
		return;
	}
	for (n = cpu->stack->depth; n > 0 && slot == 0; n--)
		if (cpu->stack->frame[n - 1].back == to->start) {
			cpu->stack->depth = n - 1;
			return;
		}
	if (slot == 0)
		return;
	use_stack(cpu, new_stack());
	enter(number_of(cpu), to, from->last, SCHEDULE_OTHER, cpu->stack->depth);
	push(cpu->stack, &(struct frame){ .back = 0 });
}

static bool is_within(const struct frames_code *from, const struct frames_code *to)
{
	return to->start >= from->start && to->start < from->next;
}

/*
 * Returns whether the block `to` can follow `from` without an interrupt. This includes the case that `to` is
 * a part of `from`: that part is executed again after an interrupt.
 */
static bool leads(const struct frames_code *from, const struct frames_code *to)
{
	if (to->start == from->next || is_within(from, to))
		return true;
	switch (from->end) {
	case END_JUMP:
	case END_CALL:
	case END_CONDITIONAL:
		return to->start == from->target;
	case END_INDIRECT:
	case END_INDIRECT_CALL:
	case END_RETURN:
		return !is_handler(to);
	default:
		return false;
	}
}

static void follow(struct cpu *cpu, const struct frames_code *from, const struct frames_code *to);

/* Called after the last instruction of a handler was executed. */
static void leave_handler(struct cpu *cpu, const struct frames_code *from, const struct frames_code *to)
{
	const struct frames_code *before = NULL;
	bool known;

	if (to->start == from->next && !to->outside)
		return;
	known = leave(cpu, &before);
	if (!known && to->outside)
		/* a program begins, so no function of the kernel is left on the stack */
		cpu->stack->depth = 0;
	if (to->outside)
		cpu->resume = NULL;
	else if (is_handler(to))
		interrupt(cpu, before, to);
	else if (known && before != NULL && leads(before, to))
		follow(cpu, before, to);
}

static void follow(struct cpu *cpu, const struct frames_code *from, const struct frames_code *to)
{
	const bool again = to->start > from->start && to->start < from->next;

	if (from->end == END_LEAVE) {
		leave_handler(cpu, from, to);
		return;
	}
	if (to->outside) {
		cpu->resume = from;
		return;
	}
	if (again)
		return;
	if (!leads(from, to))
		interrupt(cpu, from, to);
	else if ((from->end == END_CALL && to->start == from->target && to->start != from->next) ||
		 (from->end == END_INDIRECT_CALL && to->start != from->next))
		call(cpu, from, to);
	else if (from->end == END_RETURN)
		give_back(cpu, from, to);
}

void frames_begin(unsigned number, const struct frames_code *to)
{
	struct cpu *cpu = &cpus[number];
	const struct frames_code *from = cpu->at, *resume = cpu->resume;

	cpu->at = to;
	if (from != NULL && !from->outside) {
		follow(cpu, from, to);
		return;
	}
	if (to->outside)
		return;
	cpu->resume = NULL;
	if (resume != NULL && leads(resume, to))
		follow(cpu, resume, to);
	else
		interrupt(cpu, resume, to);
}

void frames_pushed(unsigned cpu, uint64_t address)
{
	cpus[cpu].pushed = address;
}

void frames_saved(unsigned number, uint64_t address)
{
	struct cpu *cpu = &cpus[number];
	const struct frame *top;

	if (cpu->stack->depth == 0)
		push(cpu->stack, &(struct frame){ .back = 0 });
	top = top_of(cpu->stack);
	if (top == NULL)
		return;
	/*
	 * a function that has loaded its return address may jump to another function, which saves the address
	 * again
	 */
	set_slot(cpu->stack, address, top->slot[0] != 0 && cpu->loaded[link_register] == top->slot[0]);
}

void frames_loaded(unsigned cpu, uint8_t reg, uint64_t address)
{
	cpus[cpu].loaded[reg] = address;
}

uint32_t frames_forgotten(void)
{
	return forgotten;
}

bool frames_open(unsigned count, uint8_t link, frames_enter *call_enter)
{
	cpus = calloc(count, sizeof(*cpus));
	cpu_count = 0;
	link_register = link;
	enter = call_enter;
	if (cpus == NULL || !grow_places())
		return false;
	for (unsigned n = 0; n < count; n++) {
		cpus[n].stack = new_stack();
		if (cpus[n].stack == NULL)
			return false;
	}
	cpu_count = count;
	return true;
}

void frames_close(void)
{
	for (uint32_t n = 0; n < stack_count; n++) {
		free(stacks[n]->frame);
		free(stacks[n]);
	}
	free(places);
	free(cpus);
	memset(handlers, 0, sizeof(handlers));
	places = NULL;
	cpus = NULL;
	place_room = place_count = 0;
	stack_count = oldest = cpu_count = handler_count = forgotten = 0;
}
