/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>

#include "ktrx/slot.h"
#include "page/pass.h"

uint32_t page_lane_of(struct page_pass *pass, const struct ktread_event *event)
{
	const struct page_owner *owner = page_owner_of(pass, spans_owner_by(pass->threads, event));

	return owner ? owner->lane : 0;
}

void page_arrow_end(struct page_pass *pass, const struct page_begun *begun, uint32_t to, unsigned kind,
		    uint64_t length)
{
	const uint64_t time = page_time(pass->page, begun->begin);
	const uint64_t end = page_time(pass->page, begun->begin + length);
	const struct page_arrow arrow = {
		.time = time,
		.length = end - time,
		.slot = begun->slot,
		.ring = begun->ring,
		.from = begun->other - 1,
		.to = to,
		.kind = (uint8_t)kind,
	};

	if (page_is_due(pass, time, end) && page_arrows_add(&pass->arrows, &arrow) < 0)
		pass->error = KTREAD_E_MEMORY;
}

/* Ends request `n` of a CPU. `length`: time in ticks until the request was received; 0 if unknown. */
static void end_request(struct page_pass *pass, struct page_owner *owner, uint32_t n, uint64_t length)
{
	page_arrow_end(pass, &owner->request[n].sent, owner->lane - 1, PAGE_ARROW_IPI, length);
	owner->requests--;
	memmove(&owner->request[n], &owner->request[n + 1],
		(owner->requests - n) * sizeof(owner->request[0]));
}

static void send(struct page_pass *pass, const struct ktread_event *event, uint32_t target, uint64_t what)
{
	const uint32_t lane = page_lane_of(pass, event);
	struct page_owner *owner = page_owner_cpu(pass, target);

	if (!owner || lane == 0)
		return;
	if (owner->requests == PAGE_REQUESTS)
		end_request(pass, owner, 0, 0);
	owner->request[owner->requests++] = (struct page_request){
		.sent = { .begin = event->stamp, .slot = event->index, .ring = event->ring, .other = lane },
		.what = what,
	};
}

/* Ends all requests for one of the actions that the CPU executes now. */
static void receive(struct page_pass *pass, const struct ktread_event *event, uint64_t what)
{
	struct page_owner *owner = page_owner_cpu(pass, event->cpu);

	for (uint32_t n = 0; owner && n < owner->requests;) {
		const struct page_request *request = &owner->request[n];
		const uint64_t begin = request->sent.begin;

		if (what == 0 || request->what == 0 || (request->what & what))
			end_request(pass, owner, n, event->stamp > begin ? event->stamp - begin : 0);
		else
			n++;
	}
}

void page_requests_event(struct page_pass *pass, const struct ktread_event *event,
			 const struct wellknown *known)
{
	uint64_t target = event->cpu, what = 0;

	if (known->kind != WELLKNOWN_IPI_SEND && known->kind != WELLKNOWN_IPI_RECEIVE)
		return;
	wellknown_number(known, event, WELLKNOWN_NUMBER, &what);
	if (known->kind == WELLKNOWN_IPI_SEND && !wellknown_number(known, event, WELLKNOWN_CPU, &target))
		return;
	if (target >= THREADS_CPUS_MAX)
		return;
	if (known->kind == WELLKNOWN_IPI_SEND)
		send(pass, event, (uint32_t)target, what);
	else
		receive(pass, event, what);
}

void page_requests_forget(struct page_pass *pass)
{
	for (uint32_t n = 0; n < pass->cpus.room; n++)
		while (pass->cpus.owner[n].requests)
			end_request(pass, &pass->cpus.owner[n], 0, 0);
}
