/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Converts OpenCSD's elements to steps, with a queue of steps that are still incomplete. */
#include "hwt/etm4.h"

#include "ktrx/hwt_unit.h"

static struct hwt_step *step_at(struct etm4_queue *queue, uint32_t n)
{
	return &queue->step[n % ETM4_QUEUE_ROOM];
}

bool etm4_queue_full(const struct etm4_queue *queue)
{
	return queue->tail - queue->head > ETM4_QUEUE_ROOM - ETM4_QUEUE_SPARE;
}

/*
 * Returns true if the next step may still change this step. If not, this step is complete as soon as all
 * earlier steps are complete.
 */
static bool waits(const struct hwt_step *step)
{
	return step->kind != HWT_SPACE && step->kind != HWT_NOTE;
}

/* Appends a step. Requires: there is room. */
static void etm4_queue_put(struct etm4_queue *queue, const struct hwt_step *step)
{
	if (waits(step))
		queue->open = queue->tail;
	*step_at(queue, queue->tail) = *step;
	queue->tail++;
}

/*
 * Completes the oldest incomplete step if it is an ON, RUN or ASYNC: the next code to be executed is at this
 * address.
 */
static void etm4_queue_arrive(struct etm4_queue *queue, uint64_t address)
{
	struct hwt_step *step = step_at(queue, queue->open);

	if (queue->open == queue->tail)
		return;
	if (step->kind == HWT_ON) {
		step->address = address;
		step->has_address = 1;
	} else if (step->kind == HWT_RUN || step->kind == HWT_ASYNC) {
		step->to = address;
		step->has_to = 1;
	}
}

/*
 * Marks the run that ends directly before the address `after`: it ends in a system call. Returns false if
 * there is no such run.
 */
static bool etm4_queue_call(struct etm4_queue *queue, uint64_t after)
{
	struct hwt_step *step = step_at(queue, queue->open);

	if (queue->open == queue->tail || step->kind != HWT_RUN || step->end != after)
		return false;
	step->branch = HWT_BRANCH_ENTER_KERNEL;
	step->taken = 1;
	return true;
}

void etm4_queue_settle(struct etm4_queue *queue)
{
	queue->open = queue->tail;
}

/* Returns true if the newest step is of this kind. */
static bool etm4_queue_ends_in(const struct etm4_queue *queue, enum hwt_kind kind)
{
	return queue->tail != queue->head && queue->step[(queue->tail - 1) % ETM4_QUEUE_ROOM].kind == kind;
}

bool etm4_queue_take(struct etm4_queue *queue, struct hwt_step *step)
{
	if (queue->head == queue->open)
		return false;
	*step = *step_at(queue, queue->head++);
	return true;
}

#define EXCEPTION_HALT 1u
#define EXCEPTION_CALL 2u

/* Names of exceptions, indexed by the type in an exception packet. */
static const char *const exception_names[] = {
	[0x0] = "reset",
	[EXCEPTION_HALT] = "debug halt",
	[EXCEPTION_CALL] = "call",
	[0x3] = "trap",
	[0x4] = "system error",
	[0x6] = "instruction debug",
	[0x7] = "data debug",
	[0xa] = "alignment",
	[0xb] = "instruction fault",
	[0xc] = "data fault",
	[0xe] = "IRQ",
	[0xf] = "FIQ",
};

uint64_t etm4_space(bool software, uint32_t context_id)
{
	return software ? (uint64_t)context_id << KTRX_HWT_UNIT_SPACE_SHIFT : context_id;
}

static void put(struct etm4_steps *steps, struct hwt_step *step)
{
	step->space = steps->space;
	step->tid = steps->thread;
	step->has_stamp = steps->has_stamp;
	step->stamp = steps->stamp;
	step->offset = steps->offset;
	etm4_queue_put(&steps->queue, step);
}

static void put_bare(struct etm4_steps *steps, enum hwt_kind kind, const char *text)
{
	struct hwt_step step = { .kind = (uint8_t)kind, .text = text };

	put(steps, &step);
}

/* Ends tracing: it is unknown what was executed after the last step. */
static void stop(struct etm4_steps *steps, enum hwt_kind kind)
{
	if (kind == HWT_OVERFLOW ? !etm4_queue_ends_in(&steps->queue, kind) : steps->tracing)
		put_bare(steps, kind, NULL);
	steps->tracing = false;
}

static void put_gap(struct etm4_steps *steps, enum hwt_gap gap, const char *text)
{
	struct hwt_step step = { .kind = HWT_GAP, .gap = (uint8_t)gap, .text = text };

	steps->tracing = false;
	put(steps, &step);
}

void etm4_steps_damage(struct etm4_steps *steps, const char *text)
{
	put_gap(steps, HWT_GAP_DAMAGED, text);
}

