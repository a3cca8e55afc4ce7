/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads the registers in a sample. Their text comes from QEMU, and is not trusted. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cpu_state.h"
#include "observe/observe.h"

#define X86_INTERRUPTS	   0x200u /* bit IF in the register eflags or rflags */
#define ARM_MASKED	   0x80u  /* bit I in PSTATE */
#define ARM_FAST_MASKED	   0x40u  /* bit F in PSTATE */
#define ARM_LEVEL	   0x0fu
#define RISCV_SUPERVISOR   0x2u /* bit SIE in mstatus */
#define RISCV_MACHINE_MODE 0x8u /* bit MIE in mstatus */

/* Finds " NAME=HEX" in a line of registers. */
static bool find(const char *line, size_t length, const char *name, uint64_t *value)
{
	const char *found = memmem(line, length, name, strlen(name));

	if (found)
		*value = strtoull(found + strlen(name), NULL, 16);
	return found != NULL;
}

static void add_fact(enum observe_fact *fact, bool first, bool known, bool value)
{
	if (!known)
		*fact = OBSERVE_UNKNOWN;
	else if (first)
		*fact = value ? OBSERVE_ALWAYS : OBSERVE_NEVER;
	else if (*fact != OBSERVE_UNKNOWN && *fact != (value ? OBSERVE_ALWAYS : OBSERVE_NEVER))
		*fact = OBSERVE_SOMETIMES;
}

/* Adds the modes of a CPU, which are taken from the registers in the CPU's line. */
static void add_modes(struct observe_cpu *cpu, uint16_t machine, const char *line, size_t length)
{
	const bool first = cpu->samples == 0;
	uint64_t value = 0;
	bool known;

	if (machine == EM_X86_64) {
		known = find(line, length, " flags=", &value);
		add_fact(&cpu->interrupts, first, known, value & X86_INTERRUPTS);
		add_fact(&cpu->fast, first, known, value & X86_INTERRUPTS);
		known = find(line, length, " cpl=", &value);
		add_fact(&cpu->user, first, known, value == 3);
		known = find(line, length, " hlt=", &value);
		add_fact(&cpu->halted, first, known, value == 1);
	} else if (machine == EM_AARCH64) {
		known = find(line, length, " pstate=", &value);
		add_fact(&cpu->interrupts, first, known, !(value & ARM_MASKED));
		add_fact(&cpu->fast, first, known, !(value & ARM_FAST_MASKED));
		add_fact(&cpu->user, first, known, (value & ARM_LEVEL) == 0);
		add_fact(&cpu->halted, first, false, false);
	} else {
		/* the mode decides which of the two bits enables interrupts, and the mode is unknown */
		known = find(line, length, " mstatus=", &value) &&
			!(value & (RISCV_SUPERVISOR | RISCV_MACHINE_MODE));
		add_fact(&cpu->interrupts, first, known, false);
		add_fact(&cpu->fast, first, known, false);
		add_fact(&cpu->user, first, false, false);
		add_fact(&cpu->halted, first, false, false);
	}
}

static uint64_t hash_of(const char *line, size_t length)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t n = 0; n < length; n++)
		hash = (hash ^ (unsigned char)line[n]) * UINT64_C(1099511628211);
	return hash;
}

static void add_state(struct observe_cpu *cpu, uint64_t hash)
{
	for (uint32_t n = 0; n < cpu->states && n < OBSERVE_STATES; n++)
		if (cpu->state[n] == hash)
			return;
	if (cpu->states < OBSERVE_STATES)
		cpu->state[cpu->states] = hash;
	if (cpu->states <= OBSERVE_STATES)
		cpu->states++;
}

static void add_cpu(struct observe *observe, const char *line, size_t length)
{
	const unsigned long number = strtoul(line + 4, NULL, 10);
	struct observe_cpu *cpu;
	uint64_t pc, hash;

	if (number >= OBSERVE_CPUS || !find(line, length, " pc=", &pc))
		return;
	cpu = &observe->cpu[number];
	if (number >= observe->cpus)
		observe->cpus = (uint32_t)number + 1;
	add_modes(cpu, observe->machine, line, length);
	hash = hash_of(line, length);
	if (cpu->samples == 0)
		cpu->first_pc = cpu->lowest_pc = cpu->highest_pc = pc;
	cpu->lowest_pc = pc < cpu->lowest_pc ? pc : cpu->lowest_pc;
	cpu->highest_pc = pc > cpu->highest_pc ? pc : cpu->highest_pc;
	add_state(cpu, hash);
	cpu->last_pc = pc;
	cpu->samples++;
}

bool observe_add(struct observe *observe, const char *printed)
{
	char *text = capture_registers_of_qemu(printed);
	bool added = false;

	for (const char *line = text; line && *line;) {
		const size_t length = strcspn(line, "\n");

		if (strncmp(line, "cpu ", 4) == 0) {
			add_cpu(observe, line, length);
			added = true;
		}
		line += length + (line[length] == '\n');
	}
	free(text);
	return added;
}
