/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Backtraces by frame pointers, and the settings that add addresses to all events.
 *
 * A walk reads only the stack, and only upwards: each frame must be aligned and at a higher address than the
 * previous frame. If the port knows the end of the stack, the frame must be inside the stack; otherwise it
 * must be within KTRACE_STACK_REACH bytes of the previous frame. An invalid frame pointer (from user mode or
 * assembler code) ends the walk.
 */
#include "state.h"

#include "ktrace/settings.h"

KTRACE_SETTING_RANGE("debug.ktr.stacktrace", ktrace_state.callers, 0, 2);
KTRACE_SETTING_RANGE("debug.ktr.sites", ktrace_state.sites, 0, 1);

#define KTRACE_FRAME_BYTES (2 * sizeof(uintptr_t))
/* end of a frame, relative to the frame pointer */
#define KTRACE_FRAME_END (KTRACE_ARCH_FRAME_OFFSET + KTRACE_FRAME_BYTES)

/* Maximum number of frames that belong to ktrace itself, between the call site and ktrace_callers(). */
#define KTRACE_OWN_FRAMES 12u

struct walk {
	uintptr_t frame; /* frame pointer of the next function */
	uintptr_t least; /* lowest address that `frame` may have */
	uintptr_t end;	 /* end of the stack; 0: unknown */
};

static void walk_begin(struct walk *walk, uintptr_t frame)
{
	walk->frame = frame;
	walk->least = frame;
	walk->end = ktrace_state.initialised ? ktrace_arch_stack_end(frame) : 0;
}

/*
 * Steps out of a function. Returns 1 and the return address, which may be 0; returns 0 if the chain ends
 * here.
 */
static int walk_step(struct walk *walk, uintptr_t *address)
{
	uintptr_t room = walk->end ? walk->end - walk->least : KTRACE_STACK_REACH;

	if (walk->end && walk->end < walk->least)
		return 0;
	if (walk->frame < walk->least || walk->frame % sizeof(uintptr_t) != 0 ||
	    walk->frame - walk->least + KTRACE_FRAME_END > room)
		return 0;
	walk->least = walk->frame + KTRACE_FRAME_BYTES;
	ktrace_arch_frame(walk->frame, &walk->frame, address);
	return 1;
}

uint32_t ktrace_callers(uintptr_t site, uint64_t *caller, uint32_t most)
{
	uintptr_t address = 0;
	uint32_t count = 0;
	struct walk walk;

	if (!KTRACE_FRAME_POINTERS)
		return 0;
	walk_begin(&walk, (uintptr_t)__builtin_frame_address(0));
	for (uint32_t own = 0; address != site; own++)
		if (own == KTRACE_OWN_FRAMES || !walk_step(&walk, &address))
			return 0;
	while (count < most && walk_step(&walk, &address))
		if (address)
			caller[count++] = address;
	return count;
}

int ktrace_has_backtrace(void)
{
	return KTRACE_FRAME_POINTERS;
}

/* Not inlined, so that the first frame belongs to this function. */
__attribute__((__noinline__)) uint32_t ktrace_backtrace(uintptr_t *addresses, uint32_t most)
{
	uint32_t count = 0;
	uintptr_t address;
	struct walk walk;

	if (!KTRACE_FRAME_POINTERS || most == 0)
		return 0;
	/*
	 * The first address is not read from the frame: if a function calls no other function, the compiler
	 * may not save its return address there.
	 */
	addresses[count++] = KTRACE_RETURN_ADDRESS;
	walk_begin(&walk, (uintptr_t)__builtin_frame_address(0));
	if (!walk_step(&walk, &address))
		return count;
	while (count < most && walk_step(&walk, &address))
		if (address)
			addresses[count++] = address;
	return count;
}