void etm4_steps_begin_torn(struct etm4_steps *steps)
{
	put_bare(steps, HWT_GAP, "bytes before the first A-Sync cannot be decoded");
}

static uint8_t branch_of(const ocsd_generic_trace_elem *element)
{
	bool links = element->last_i_subtype == OCSD_S_INSTR_BR_LINK;

	if (element->last_i_type == OCSD_INSTR_BR) {
		if (element->last_instr_cond)
			return HWT_BRANCH_CONDITIONAL;
		return links ? HWT_BRANCH_CALL : HWT_BRANCH_JUMP;
	}
	if (element->last_i_type != OCSD_INSTR_BR_INDIRECT)
		return HWT_BRANCH_NONE;
	switch (element->last_i_subtype) {
	case OCSD_S_INSTR_BR_LINK:
		return HWT_BRANCH_INDIRECT_CALL;
	case OCSD_S_INSTR_V8_RET:
	case OCSD_S_INSTR_V7_IMPLIED_RET:
		return HWT_BRANCH_RETURN;
	case OCSD_S_INSTR_V8_ERET:
		return HWT_BRANCH_LEAVE_KERNEL;
	default:
		return HWT_BRANCH_INDIRECT;
	}
}

static uint8_t bits_of(ocsd_isa isa)
{
	if (isa == ocsd_isa_aarch64)
		return 64;
	return isa == ocsd_isa_thumb2 ? 16 : 32;
}

/*
 * Reports that other code was executed than the known code, so that the runs since the last address packet
 * are a guess.
 */
static void put_mismatch(struct etm4_steps *steps, uint64_t address, const char *text)
{
	struct hwt_step step = {
		.kind = HWT_GAP, .gap = HWT_GAP_OTHER_CODE, .has_address = 1, .address = address, .text = text
	};

	steps->tracing = false;
	put(steps, &step);
}

void etm4_steps_anchor(struct etm4_steps *steps, uint64_t offset)
{
	if (!steps->doubts || steps->has_anchor)
		return;
	steps->has_anchor = true;
	steps->anchor = offset;
}

/*
 * Returns true if the element may be reported: it comes after an address that made the position certain
 * again.
 */
static bool is_believed(struct etm4_steps *steps)
{
	if (steps->doubts && steps->has_anchor && steps->offset > steps->anchor)
		steps->doubts = false;
	return !steps->doubts;
}

/*
 * Returns true if a branch that is always taken is reported as not taken. There is one exception: some units
 * report a direct branch to the next instruction as not taken.
 */
static bool is_impossibly_not_taken(const struct etm4_steps *steps, const ocsd_generic_trace_elem *element)
{
	return !steps->to_next &&
	       (element->last_i_type == OCSD_INSTR_BR || element->last_i_type == OCSD_INSTR_BR_INDIRECT) &&
	       !element->last_instr_cond && !element->last_instr_exec;
}

/* Checks a range against the known code. Returns false if the range must not be reported. */
static bool check_code(struct etm4_steps *steps, const ocsd_generic_trace_elem *element)
{
	const bool jumps = steps->falls && element->st_addr != steps->falls_to;

	if (!is_believed(steps))
		return false;
	if (jumps)
		put_mismatch(steps, steps->falls_to,
			     "the code that ran is not the known code: "
			     "the previous branch was not taken, but led elsewhere");
	steps->falls = !element->last_instr_exec && element->last_i_type != OCSD_INSTR_OTHER;
	steps->falls_to = element->en_addr;
	if (!is_impossibly_not_taken(steps, element))
		return true;
	etm4_queue_arrive(&steps->queue, element->st_addr);
	put_mismatch(steps, element->en_addr - element->last_instr_sz,
		     "the code that ran is not the known code: a branch that is always taken was not taken");
	steps->doubts = true;
	steps->has_anchor = steps->falls = false;
	return false;
}

static void take_range(struct etm4_steps *steps, const ocsd_generic_trace_elem *element)
{
	struct hwt_step step = {
		.kind = HWT_RUN,
		.branch = branch_of(element),
		.bits = bits_of(element->isa),
		.instructions = element->num_instr_range,
		.address = element->st_addr,
		.has_address = 1,
		.last = element->en_addr - element->last_instr_sz,
		.end = element->en_addr,
	};

	if (!check_code(steps, element))
		return;
	step.taken = step.branch != HWT_BRANCH_NONE && element->last_instr_exec;
	if (!steps->tracing) {
		/* the stream begins, or decoding resumes, while tracing is on */
		put_bare(steps, HWT_ON, NULL);
		steps->tracing = true;
	}
	etm4_queue_arrive(&steps->queue, element->st_addr);
	put(steps, &step);
}

