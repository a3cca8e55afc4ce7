/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "plan.h"
#include "record.h"

int capture_plan_save(const struct capture_plan *plan, const char *file)
{
	struct capture_record record = { 0 };
	int error;

	capture_record_set(&record, "transport", "%s", capture_transport_name(plan->transport));
	capture_record_set(&record, "allow-reboot", "%s", plan->allow_reboot ? "yes" : "no");
	capture_record_set(&record, "force", "%s", plan->force ? "yes" : "no");
	capture_record_set(&record, "path", "%s", plan->path);
	capture_record_set(&record, "config", "%s", plan->config);
	capture_record_set(&record, "events", "%s", plan->events);
	capture_record_set(&record, "plugin", "%s", plan->unit.plugin);
	capture_record_set(&record, "branches", "%s", plan->unit.out);
	error = capture_record_save(&record, file);
	capture_record_free(&record);
	return error;
}

int capture_plan_load(struct capture_plan *plan, const char *file)
{
	struct capture_record record = { 0 };
	int error = capture_record_load(&record, file);

	if (error)
		return error;
	*plan = (struct capture_plan){ 0 };
	plan->allow_reboot = strcmp(capture_record_get(&record, "allow-reboot"), "yes") == 0;
	plan->force = strcmp(capture_record_get(&record, "force"), "yes") == 0;
	snprintf(plan->path, sizeof(plan->path), "%s", capture_record_get(&record, "path"));
	snprintf(plan->config, sizeof(plan->config), "%s", capture_record_get(&record, "config"));
	snprintf(plan->events, sizeof(plan->events), "%s", capture_record_get(&record, "events"));
	snprintf(plan->unit.plugin, sizeof(plan->unit.plugin), "%s", capture_record_get(&record, "plugin"));
	snprintf(plan->unit.out, sizeof(plan->unit.out), "%s", capture_record_get(&record, "branches"));
	error = capture_transport_named(&plan->transport, capture_record_get(&record, "transport"));
	capture_record_free(&record);
	return error;
}

bool capture_plan_starts_guest(const struct capture_qemu_line *line)
{
	return !line->paused && !line->incoming;
}

/* Copies the line; --events go to the end of the kernel's command line. */
static int copy_line(const struct capture_plan *plan, const struct capture_qemu_line *line,
		     char *const *words, struct capture_words *extended)
{
	if (plan->events[0] && !line->kernel)
		return capture_fail(CAPTURE_E_USAGE,
				    "--events travels in the kernel's arguments, which take -kernel "
				    "on the QEMU line");
	for (size_t i = 0; words[i]; i++) {
		if (plan->events[0] && line->append_at && i == line->append_at)
			capture_words_format(extended, "%s debug=%s", words[i], plan->events);
		else
			capture_words_add(extended, words[i]);
	}
	if (plan->events[0] && !line->append_at) {
		capture_words_add(extended, "-append");
		capture_words_format(extended, "debug=%s", plan->events);
	}
	return 0;
}

/* The guest drives the unit through its RAM, where that is a file. */
static int add_trace_unit(const struct capture_plan *plan, const struct capture_qemu_line *line,
			  struct capture_words *extended)
{
	int error = capture_trace_unit_check(line->accelerator);
	const char *ram = "";

	if (plan->transport == CAPTURE_RAM)
		ram = line->backend[0] ? line->backend_path : plan->path;
	return error ? error : capture_trace_unit_add(&plan->unit, extended, line->architecture, ram);
}

int capture_plan_extend(const struct capture_plan *plan, const struct capture_qemu_line *line,
			char *const *words, struct capture_words *extended)
{
	int error = copy_line(plan, line, words, extended);

	if (!error && !(plan->transport == CAPTURE_RAM && line->backend[0]))
		error = capture_transport_add(plan->transport, extended, line->architecture, line->machine,
					      plan->path, line->ram_bytes);
	if (!error && plan->unit.plugin[0])
		error = add_trace_unit(plan, line, extended);
	if (error)
		return error;
	if (line->stays_on_reset && !plan->allow_reboot)
		capture_words_add(extended, "-no-reboot");
	/* What the CPUs were at when the guest reset or switched itself off is asked for, and then QEMU ends. */
	if (!line->own_shutdown && plan->transport == CAPTURE_RAM)
		capture_words_add(extended, "-no-shutdown");
	/*
	 * The guest starts only once ktrace listens, or an early death would go by unseen: -S, and ktrace
	 * sends the start.
	 */
	if (capture_plan_starts_guest(line))
		capture_words_add(extended, "-S");
	/* As -mon or -qmp it would take the place of QEMU's default monitor, and Ctrl-A X with it. */
	capture_words_add(extended, "-readconfig");
	capture_words_add(extended, plan->config);
	if (extended->failed)
		return capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	return 0;
}
