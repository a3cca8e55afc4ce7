/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The trace unit as a device of the guest: executes its commands. */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ktrx/hwt_unit.h"
#include "flow.h"
#include "trace.h"

#define EXTENTS_MOST 4095u

/*
 * A command of the guest, and a copy of the page's contents. The page is copied only once, because the guest
 * may change it at any time.
 */
struct request {
	uint32_t command;
	uint64_t next; /* address of the instruction after the store to the doorbell */
	struct ktrx_hwt_unit page;
};

/* Writes the position that the guest's trace has reached to the page. */
static void publish(struct ktrx_hwt_unit *page, const struct trace *trace)
{
	page->position = output_position(&trace->output);
	page->wraps = page->position > 0 ? (page->position - 1) / trace->output.size : 0;
	page->lost = trace->output.lost;
}

static int take_output(struct output *output, uint64_t physical, uint32_t count)
{
	const struct ktrx_hwt_extent *table;
	struct output_piece *piece;

	if (count == 0 || count > EXTENTS_MOST || physical % sizeof(uint64_t) != 0)
		return -1;
	table = memory_at(physical, count * sizeof(*table));
	if (table == NULL)
		return -1;
	piece = malloc(count * sizeof(*piece));
	if (piece == NULL)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		struct ktrx_hwt_extent extent;

		memcpy(&extent, &table[i], sizeof(extent));
		piece[i] = (struct output_piece){ .bytes = memory_at(extent.physical, extent.size),
						  .size = extent.size };
		if (extent.size == 0 || piece[i].bytes == NULL) {
			free(piece);
			return -1;
		}
	}
	free(output->piece);
	output->piece = piece;
	output->pieces = count;
	return 0;
}

static void take_filter(struct trace *trace, const struct ktrx_hwt_unit *page)
{
	int user = (page->control & KTRX_HWT_UNIT_CONTROL_USER) != 0;
	int kernel = (page->control & KTRX_HWT_UNIT_CONTROL_KERNEL) != 0;

	trace_levels(trace, user, kernel, page->user_start, page->user_end);
	trace->ranges = page->ranges < TRACE_RANGES ? page->ranges : TRACE_RANGES;
	for (uint32_t i = 0; i < trace->ranges; i++) {
		trace->range[i].start = page->range[i].start;
		trace->range[i].end = page->range[i].end;
	}
}

static uint32_t enable(struct trace *trace, const struct request *request)
{
	const struct ktrx_hwt_unit *page = &request->page;
	struct output *output = &trace->output;

	flow_end(trace, request->next);
	if (take_output(output, page->table, page->extents) != 0)
		return KTRX_HWT_UNIT_ERROR_OUTPUT;
	output_seek(output, page->start);
	output->limit = page->control & KTRX_HWT_UNIT_CONTROL_STOP ? page->limit : UINT64_MAX;
	output->lost = 0;
	take_filter(trace, page);
	trace->space = page->space;
	trace->thread = page->thread;
	trace->mode = trace->encoder->ringing;
	trace->timed = (page->control & KTRX_HWT_UNIT_CONTROL_TIME) != 0;
	trace->compress = (page->control & KTRX_HWT_UNIT_CONTROL_RETURN) != 0;
	clock_set(trace, page->stamp, page->frequency);
	flow_begin(trace, request->next);
	return 0;
}

static void change_space(unsigned cpu, const struct request *request)
{
	struct trace *trace[2] = { flow_ring_trace(cpu), flow_guest_trace(cpu) };
	const struct ktrx_hwt_unit *page = &request->page;

	flow_space(cpu, page->space & trace[0]->encoder->space_bits, page->user_start, page->user_end);
	for (unsigned i = 0; i < 2; i++) {
		trace[i]->space = page->space;
		trace[i]->thread = page->thread;
		flow_sync(trace[i], request->next);
	}
}

static uint32_t run_command(unsigned cpu, struct trace *trace, const struct request *request,
			    struct ktrx_hwt_unit *page)
{
	uint32_t error = 0;

	if (request->page.magic != KTRX_HWT_UNIT_MAGIC || request->page.version != KTRX_HWT_UNIT_VERSION)
		return KTRX_HWT_UNIT_ERROR_PAGE;
	if (request->command == KTRX_HWT_UNIT_PROBE) {
		page->unit = KTRX_HWT_UNIT_MAGIC;
		page->encoding = trace->encoder->encoding;
		page->range_most = TRACE_RANGES;
		memcpy(page->parameters, trace->encoder->parameters, trace->encoder->parameters_size);
		return 0;
	}
	if (request->command == KTRX_HWT_UNIT_CLOCK)
		rings_clock(request->page.stamp, request->page.frequency, request->page.nonce);
	if (request->command == KTRX_HWT_UNIT_SPACE)
		change_space(cpu, request);
	if (request->command == KTRX_HWT_UNIT_ENABLE)
		error = enable(trace, request);
	if (error != 0 || !trace->enabled)
		return error;
	if (request->command == KTRX_HWT_UNIT_CLOCK) {
		clock_catch_up(trace, request->page.stamp);
		flow_renew_time(trace);
	}
	if (request->command == KTRX_HWT_UNIT_FLUSH)
		flow_flush(trace);
	if (request->command == KTRX_HWT_UNIT_DISABLE)
		flow_end(trace, request->next);
	publish(page, trace);
	return error;
}

void unit_ring(unsigned cpu, uint64_t physical, uint64_t next)
{
	uint64_t into = physical % sizeof(struct ktrx_hwt_unit);
	struct ktrx_hwt_unit *page = memory_at(physical - into, sizeof(*page));
	struct trace *trace = flow_guest_trace(cpu);
	struct request request = { .next = next };

	if (page == NULL || trace == NULL || into < offsetof(struct ktrx_hwt_unit, doorbell))
		return;
	request.command = (uint32_t)(into - offsetof(struct ktrx_hwt_unit, doorbell));
	memcpy(&request.page, page, offsetof(struct ktrx_hwt_unit, doorbell));
	page->error = run_command(cpu, trace, &request, page);
}

/* ---- The guest's memory ---- */

static const char *file;
static uint64_t base, most, length;
static unsigned char *bytes; /* the mapped memory; NULL: not mapped */
static pthread_once_t once = PTHREAD_ONCE_INIT;

void memory_use(const char *path, uint64_t address, uint64_t span)
{
	file = path;
	base = address;
	most = span;
}

static void map(void)
{
	struct stat status;
	uint64_t size;
	void *mapped;
	int fd;

	if (file == NULL)
		return;
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		size = (uint64_t)status.st_size < most ? (uint64_t)status.st_size : most;
		mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (mapped != MAP_FAILED) {
			bytes = mapped;
			length = size;
		}
	}
	close(fd);
}

void *memory_at(uint64_t physical, uint64_t size)
{
	pthread_once(&once, map);
	if (bytes == NULL || physical < base || physical - base > length || size > length - (physical - base))
		return NULL;
	return bytes + (physical - base);
}
