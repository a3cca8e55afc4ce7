/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Follows virtual CPUs from block to block, and knows which traces are enabled. */
#include <stdlib.h>

#include "trace.h"
#include "code.h"
#include "flow.h"

/*
 * number of blocks that a virtual CPU reports without an enabled trace of its own before it may call
 * `when_idle`
 */
#define IDLE_BLOCKS (1u << 20)

struct vcpu {
	/* the point of the virtual CPU's last report; &unknown: there is none */
	const struct point *at;
	struct trace *only;	/* the enabled trace if only one is enabled, otherwise &no_trace */
	struct trace *trace[2]; /* the enabled traces */
	/* set that contains only the virtual CPU's address space, for tests of block->seen */
	uint64_t bit;
	unsigned traces;
	unsigned idle; /* number of blocks reported while the virtual CPU has had no enabled trace */
	struct trace ring, guest;
	/*
	 * Copies of the last block and the last point. They are used if QEMU has discarded the translation of
	 * the block.
	 */
	struct block *kept;
	struct point kept_point;
} __attribute__((aligned(64)));

static const struct point unknown;
static struct trace no_trace;
static struct vcpu *vcpus;
static unsigned vcpu_count;
static _Atomic unsigned enabled;
static void (*when_idle)(void);

static void make_trace(struct trace *trace, const struct encoder *encoder)
{
	trace->encoder = encoder;
	trace->output.published = trace->output.pending = trace->output.reached = &trace->nowhere;
}

int flow_open(const struct encoder *encoder, unsigned count, void (*idle)(void))
{
	when_idle = idle;
	vcpus = aligned_alloc(64, count * sizeof(*vcpus));
	if (vcpus == NULL || code_open(count) != 0)
		return -1;
	memset(vcpus, 0, count * sizeof(*vcpus));
	for (unsigned i = 0; i < count; i++) {
		vcpus[i].at = &unknown;
		vcpus[i].bit = 1;
		vcpus[i].only = &no_trace;
		make_trace(&vcpus[i].ring, encoder);
		make_trace(&vcpus[i].guest, encoder);
		vcpus[i].kept = calloc(1, sizeof(*vcpus[i].kept));
		if (vcpus[i].kept == NULL)
			return -1;
		vcpu_count = i + 1;
	}
	return 0;
}

struct trace *flow_guest_trace(unsigned cpu)
{
	return cpu < vcpu_count ? &vcpus[cpu].guest : NULL;
}

struct trace *flow_ring_trace(unsigned cpu)
{
	return cpu < vcpu_count ? &vcpus[cpu].ring : NULL;
}

/* ---- One virtual CPU --------------------------------------------------------------------------- */

static void enter_unknown(struct vcpu *vcpu, const struct block *block)
{
	for (unsigned i = 0; i < vcpu->traces; i++) {
		if (!vcpu->trace[i]->on && trace_wants(vcpu->trace[i], block->start))
			trace_turn_on(vcpu->trace[i], block->start, block->modes);
	}
}

static inline int is_seen(const struct vcpu *vcpu, const struct block *block)
{
	return (atomic_load_explicit(&block->seen, memory_order_acquire) & vcpu->bit) != 0;
}

/* Makes sure that the code of a block is in the rings' file before the block is reported to have run. */
static void see(struct vcpu *vcpu, struct block *block)
{
	if (!is_seen(vcpu, block))
		code_see((unsigned)(vcpu - vcpus), block);
}

/*
 * Returns the address of the instruction that was about to run when an interrupt or exception came after this
 * point. An instruction counts as not run unless it is certain that it ran. `between` is nonzero for an
 * interrupt, which comes between two instructions.
 */
static uint64_t interrupted(const struct point *at, int between)
{
	const struct block *block = at->block;

	if (!at->last || (block->faults && !between) || block->end == END_CONDITIONAL ||
	    block->end == END_AGAIN || block->end >= END_INDIRECT)
		return at->address;
	return block->target;
}

/*
 * Returns nonzero if QEMU has left a block in its middle without an exception, and continues at `to`, in
 * another block. QEMU does this if code writes to its own page, accesses a device register with -icount, or
 * executes an atomic operation while no other CPU may run.
 */
static int is_resumed(struct vcpu *vcpu, const struct point *at, const struct block *to)
{
	const struct block *from = at->block;

	if (to->start == at->address || (to->start == at->address + at->size && !at->last))
		return 1;
	if (!at->last || from->end >= END_INDIRECT)
		return 0;
	for (int taken = from->end == END_CONDITIONAL ? 0 : 1; taken <= 1; taken++) {
		struct block middle = { .start = taken ? from->target : from->next, .modes = to->modes };
		struct block *stopped = block_covering(middle.start, to->start);

		if (stopped == NULL)
			continue;
		see(vcpu, stopped);
		for (unsigned i = 0; i < vcpu->traces; i++)
			trace_follow(vcpu->trace[i], from, &middle, taken);
		return 1;
	}
	return 0;
}

