/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "cpu_state.h"

#define NAME_BYTES 16u
#define MOST_CPUS  4096u

/* Names that differ between machines and are the same thing. */
static const char *usual_name(const char *name)
{
	return strcmp(name, "rip") == 0 || strcmp(name, "eip") == 0   ? "pc"
	       : strcmp(name, "rsp") == 0 || strcmp(name, "esp") == 0 ? "sp"
	       : strcmp(name, "rfl") == 0 || strcmp(name, "efl") == 0 ? "flags"
								      : name;
}

/* "RAX" as rax, "x1/ra" as ra. Returns what follows the name, NULL where none begins. */
static const char *read_name(const char *at, char name[NAME_BYTES])
{
	size_t used = 0;

	if (!isalpha((unsigned char)*at))
		return NULL;
	for (; isalnum((unsigned char)*at) || *at == '/' || *at == '_'; at++) {
		if (*at == '/')
			used = 0;
		else if (used < NAME_BYTES - 1)
			name[used++] = (char)tolower((unsigned char)*at);
	}
	name[used] = '\0';
	return at;
}

/*
 * Hexadecimal digits, 16 at most, that stand for themselves. Returns what follows, NULL if it is something
 * else.
 */
static const char *read_value(const char *at, uint64_t *value)
{
	size_t digits = strspn(at, "0123456789abcdefABCDEF");

	if (digits == 0 || digits > 16 || isalnum((unsigned char)at[digits]) || at[digits] == ':')
		return NULL;
	*value = strtoull(at, NULL, 16);
	return at + digits;
}

/* Of a machine's other units: nothing that explains where it stands. */
static bool is_wanted(const char *name)
{
	static const char *const other[] = { "fpr", "xmm", "ymm", "mxcsr", "fpcr", "fpsr", "fcw", "dpl",
					     "ft",  "fa",  "ii",  "a20",   "smm",  "v",	   "dr" };

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (strncmp(name, other[i], strlen(other[i])) == 0)
			return false;
	if (strncmp(name, "fs", 2) == 0 && isdigit((unsigned char)name[2])) /* "fs" alone is x86's segment */
		return false;
	/* Parts of segment registers that begin with a letter look like names. */
	return name[0] && (strlen(name) < 3 || name[strspn(name, "0123456789abcdef")]);
}

/* The next "NAME=HEX", "NAME =HEX" or "NAME HEX" before the line's end. */
static bool next_register(const char **at, char name[NAME_BYTES], uint64_t *value)
{
	while (**at && **at != '\n') {
		const char *behind = read_name(*at, name), *end;

		if (!behind) {
			size_t digits = strspn(*at, "0123456789abcdefABCDEF");

			*at += digits ? digits : 1;
			continue;
		}
		behind += strspn(behind, " ");
		behind += *behind == '=';
		behind += strspn(behind, " ");
		end = read_value(behind, value);
		*at = end ? end : *at + strcspn(*at, " =\n");
		if (end && is_wanted(name))
			return true;
	}
	return false;
}

/* Adds a register to the line of its CPU unless it has one of that name, as flags of segments do. */
static void add(FILE *line, char *const *text, const char *name, uint64_t value)
{
	char key[NAME_BYTES + 3];

	fflush(line);
	snprintf(key, sizeof(key), " %s=", name);
	if (!*text || !strstr(*text, key))
		fprintf(line, " %s=%" PRIx64, name, value);
}

/* One CPU's part, up to the next "CPU#"; false for want of memory. */
static bool add_cpu(FILE *all, const char **at)
{
	char name[NAME_BYTES], *front = NULL, *rest = NULL;
	size_t front_size, rest_size;
	FILE *first = open_memstream(&front, &front_size), *others = open_memstream(&rest, &rest_size);
	uint64_t value;

	while (first && others && **at && strncmp(*at, "CPU#", 4) != 0) {
		while (next_register(at, name, &value)) {
			const char *usual = usual_name(name);
			bool leads = strcmp(usual, "pc") == 0 || strcmp(usual, "sp") == 0;

			add(leads ? first : others, leads ? &front : &rest, usual, value);
		}
		*at += **at == '\n';
	}
	if (first)
		fclose(first);
	if (others)
		fclose(others);
	if (front && rest)
		fprintf(all, "%s%s\n", front, rest);
	free(front);
	free(rest);
	return first && others;
}

