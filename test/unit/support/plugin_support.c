/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <intel-pt.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "ktrx/hwt_unit.h"
#include "plugin/trace.h"
#include "unit/support/plugin_support.h"

#define CODE_MOST 256

static struct {
	uint64_t address;
	unsigned size;
	unsigned char bytes[64];
} code[CODE_MOST];
static unsigned codes;
static unsigned char buffer[BUFFER_SIZE];
static struct output_piece piece = { .bytes = buffer, .size = BUFFER_SIZE };
static char text[1 << 20];

static void never(void)
{
}

struct trace *machine_trace(void)
{
	static int open;

	if (!open)
		assert_int_equal(flow_open(&encoder_pt, 2, never), 0);
	open = 1;
	return flow_ring_trace(0);
}

void machine_begin(void)
{
	struct trace *trace = machine_trace();

	flow_end(trace, 0);
	flow_pause();
	codes = 0;
	memset(buffer, 0, sizeof(buffer));
	trace->output.piece = &piece;
	trace->output.pieces = 1;
	trace->output.limit = UINT64_MAX;
	trace->output.lost = 0;
	output_seek(&trace->output, 0);
	trace->timed = 0;
	trace->compress = 1;
	trace->space = 0;
	trace->mode = 1;
	trace->ranges = 0;
	trace_levels(trace, 1, 1, 0, 0);
	clock_set(trace, 0, 0);
	flow_begin(trace, 0);
}

static struct block *block_of(uint64_t address, const char *instructions, int exact)
{
	struct instruction one[16];
	size_t count = 0;

	assert_true(codes < CODE_MOST);
	code[codes].address = address;
	code[codes].size = 0;
	for (; *instructions != '\0'; instructions += 1 + one[count++].size) {
		const unsigned char *bytes = (const unsigned char *)instructions + 1;
		size_t size = (unsigned char)*instructions;

		memcpy(code[codes].bytes + code[codes].size, bytes, size);
		one[count] = (struct instruction){ .address = address + code[codes].size,
						   .bytes = bytes,
						   .size = size,
						   .stop = exact && encoder_pt.faults(bytes, size) };
		code[codes].size += (unsigned)size;
	}
	codes++;
	return block_get(&encoder_pt, one, count);
}

struct block *machine_block(uint64_t address, const char *instructions)
{
	return block_of(address, instructions, 0);
}

struct block *machine_exact(uint64_t address, const char *instructions)
{
	return block_of(address, instructions, 1);
}

void machine_run(struct block *block)
{
	flow_enter(0, &block->end_point);
}

static int read_code(uint8_t *to, size_t size, const struct pt_asid *asid, uint64_t address, void *context)
{
	size_t got = 0;

	(void)asid;
	(void)context;
	while (got < size) {
		size_t before = got;

		for (unsigned i = 0; i < codes && got == before; i++) {
			uint64_t into = address + got - code[i].address;

			if (into < code[i].size)
				to[got++] = code[i].bytes[into];
		}
		if (got == before)
			break;
	}
	return got > 0 ? (int)got : -pte_nomap;
}

static size_t print(size_t used, const char *what, uint64_t value)
{
	return used + (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%" PRIx64, used > 0 ? " " : "",
				       what, value);
}

/* The last mode that was printed: a mode is printed only if it changes. Decoding begins in 64-bit mode. */
static enum pt_exec_mode mode;

static size_t print_mode(size_t used, enum pt_exec_mode now)
{
	int news = now != mode;

	mode = now;
	return news ? print(used, now == ptem_64bit ? "bits:" : "not:", 0x64) : used;
}

static size_t print_event(size_t used, const struct pt_event *event)
{
	/* libipt 2.1 also repeats at each PSB whether tracing is enabled */
	if (event->status_update && (event->type == ptev_enabled || event->type == ptev_disabled))
		return used;
	switch (event->type) {
	case ptev_enabled:
		return print(used, "on:", event->variant.enabled.ip);
	case ptev_disabled:
		return print(used, "off:", event->ip_suppressed ? 0 : event->variant.disabled.ip);
	case ptev_async_disabled:
		return print(used, "off@", event->variant.async_disabled.at);
	case ptev_async_branch:
		used = print(used, "async:", event->variant.async_branch.from);
		return print(used, "to:", event->variant.async_branch.to);
	case ptev_overflow:
		return print(used, "overflow:", 0);
	case ptev_exec_mode:
		return event->status_update ? used : print_mode(used, event->variant.exec_mode.mode);
	case ptev_async_paging:
	case ptev_paging:
		return print(used, "space:",
			     event->type == ptev_paging ? event->variant.paging.cr3
							: event->variant.async_paging.cr3);
	default:
		return used;
	}
}

const char *machine_decoded(void)
{
	struct pt_image *image = pt_image_alloc("code");
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	size_t used = 0;
	int status;

	flow_flush(machine_trace());
	pt_config_init(&config);
	config.begin = buffer;
	config.end = buffer + output_position(&machine_trace()->output);
	config.mtc_freq = KTRX_HWT_UNIT_MTC_FREQUENCY;
	config.cpuid_0x15_eax = config.cpuid_0x15_ebx = 1;
	pt_image_set_callback(image, read_code, NULL);
	decoder = pt_insn_alloc_decoder(&config);
	pt_insn_set_image(decoder, image);
	text[0] = '\0';
	mode = ptem_64bit;
	status = pt_insn_sync_forward(decoder);
	while (status >= 0 && used + 64 < sizeof(text)) {
		struct pt_event event;
		struct pt_insn insn;

		if (status & pts_event_pending) {
			status = pt_insn_event(decoder, &event, sizeof(event));
			if (status >= 0)
				used = print_event(used, &event);
		} else if (status & pts_eos) {
			break;
		} else {
			status = pt_insn_next(decoder, &insn, sizeof(insn));
			if (status >= 0)
				used = print(used, "", insn.ip);
		}
	}
	if (status < 0 && status != -pte_eos)
		snprintf(text + used, sizeof(text) - used, " error:%s", pt_errstr(pt_errcode(status)));
	pt_insn_free_decoder(decoder);
	pt_image_free(image);
	return text;
}
