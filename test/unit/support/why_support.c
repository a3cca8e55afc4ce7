/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/elf_file.h"
#include "unit/support/script.h"
#include "unit/support/why_property.h"
#include "unit/support/why_support.h"
#include "why/report.h"

static struct why_evidence *evidence;
static struct why_findings *findings;
static struct symbols *symbols;
static char text[256 << 10];

int why_setup(void **state)
{
	(void)state;
	script_begin(2);
	return 0;
}

void why_clocks_leave(uint64_t ticks)
{
	struct ktread_info *info = script_info();

	info->clock = KTREAD_CLOCK_MEASURED;
	info->clock_cpus = info->cpus - 1;
	info->clock_samples = 8;
	info->clock_error = info->cpus > 2 ? ticks / 2 : ticks;
	info->clock_to = UINT64_MAX;
}

int why_teardown(void **state)
{
	(void)state;
	why_findings_free(findings);
	why_evidence_free(evidence);
	symbols_close(symbols);
	findings = NULL;
	evidence = NULL;
	symbols = NULL;
	script_end();
	return 0;
}

const struct why_evidence *why_evidence_of_script(void)
{
	if (evidence)
		return evidence;
	script_sort();
	assert_int_equal(why_evidence_read(&evidence, script_trace(), symbols), 0);
	return evidence;
}

void why_kernel_file(const struct elf_file *file)
{
	char path[32];

	elf_file_write(file, path);
	assert_int_equal(symbols_open(&symbols, path, script_info()), SYMBOLS_UNCHECKED);
	unlink(path);
}

const struct why_finding *why_judge(void)
{
	const char *broken;

	if (!findings)
		assert_int_equal(why_find(&findings, why_evidence_of_script()), 0);
	assert_true(why_findings_count(findings) > 0);
	broken = why_property_broken(evidence, findings, true);
	if (broken)
		fail_msg("%s", broken);
	return why_findings_at(findings, 0);
}

const char *why_text(void)
{
	FILE *file = tmpfile();
	struct base_output out;
	size_t length;

	why_judge();
	assert_non_null(file);
	assert_int_equal(base_output_open(&out, fileno(file)), 0);
	why_report(&out, evidence, findings, &(struct why_style){ .all = true });
	assert_int_equal(base_output_close(&out), 0);
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}

/* Returns true if the words follow in order, separated by a space, or by a line break and indentation. */
static bool begins_with(const char *at, const char *words)
{
	for (; *words; words++) {
		if (*words == ' ' && *at == '\n')
			at += 1 + strspn(at + 1, " ");
		else if (*at++ != *words)
			return false;
	}
	return true;
}

void why_says(const char *words)
{
	for (const char *at = why_text(); *at; at++)
		if (begins_with(at, words))
			return;
	fail_msg("'%s' is not in:\n%s", words, text);
}

unsigned why_count(enum why_verdict verdict)
{
	unsigned count = 0;

	why_judge();
	for (uint32_t n = 0; n < why_findings_count(findings); n++)
		count += why_findings_at(findings, n)->verdict == verdict;
	return count;
}

struct ktrx_holder *why_thread_row(uint32_t thread, const char *name, uint8_t state, uint32_t cpu)
{
	struct ktrx_holder *holder = script_holder(thread + 1);

	script_thread(thread, name);
	holder->state = state;
	holder->cpu = cpu;
	return holder;
}

struct ktrx_holder *why_cpu_row(uint32_t cpu, uint8_t mode)
{
	struct ktrx_cpu *row = script_cpu(cpu);

	row->mode = mode;
	row->online = 1;
	row->hooks = WHY_ALL_HOOKS;
	return script_holder(KTRX_HOLDER_CPU | cpu);
}

void why_cpu_beats(uint32_t cpu, uint64_t times, uint64_t until)
{
	struct ktrx_cpu *row = script_cpu(cpu);

	row->heartbeats = times;
	row->heartbeat_stamp = row->now = until;
}

void why_holds(struct ktrx_holder *holder, uint64_t object, uint64_t since)
{
	holder->held[holder->held_count++] = (struct ktrx_held){ .object = object, .stamp = since };
}

void why_waits(struct ktrx_holder *holder, uint8_t kind, uint64_t object, const char *name, uint64_t since)
{
	holder->wait = kind;
	holder->object = object;
	holder->wait_stamp = since;
	strncpy(holder->object_name, name, sizeof(holder->object_name) - 1);
}