char *capture_registers_of_qemu(const char *printed)
{
	char *text = NULL;
	size_t size;
	FILE *all = open_memstream(&text, &size);
	const char *at = strstr(printed, "CPU#");
	bool complete = all != NULL;

	for (unsigned n = 0; complete && at && *at && n < MOST_CPUS; n++) {
		char *end;
		unsigned long cpu = strtoul(at + 4, &end, 10);

		fprintf(all, "cpu %lu", cpu);
		at = end;
		complete = add_cpu(all, &at);
	}
	if (all && fclose(all) != 0)
		complete = false;
	if (!complete) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * In the order in which gdb numbers them; 8 bytes each. Behind them are those that say in which mode the CPU
 * is, 4 bytes each. RISC-V has none there.
 */
static const char *const names_x86_64[] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "sp", "r8",
					    "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "pc", NULL };
static const char *const names_aarch64[] = { "x0",  "x1",  "x2",  "x3",	 "x4",	"x5",  "x6",  "x7",  "x8",
					     "x9",  "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
					     "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
					     "x27", "x28", "x29", "x30", "sp",	"pc",  NULL };
static const char *const names_riscv64[] = { "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0",
					     "s1",   "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
					     "s2",   "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
					     "s11",  "t3", "t4", "t5", "t6", "pc", NULL };

static const char *const modes_x86_64[] = { "flags", "cs", "ss", NULL };
static const char *const modes_aarch64[] = { "pstate", NULL };

static const char *const *modes_of(uint16_t machine)
{
	return machine == EM_X86_64 ? modes_x86_64 : machine == EM_AARCH64 ? modes_aarch64 : NULL;
}

static const char *const *names_of(uint16_t machine)
{
	return machine == EM_X86_64    ? names_x86_64
	       : machine == EM_AARCH64 ? names_aarch64
	       : machine == EM_RISCV   ? names_riscv64
				       : NULL;
}

static uint64_t value_at(const unsigned char *bytes, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/* Registers that lead the line, then the others. */
static void put_named(FILE *line, const char *const *name, const unsigned char *bytes, size_t size,
		      bool leading)
{
	for (size_t i = 0; name && name[i] && (i + 1) * 8 <= size; i++)
		if ((strcmp(name[i], "pc") == 0 || strcmp(name[i], "sp") == 0) == leading)
			fprintf(line, " %s=%" PRIx64, name[i], value_at(bytes + i * 8, 8));
}

static void put_modes(FILE *line, uint16_t machine, const unsigned char *bytes, size_t size)
{
	const char *const *name = names_of(machine), *const *mode = modes_of(machine);
	size_t at = 0;

	while (name && name[at / 8])
		at += 8;
	for (; mode && *mode && at + 4 <= size; mode++, at += 4)
		fprintf(line, " %s=%" PRIx64, *mode, value_at(bytes + at, 4));
}

int capture_registers_of_gdb(char **text, uint32_t cpu, uint16_t machine, const unsigned char *bytes,
			     size_t size)
{
	char *grown = NULL;
	size_t length;
	FILE *line = open_memstream(&grown, &length);

	if (!line)
		return capture_fail_errno("registers");
	fprintf(line, "%scpu %" PRIu32, *text ? *text : "", cpu);
	put_named(line, names_of(machine), bytes, size, true);
	put_named(line, names_of(machine), bytes, size, false);
	put_modes(line, machine, bytes, size);
	fputc('\n', line);
	if (fclose(line) != 0) {
		free(grown);
		return capture_fail_errno("registers");
	}
	free(*text);
	*text = grown;
	return 0;
}
