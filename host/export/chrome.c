/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Format "json": the Trace Event Format that chrome://tracing and Perfetto read. */
#include "export/chrome.h"

#include <string.h>

#include "analyze/order.h"
#include "export/json.h"

char *chrome_put_new_time(struct chrome *chrome, char *at, uint64_t nanoseconds)
{
	chrome->microsecond = nanoseconds - nanoseconds % 1000;
	chrome->digits_length =
		(uint32_t)(number_decimal(chrome->digits, nanoseconds / 1000) - chrome->digits);
	chrome->digits[chrome->digits_length++] = '.';
	/* Made twice: to copy digits that were stored singly right before makes the processor wait for the stores. */
	return chrome_put_microseconds(at, nanoseconds);
}

void chrome_name(struct chrome *chrome, const char *what, int64_t pid, int64_t tid, const char *name)
{
	char *at = chrome_begin(chrome);

	at = number_literal(at, "{\"ph\":\"M\",\"name\":");
	at = json_put_name(at, what);
	at = number_decimal(number_literal(at, ",\"pid\":"), (uint64_t)pid);
	if (tid >= 0)
		at = number_decimal(number_literal(at, ",\"tid\":"), (uint64_t)tid);
	at = json_put_name(number_literal(at, ",\"args\":{\"name\":"), name);
	output_done(&chrome->out, number_literal(at, "}}"));
}

static int write_json(struct ktread *trace, int fd, struct export_report *report)
{
	struct chrome chrome = {
		.trace = trace,
		.report = report,
		.base = ktread_first_stamp(trace),
	};
	char order[ORDER_TEXT];
	int result = output_open(&chrome.out, fd);

	if (result < 0)
		return result;
	ticks_scale_init(&chrome.scale, ktread_info(trace)->frequency);
	output_text(&chrome.out, "{\"displayTimeUnit\":\"ns\",");
	if (order_say_json(trace, order) > 0)
		output_format(&chrome.out, "\"otherData\":{%s},", order);
	output_text(&chrome.out, "\"traceEvents\":[\n");
	result = chrome_write_events(&chrome);
	output_text(&chrome.out, "\n]}\n");
	report->output_error = output_close(&chrome.out);
	return report->output_error ? KTREAD_E_SYSTEM : result < 0 ? result : 0;
}

const struct export_format export_json = {
	.name = "json",
	.purpose = "Chrome trace JSON, for ui.perfetto.dev and chrome://tracing",
	.write = write_json,
};