/*
 * Called if execution continues at the block `to`, although the end of the last block does not lead there:
 * QEMU has resumed a block in its middle, or an interrupt or exception has led to `to`.
 */
static void enter_odd(struct vcpu *vcpu, const struct point *at, struct block *to)
{
	uint64_t from;

	if (is_resumed(vcpu, at, to))
		return;
	if (!to->handler)
		block_is_handler(to);
	for (unsigned i = 0; i < vcpu->traces; i++) {
		struct trace *trace = vcpu->trace[i];

		from = interrupted(at, trace->encoder->between(to->start));
		/* The last instruction of the block has run, so it is reported before the interrupt. */
		if (trace->on && at->block->reported && from != at->address)
			trace->encoder->branch(trace, at->block, from, 1);
		trace_interrupt(trace, from, to);
	}
}

/*
 * Returns how the end of `from` leads to `to`: 0 by a conditional branch that is not taken, 1 in another way,
 * -1 not at all.
 */
static inline int leads(const struct block *from, const struct block *to)
{
	if (from->end >= END_INDIRECT)
		/*
		 * of the block ends from END_INDIRECT on, only a system call leads to a handler, and the same
		 * handler may also handle faults
		 */
		return LIKELY(!to->handler) || from->end == END_ENTER ? 1 : -1;
	if (to->start == from->target)
		return 1;
	return to->start == from->untaken ? 0 : -1;
}

/*
 * Returns true if a trace contains only user code, and execution went from user code to kernel code. Of all
 * branches, only a system call can lead from user code to kernel code.
 */
static int enters_kernel(const struct vcpu *vcpu, const struct block *from, const struct block *to)
{
	for (unsigned i = 0; i < vcpu->traces; i++) {
		const struct trace *trace = vcpu->trace[i];

		if (!trace->others && from->start - trace->low < trace->span &&
		    to->start - trace->low >= trace->span)
			return 1;
	}
	return 0;
}

static void set_reached(struct vcpu *vcpu, uint64_t address)
{
	for (unsigned i = 0; i < vcpu->traces; i++)
		output_set_reached(&vcpu->trace[i]->output, vcpu->trace[i]->on ? address : 0);
}

/*
 * Writes the pending branch outcomes if `full` is set. Then does whatever else is due, such as reading the
 * clock. `has_outcome` states whether the end of the previous block has added an outcome.
 */
static __attribute__((noinline)) void write_outcomes(struct trace *trace, int full, int has_outcome,
						     uint64_t address)
{
	if (full)
		trace->encoder->flush(trace);
	if (has_outcome)
		trace_written(trace, address);
	else
		trace_attend_unreported(trace, address);
}

static void enter(struct vcpu *vcpu, const struct point *at, struct block *to)
{
	int taken;

	if (at == &unknown) {
		enter_unknown(vcpu, to);
		return;
	}
	taken = at->last ? leads(at->block, to) : -1;
	if (taken < 0 || (at->block->end >= END_INDIRECT && at->block->end != END_ENTER &&
			  enters_kernel(vcpu, at->block, to))) {
		enter_odd(vcpu, at, to);
		return;
	}
	for (unsigned i = 0; i < vcpu->traces; i++)
		trace_follow(vcpu->trace[i], at->block, to, taken);
}

static __attribute__((noinline)) void enter_slowly(struct vcpu *vcpu, const struct point *at,
						   const struct point *point)
{
	if (vcpu->traces == 0 && ++vcpu->idle > IDLE_BLOCKS && enabled == 0)
		when_idle();
	set_reached(vcpu, 0);
	see(vcpu, point->block);
	enter(vcpu, at, point->block);
	set_reached(vcpu, point->address);
}

/*
 * The hot path. Nearly always, exactly one trace is enabled and tracing is on, all code is to be traced, and
 * this code is in the file already. The path for this case is short. The end of a block usually adds at most
 * one outcome, so this code avoids a conditional jump that depends on the outcome.
 */
void flow_enter(unsigned cpu, void *data)
{
	struct vcpu *vcpu = &vcpus[cpu];
	const struct point *at = vcpu->at;
	struct trace *trace = vcpu->only;
	struct point *point = data;
	struct block *to = point->block;

	vcpu->at = point;
	if (LIKELY(at->last && (to->modes & trace->simple) && is_seen(vcpu, to))) {
		const struct block *from = at->block;
		int taken;

		if (from->outcomes < OUTCOMES_AND_MORE) {
			unsigned branches = to->start == from->target;

			if (LIKELY(to->start == from->way[branches])) {
				int full;

				output_set_reached(&trace->output, 0);
				full = trace_gather(trace, from->outcomes, branches);
				/*
				 * Adding an outcome writes no byte, so apart from `full`, something is due
				 * only if a thread has set trace->attention to 0.
				 */
				if (UNLIKELY(full | (trace_attention(trace) == 0)))
					write_outcomes(trace, full, from->outcomes != 0, to->start);
				output_set_reached(&trace->output, trace->on ? point->address : 0);
				return;
			}
		} else if (LIKELY((taken = leads(from, to)) >= 0)) {
			output_set_reached(&trace->output, 0);
			trace->encoder->branch(trace, from, to->start, taken);
			trace_written(trace, to->start);
			output_set_reached(&trace->output, trace->on ? point->address : 0);
			return;
		}
	}
	enter_slowly(vcpu, at, point);
}

