/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/json.h"
#include "observe/observe.h"

void observe_report(struct base_output *out, const struct findings *findings)
{
	const struct finding_style style = { .certain = true };

	for (uint32_t n = 0; n < findings->count; n++)
		finding_put_text(out, &findings->finding[n], &style);
}

static const char *word_of(enum observe_fact fact)
{
	return fact == OBSERVE_NEVER	   ? "never"
	       : fact == OBSERVE_SOMETIMES ? "sometimes"
	       : fact == OBSERVE_ALWAYS	   ? "always"
					   : "";
}

static void put_address(struct base_output *out, const char *key, uint64_t address)
{
	base_json_put_format(out, key, "\"0x%llx\"", (unsigned long long)address);
}

static void put_cpu(struct base_output *out, uint32_t n, const struct observe_cpu *cpu,
		    const struct profile_names *names)
{
	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "cpu", n);
	base_json_put_number(out, "samples", cpu->samples);
	base_json_put(out, "halted", word_of(cpu->halted));
	base_json_put(out, "interrupts", word_of(cpu->interrupts));
	base_json_put(out, "user", word_of(cpu->user));
	put_address(out, "lowest", cpu->lowest_pc);
	put_address(out, "highest", cpu->highest_pc);
	base_json_put(out, "function", profile_names_at(names, profile_names_find(names, cpu->last_pc)));
	if (cpu->ran >= 0)
		base_json_put_format(out, "ran", "%.3f", cpu->ran);
	else
		base_json_put_format(out, "ran", "null");
	base_json_begin(out, "stack", '[');
	for (uint32_t place = 0; place < cpu->places; place++)
		put_address(out, NULL, cpu->place[place]);
	base_output_text(out, "]}");
}

void observe_report_json(struct base_output *out, const struct findings *findings,
			 const struct observe *observe, const struct profile_names *names)
{
	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "version", 1);
	base_json_put(out, "verdict", findings->count ? findings->finding[0].kind : "unknown");
	base_json_put(out, "kernel", "");
	base_json_put(out, "ended", "");
	base_json_put(out, "state", observe->state);
	base_json_begin(out, "findings", '[');
	for (uint32_t n = 0; n < findings->count; n++) {
		base_json_begin(out, NULL, '{');
		finding_put_json(out, &findings->finding[n], NULL);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
	base_json_begin(out, "cpus", '[');
	for (uint32_t n = 0; n < observe->cpus; n++)
		put_cpu(out, n, &observe->cpu[n], names);
	base_output_text(out, "]");
	base_json_begin(out, "threads", '[');
	base_output_text(out, "]}\n");
}
