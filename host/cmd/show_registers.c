/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/show.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/note.h"
#include "base/escape.h"
#include "cmd/command.h"

int show_symbols_open(struct symbols **symbols, const char *elf, const struct ktread *trace, const char *name)
{
	int status;

	*symbols = NULL;
	if (!elf)
		return 0;
	status = symbols_open(symbols, elf, ktread_info(trace));
	if (status == SYMBOLS_E_MACHINE) {
		command_message(name, "WARNING: %s: addresses are shown without names", symbols_message());
		return 0;
	}
	if (status != SYMBOLS_OK)
		command_message(name, "%s%s", status == SYMBOLS_OTHER_BUILD ? "WARNING: " : "",
				symbols_message());
	return status < 0 ? EXIT_BAD_INPUT : 0;
}

#define NAME_BYTES 100u

/* A word of the trace's, harmless; what is too long is cut. */
static void write_escaped(struct base_output *out, const char *text)
{
	char safe[NAME_BYTES];
	char *end = base_escape_text(safe, text, strlen(text), sizeof(safe) - 1);

	*end = '\0';
	base_output_text(out, safe);
}

static void write_place(struct base_output *out, struct symbols *symbols, uint64_t address)
{
	struct symbol symbol;

	if (symbols_find(symbols, address, &symbol) != 0)
		return;
	base_output_text(out, " ");
	write_escaped(out, symbol.function);
	base_output_format(out, "+0x%" PRIx64, symbol.offset);
	if (!symbol.file)
		return;
	base_output_text(out, " (");
	write_escaped(out, symbol.file);
	base_output_format(out, ":%" PRIu32 ")", symbol.line);
}

/*
 * "NAME=HEX", and after pc what lies there. In a line of return addresses each gets a line of its own with
 * the call before it.
 */
static void write_word(struct base_output *out, struct symbols *symbols, const char *word, uint32_t n,
		       bool is_stack)
{
	bool is_return = symbols && is_stack && n >= 2;

	base_output_text(out, is_return ? "\n    " : n ? " " : "");
	write_escaped(out, word);
	if (is_return)
		write_place(out, symbols, strtoull(word, NULL, 16) - 1);
	else if (symbols && strncmp(word, "pc=", 3) == 0)
		write_place(out, symbols, strtoull(word + 3, NULL, 16));
}

/* Did the CPU of this line run a program? The line of its stack goes by that of its registers. */
static bool is_user(const char *all, const char *line)
{
	char key[32];
	const char *number = strchr(line, ' '), *found = line;

	if (strncmp(line, "stack ", 6) == 0) {
		snprintf(key, sizeof(key), "cpu %lu ", strtoul(number, NULL, 10));
		found = strstr(all, key);
	}
	return found && privilege_of(found) == PRIVILEGE_USER;
}

/* Names are the kernel's: a place where a program stood has none. */
int show_registers(const struct ktread *trace, struct symbols *kernel, struct base_output *out)
{
	const char *all = ktread_info(trace)->registers, *at = all;
	struct symbols *symbols = is_user(all, at) ? NULL : kernel;
	bool is_stack = strncmp(at, "stack ", 6) == 0;
	uint32_t n = 0; /* words of the line */
	char word[64];

	if (!*at)
		return KTREAD_E_ABSENT;
	while (*at) {
		size_t length = strcspn(at, " \n");

		snprintf(word, sizeof(word), "%.*s",
			 length < sizeof(word) ? (int)length : (int)sizeof(word) - 1, at);
		if (length)
			write_word(out, symbols, word, n++, is_stack);
		at += length;
		if (*at == '\n') {
			base_output_text(out, "\n");
			is_stack = strncmp(at + 1, "stack ", 6) == 0;
			symbols = is_user(all, at + 1) ? NULL : kernel;
			n = 0;
		}
		at += *at != '\0';
	}
	return 0;
}
