/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Requests of a host, spec/ktrx.md section 9. The host may write anything to the mailbox at any time. The
 * kernel therefore copies each request, checks the copy, and carries out the request in the copy. A malformed
 * request can then do no more harm than a well-formed request.
 */
#include "core.h"

#define KTRACE_STATES (KTRX_STATE_RECORD | KTRX_STATE_COUNT | KTRX_STATE_STOP)

KTRACE_IN_DATA struct ktrx_mailbox ktrace_mailbox __attribute__((__aligned__(64))) = {
	.magic = { 'K', 'T', 'R', 'X', 'M', 'B', 'X', '\n' },
	.capacity = KTRX_MAILBOX_REQUESTS,
};

void ktrace_mailbox_place(void)
{
	*(volatile uint64_t *)&ktrace_mailbox.nonce = ktrace_root.nonce;
	ktrace_section_set(KTRX_SECTION_MAILBOX, 0, &ktrace_mailbox, sizeof(ktrace_mailbox));
}

static uint32_t events_change(const struct ktrx_request *request)
{
	struct ktrace_change change;

	if (request->first == 0 || request->first > request->last || request->state & ~KTRACE_STATES)
		return KTRX_RESULT_REFUSED;
	change.change = request->change;
	change.state = request->state;
	change.flags = request->flags;
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		if (event->id >= request->first && event->id <= request->last)
			ktrace_event_change(event, &change);
	return KTRX_RESULT_DONE;
}

static uint32_t setting_store(const struct ktrx_request *request)
{
	struct ktrx_setting *row = ktrace_setting_first();

	for (uint32_t n = 0; row && n < request->first; n++)
		row = ktrace_setting_next(row);
	return row && ktrace_setting_store(row, request->value) == KTRACE_OK ? KTRX_RESULT_DONE
									     : KTRX_RESULT_REFUSED;
}

static uint32_t carry_out(const struct ktrx_request *request)
{
	uint32_t result = KTRX_RESULT_DONE;

	if (request->op == KTRX_REQUEST_EVENTS)
		result = events_change(request);
	else if (request->op == KTRX_REQUEST_START)
		ktrace_start();
	else if (request->op == KTRX_REQUEST_STOP)
		ktrace_stop();
	else if (request->op == KTRX_REQUEST_CLEAR)
		ktrace_clear();
	else if (request->op == KTRX_REQUEST_SETTING)
		result = setting_store(request);
	else
		result = KTRX_RESULT_REFUSED;
	return result;
}

static void take_request(uint32_t sequence)
{
	struct ktrx_request *place = &ktrace_mailbox.request[sequence % KTRX_MAILBOX_REQUESTS];
	struct ktrx_request request;
	uint32_t result = KTRX_RESULT_TORN;

	ktrace_copy(&request, place, sizeof(request));
	if (request.sequence == sequence && request.check == ktrx_request_check(&request))
		result = carry_out(&request);
	*(volatile uint32_t *)&place->result = result;
	if (result != KTRX_RESULT_DONE)
		*(volatile uint32_t *)&ktrace_mailbox.refused += 1;
}

static void take_all(uint32_t requested)
{
	uint32_t applied = ktrace_mailbox.applied;

	if (requested - applied > KTRX_MAILBOX_REQUESTS) {
		*(volatile uint32_t *)&ktrace_mailbox.refused += requested - applied;
		applied = requested;
	}
	while (applied != requested)
		take_request(++applied);
	ktrace_states_update();
	*(volatile uint64_t *)&ktrace_mailbox.applied_stamp = ktrace_arch_clock();
	ktrace_arch_store_barrier();
	*(volatile uint32_t *)&ktrace_mailbox.applied = requested;
}

static uint32_t requested_now(void)
{
	return __atomic_load_n(&ktrace_mailbox.requested, __ATOMIC_ACQUIRE);
}

void ktrace_mailbox_look(void)
{
	if (KTRACE_LIKELY(requested_now() == *(volatile uint32_t *)&ktrace_mailbox.applied))
		return;
	if (!ktrace_arch_compare_swap(&ktrace_state.mailing, 0, 1))
		return;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (requested_now() != ktrace_mailbox.applied)
		take_all(requested_now());
	ktrace_arch_publish(&ktrace_state.mailing, 0);
}
