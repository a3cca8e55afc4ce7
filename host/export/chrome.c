/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Format "json": the Trace Event Format that chrome://tracing and Perfetto read. */
#include "export/chrome.h"

#include <string.h>

#include "analyze/order.h"
#include "base/json.h"

char *chrome_put_new_time(struct chrome *chrome, char *at, uint64_t nanoseconds)
{
	chrome->microsecond = nanoseconds - nanoseconds % 1000;
	chrome->digits_length =
		(uint32_t)(base_put_decimal(chrome->digits, nanoseconds / 1000) - chrome->digits);
	chrome->digits[chrome->digits_length++] = '.';
	/* Made twice: to copy digits that were stored singly right before makes the processor wait for the stores. */
	return chrome_put_microseconds(at, nanoseconds);
}

void chrome_name(struct chrome *chrome, const char *what, int64_t pid, int64_t tid, const char *name)
{
	char *at = chrome_begin(chrome);

	at = base_put_literal(at, "{\"ph\":\"M\",\"name\":");
	at = base_json_name(at, what);
	at = base_put_decimal(base_put_literal(at, ",\"pid\":"), (uint64_t)pid);
	if (tid >= 0)
		at = base_put_decimal(base_put_literal(at, ",\"tid\":"), (uint64_t)tid);
	at = base_json_name(base_put_literal(at, ",\"args\":{\"name\":"), name);
	base_output_done(&chrome->out, base_put_literal(at, "}}"));
}

static int write_json(struct ktread *trace, int fd, struct export_report *report)
{
	struct chrome chrome = {
		.trace = trace,
		.report = report,
		.base = ktread_first_stamp(trace),
	};
	char order[ORDER_TEXT];
	int result;

	if (base_output_open(&chrome.out, fd) < 0)
		return KTREAD_E_MEMORY;
	base_ticks_scale_init(&chrome.scale, ktread_info(trace)->frequency);
	base_output_text(&chrome.out, "{\"displayTimeUnit\":\"ns\",");
	if (order_say_json(trace, order) > 0)
		base_output_format(&chrome.out, "\"otherData\":{%s},", order);
	base_output_text(&chrome.out, "\"traceEvents\":[\n");
	result = chrome_write_events(&chrome);
	base_output_text(&chrome.out, "\n]}\n");
	report->output_error = base_output_close(&chrome.out);
	return report->output_error ? KTREAD_E_SYSTEM : result < 0 ? result : 0;
}

const struct export_format export_json = {
	.name = "json",
	.purpose = "Chrome trace JSON, for ui.perfetto.dev and chrome://tracing",
	.write = write_json,
};