void flow_pass(unsigned cpu, void *data)
{
	vcpus[cpu].at = data;
}

/* ---- Traces of a virtual CPU ------------------------------------------------------------------- */

static struct vcpu *vcpu_of(struct trace *trace)
{
	for (unsigned i = 0; i < vcpu_count; i++) {
		if (trace == &vcpus[i].ring || trace == &vcpus[i].guest)
			return &vcpus[i];
	}
	return NULL;
}

static void list_traces(struct vcpu *vcpu)
{
	vcpu->traces = 0;
	if (vcpu->ring.enabled)
		vcpu->trace[vcpu->traces++] = &vcpu->ring;
	if (vcpu->guest.enabled)
		vcpu->trace[vcpu->traces++] = &vcpu->guest;
	vcpu->only = vcpu->traces == 1 ? vcpu->trace[0] : &no_trace;
	vcpu->idle = 0;
}

void flow_begin(struct trace *trace, uint64_t address)
{
	struct vcpu *vcpu = vcpu_of(trace);

	enabled += !trace->enabled;
	trace_begin(trace, address);
	list_traces(vcpu);
	if (trace->full)
		return;
	if (vcpu->at != &unknown && address != 0 && trace_wants(trace, address))
		trace_turn_on(trace, address, vcpu->at->block->modes);
	output_publish(&trace->output);
}

void flow_end(struct trace *trace, uint64_t address)
{
	if (!trace->enabled)
		return;
	if (trace->on)
		trace_turn_off(trace, address);
	trace->enabled = 0;
	enabled--;
	list_traces(vcpu_of(trace));
}

void flow_space(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end)
{
	vcpus[cpu].bit = code_enter(cpu, space, user_start, user_end);
}

void flow_sync(struct trace *trace, uint64_t address)
{
	if (!trace->enabled || trace->full)
		return;
	output_set_reached(&trace->output, 0);
	trace->sync_at = 0;
	trace_attend(trace, address);
	output_set_reached(&trace->output, trace->on ? address : 0);
}

void flow_renew_time(struct trace *trace)
{
	trace->renew = 1;
	trace->attention = 0;
}

void flow_renew_all_times(void)
{
	for (unsigned i = 0; i < vcpu_count; i++) {
		flow_renew_time(&vcpus[i].ring);
		flow_renew_time(&vcpus[i].guest);
	}
}

/*
 * a virtual CPU may overwrite this 0 at the same time, which does no harm: it writes this position only after
 * it has read the clock
 */
void flow_look_at_clocks(void)
{
	for (unsigned i = 0; i < vcpu_count; i++) {
		for (unsigned k = 0; k < vcpus[i].traces; k++)
			atomic_store_explicit(&vcpus[i].trace[k]->attention, 0, memory_order_relaxed);
	}
}

unsigned flow_enabled(void)
{
	return enabled;
}

void flow_forget_blocks(void)
{
	for (unsigned i = 0; i < vcpu_count; i++) {
		struct vcpu *vcpu = &vcpus[i];

		if (vcpu->at != &unknown && vcpu->at != &vcpu->kept_point) {
			memcpy(vcpu->kept, vcpu->at->block, sizeof(*vcpu->kept));
			vcpu->kept_point = *vcpu->at;
			vcpu->kept_point.block = vcpu->kept;
			vcpu->at = &vcpu->kept_point;
		}
	}
	code_forget();
	blocks_forget();
}

/* A trace that is still enabled here was enabled after the pause was requested. */
void flow_pause(void)
{
	for (unsigned i = 0; i < vcpu_count; i++) {
		struct vcpu *vcpu = &vcpus[i];

		for (unsigned k = 0; k < vcpu->traces; k++) {
			struct trace *trace = vcpu->trace[k];

			if (!trace->on)
				continue;
			trace_break_off(trace);
			trace->encoder->sync(trace, 0);
			output_publish(&trace->output);
		}
		vcpu->at = &unknown;
	}
}

void flow_flush(struct trace *trace)
{
	if (trace->on)
		trace->encoder->flush(trace);
	output_publish(&trace->output);
}

void flow_halted(unsigned cpu)
{
	struct vcpu *vcpu = cpu < vcpu_count ? &vcpus[cpu] : NULL;

	for (unsigned i = 0; vcpu && i < vcpu->traces; i++)
		flow_flush(vcpu->trace[i]);
}
