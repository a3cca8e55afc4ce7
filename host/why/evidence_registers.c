/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where each CPU stood, and who called it, in the words of a host that had halted them (spec/ktrx.md, section
 * 3).
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why/evidence_state.h"

/* A number at *at, which moves behind it. False: there is none. */
static bool take_number(const char **at, int base, uint64_t *number)
{
	char *end;

	*at += strspn(*at, " ");
	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*number = strtoull(*at, &end, base);
	if (end == *at || errno)
		return false;
	*at = end;
	return true;
}

static struct why_cpu *take_cpu(struct why_evidence *evidence, const char **at)
{
	uint64_t number;

	return take_number(at, 10, &number) && number < evidence->cpus ? &evidence->cpu[number] : NULL;
}

/* What follows a word; NULL: it is another one. */
static const char *behind(const char *at, const char *word)
{
	const size_t length = strlen(word);

	return strncmp(at, word, length) == 0 ? at + length : NULL;
}

#define RISCV_INTERRUPT (UINT64_C(1) << 63)
#define RISCV_CALLS	8u /* from user mode and, by one more each, from the modes above it: not faults */
#define RISCV_CALL_LAST 11u

/*
 * RISC-V keeps where its last trap was taken, and why: for the supervisor, or for machine mode where the
 * kernel runs there.
 */
static uint64_t trap_pc(const char *line)
{
	static const char *const names[][2] = { { " sepc=", " scause=" }, { " mepc=", " mcause=" } };
	const size_t length = strcspn(line, "\n");

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const char *pc = memmem(line, length, names[n][0], strlen(names[n][0]));
		const char *why = memmem(line, length, names[n][1], strlen(names[n][1]));
		uint64_t at, cause;

		if (!pc || !why)
			continue;
		at = strtoull(pc + strlen(names[n][0]), NULL, 16);
		cause = strtoull(why + strlen(names[n][1]), NULL, 16);
		if (at)
			return cause & RISCV_INTERRUPT || (cause >= RISCV_CALLS && cause <= RISCV_CALL_LAST)
				       ? 0
				       : at;
	}
	return 0;
}

static void read_registers(struct why_cpu *cpu, uint64_t *link, const char *at)
{
	const char *value;

	cpu->side = privilege_of(at);
	cpu->trap_pc = trap_pc(at);
	while (*at == ' ') {
		at++;
		if ((value = behind(at, "pc=")))
			cpu->has_registers = take_number(&value, 16, &cpu->pc);
		else if ((value = behind(at, "sp=")))
			take_number(&value, 16, &cpu->sp);
		else if ((value = behind(at, "x30=")))
			take_number(&value, 16, link);
		at += strcspn(at, " \n");
	}
}

static void read_stack(struct why_cpu *cpu, const char *at)
{
	while (*at == ' ' && cpu->frames < WHY_FRAMES && take_number(&at, 16, &cpu->frame[cpu->frames]))
		cpu->frames++;
}

/* The function's first address; 0: it is not known which. `call`: of a return address. */
static uint64_t function_at(const struct why_evidence *evidence, uint64_t address, bool call)
{
	struct symbol symbol;
	int status;

	status = call ? symbols_find_call(evidence->symbols, address, &symbol)
		      : symbols_find(evidence->symbols, address, &symbol);
	return status == 0 ? address - symbol.offset : 0;
}

/*
 * A function of AArch64 that calls none leaves no frame: its caller stands in the link register alone. One
 * that has called leaves its own address there, and one that was only just called has told it by its frame,
 * too.
 */
static void add_link(const struct why_evidence *evidence, struct why_cpu *cpu, uint64_t link)
{
	const bool is_kernel = cpu->has_registers && cpu->side != PRIVILEGE_USER;
	const uint64_t function = is_kernel && link ? function_at(evidence, cpu->pc, false) : 0;
	const uint64_t caller = function ? function_at(evidence, link, true) : 0;

	if (!caller || caller == function || (cpu->frames && cpu->frame[0] == link))
		return;
	cpu->frames -= cpu->frames == WHY_FRAMES;
	memmove(&cpu->frame[1], &cpu->frame[0], cpu->frames * sizeof(cpu->frame[0]));
	cpu->frame[0] = link;
	cpu->frames++;
}

int why_registers(struct why_evidence *evidence)
{
	const char *at = evidence->info->registers;
	uint64_t *link = calloc((size_t)evidence->cpus + 1, sizeof(*link)); /* registers, by CPU */

	if (!link)
		return KTREAD_E_MEMORY;
	while (*at) {
		const char *stack = behind(at, "stack "), *registers = behind(at, "cpu ");
		struct why_cpu *cpu;

		if (stack && (cpu = take_cpu(evidence, &stack)))
			read_stack(cpu, stack);
		else if (registers && (cpu = take_cpu(evidence, &registers)))
			read_registers(cpu, &link[cpu->number], registers);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	for (uint32_t n = 0; n < evidence->cpus; n++)
		add_link(evidence, &evidence->cpu[n], link[n]);
	free(link);
	return 0;
}