static void take_missing(struct etm4_steps *steps, const ocsd_generic_trace_elem *element)
{
	struct hwt_step step = { .kind = HWT_GAP,
				 .gap = HWT_GAP_CODE,
				 .has_address = 1,
				 .address = element->st_addr,
				 .text = "no code is known here" };

	if (!is_believed(steps))
		return;
	if (steps->has_new && steps->new_branch == element->st_addr) {
		step.gap = HWT_GAP_UNREAD;
		step.text = "this branch instruction is newer than the version of OpenCSD";
	}
	steps->falls = false;
	etm4_queue_arrive(&steps->queue, element->st_addr);
	put(steps, &step);
}

static void take_exception(struct etm4_steps *steps, const ocsd_generic_trace_elem *element)
{
	uint32_t number = element->exception_number;
	const char *name =
		number < sizeof(exception_names) / sizeof(*exception_names) ? exception_names[number] : NULL;
	struct hwt_step step = { .kind = HWT_ASYNC,
				 .has_address = element->excep_ret_addr,
				 .address = element->en_addr,
				 .text = name ? name : "exception" };

	steps->falls = false;
	/*
	 * While a processor is halted, nothing is traced. The software trace unit reports the end of a trace
	 * in this way, too.
	 */
	if (number == EXCEPTION_HALT) {
		step.kind = HWT_OFF;
		step.text = NULL;
		steps->tracing = false;
	}
	if (number == EXCEPTION_CALL && etm4_queue_call(&steps->queue, element->en_addr))
		return;
	if (step.has_address)
		etm4_queue_arrive(&steps->queue, step.address);
	put(steps, &step);
}

/*
 * Reports a transaction of an ETE. If the transaction fails, execution resumes where the transaction began.
 */
static void take_transaction(struct etm4_steps *steps, trace_memtrans_t what)
{
	static const char *const texts[] = {
		[OCSD_MEM_TRANS_TRACE_INIT] = "a transaction is in progress",
		[OCSD_MEM_TRANS_START] = "a transaction begins",
		[OCSD_MEM_TRANS_COMMIT] = "the transaction ends",
		[OCSD_MEM_TRANS_FAIL] = "the transaction failed and was undone",
	};

	steps->falls = false;
	if ((size_t)what < sizeof(texts) / sizeof(texts[0]))
		put_bare(steps, HWT_NOTE, texts[what]);
}

static void take_context(struct etm4_steps *steps, const ocsd_pe_context *context)
{
	uint64_t space =
		context->ctxt_id_valid ? etm4_space(steps->software, context->context_id) : steps->space;
	uint32_t thread = steps->software && context->vmid_valid ? context->vmid : steps->thread;

	if (space == steps->space && thread == steps->thread)
		return;
	steps->space = space;
	steps->thread = thread;
	put_bare(steps, HWT_SPACE, NULL);
}

static void take_lost_sync(struct etm4_steps *steps, unsync_info_t why)
{
	if (why == UNSYNC_OVERFLOW) {
		stop(steps, HWT_OVERFLOW);
	} else if (why == UNSYNC_DISCARD) {
		stop(steps, HWT_OFF);
	} else if (why == UNSYNC_BAD_PACKET && steps->unread) {
		put_gap(steps, HWT_GAP_UNREAD, steps->unread);
		steps->unread = NULL;
	} else if (why == UNSYNC_BAD_PACKET) {
		etm4_steps_damage(steps, "invalid packet");
	}
}

void etm4_steps_take(struct etm4_steps *steps, const ocsd_generic_trace_elem *element)
{
	switch (element->elem_type) {
	case OCSD_GEN_TRC_ELEM_NO_SYNC:
		steps->doubts = steps->falls = false;
		take_lost_sync(steps, element->unsync_eot_info);
		break;
	case OCSD_GEN_TRC_ELEM_TRACE_ON:
		steps->doubts = steps->falls = false;
		stop(steps, element->trace_on_reason == TRACE_ON_OVERFLOW ? HWT_OVERFLOW : HWT_OFF);
		put_bare(steps, HWT_ON, NULL);
		steps->tracing = true;
		break;
	case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
		take_context(steps, &element->context);
		break;
	case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
		take_range(steps, element);
		break;
	case OCSD_GEN_TRC_ELEM_ADDR_NACC:
		take_missing(steps, element);
		break;
	case OCSD_GEN_TRC_ELEM_EXCEPTION:
		take_exception(steps, element);
		break;
	case OCSD_GEN_TRC_ELEM_TIMESTAMP:
		steps->stamp = element->timestamp;
		steps->has_stamp = true;
		break;
	case OCSD_GEN_TRC_ELEM_MEMTRANS:
		take_transaction(steps, element->mem_trans);
		break;
	case OCSD_GEN_TRC_ELEM_EVENT:
		put_bare(steps, HWT_NOTE, "event");
		break;
	default:
		/* no steps are made from cycle counts, exception returns and the end of the bytes */
		break;
	}
}
