/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hwt/etm4_queue.h"

static struct hwt_step *step_at(struct etm4_queue *queue, uint32_t n)
{
	return &queue->step[n % ETM4_QUEUE_ROOM];
}

bool etm4_queue_full(const struct etm4_queue *queue)
{
	return queue->tail - queue->head > ETM4_QUEUE_ROOM - ETM4_QUEUE_SPARE;
}

/* Those that stand for themselves are open only as long as something before them is. */
static bool waits(const struct hwt_step *step)
{
	return step->kind != HWT_SPACE && step->kind != HWT_NOTE;
}

void etm4_queue_put(struct etm4_queue *queue, const struct hwt_step *step)
{
	if (waits(step))
		queue->open = queue->tail;
	*step_at(queue, queue->tail) = *step;
	queue->tail++;
}

void etm4_queue_arrive(struct etm4_queue *queue, uint64_t address)
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

bool etm4_queue_call(struct etm4_queue *queue, uint64_t behind)
{
	struct hwt_step *step = step_at(queue, queue->open);

	if (queue->open == queue->tail || step->kind != HWT_RUN || step->end != behind)
		return false;
	step->branch = HWT_BRANCH_ENTER_KERNEL;
	step->taken = 1;
	return true;
}

void etm4_queue_settle(struct etm4_queue *queue)
{
	queue->open = queue->tail;
}

bool etm4_queue_ends_in(const struct etm4_queue *queue, enum hwt_kind kind)
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
