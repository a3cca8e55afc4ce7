/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace retrace: the ranges of memory on the command line, and the accesses that are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/output.h"
#include "cmd/command.h"
#include "cmd/retrace.h"
#include "cmd/trace_args.h"

#define DEFAULT_LENGTH 8u
#define NAME_BYTES     200u
#define SECOND	       UINT64_C(1000000000)

/* ---- Ranges of memory ---------------------------------------------------------------------------- */

/* An argument of an option, while it is parsed. */
struct argument {
	const char *name, *option, *word;
	char place[NAME_BYTES]; /* the argument without ",LENGTH" */
};

static int refuse(const struct argument *argument, const char *why)
{
	command_message(argument->name, "%s %s: %s", argument->option, argument->word, why);
	return EXIT_USAGE;
}

/*
 * Finds the address of "NAME" or "NAME+OFFSET". Without an offset, sets *length to the size of the object or
 * function.
 */
static int find_name(const struct argument *argument, struct symbols *symbols, uint64_t *address,
		     uint64_t *length)
{
	char symbol[NAME_BYTES], similar[SUGGESTIONS_TEXT], text[NAME_BYTES + SUGGESTIONS_TEXT];
	const char *plus = strrchr(argument->place, '+');
	uint64_t offset = 0, size = 0;
	unsigned found;

	snprintf(symbol, sizeof(symbol), "%.*s",
		 (int)(plus ? (size_t)(plus - argument->place) : strlen(argument->place)), argument->place);
	if (plus && trace_parse_number(plus + 1, UINT64_MAX, &offset) != 0)
		return refuse(argument, "the text after '+' is not a number");
	if (!symbols)
		return refuse(argument, "there is no ELF file in which to look up a name; see --elf");
	found = symbols_named(symbols, symbol, address, &size);
	if (found == 0 && strpbrk(symbol, ".[")) {
		snprintf(text, sizeof(text),
			 "not the name of a whole variable; gdb prints the address of a part: print &%s",
			 symbol);
		return refuse(argument, text);
	}
	if (found == 0) {
		symbols_suggest(symbols, symbol, similar, sizeof(similar));
		snprintf(text, sizeof(text), "the kernel's ELF file has no such name%s", similar);
		return refuse(argument, text);
	}
	if (found > 1) {
		snprintf(text, sizeof(text),
			 "%u places have this name; gdb prints the address of one: print &'FILE'::%s", found,
			 symbol);
		return refuse(argument, text);
	}
	if (offset > UINT64_MAX - *address)
		return refuse(argument, "the offset is too large");
	*address += offset;
	if (!plus && size > 0 && size <= SCHEDULE_WATCH_MOST)
		*length = size;
	return 0;
}

static int add_range(struct retrace_ranges *ranges, struct argument *argument, enum schedule_kind kind,
		     struct symbols *symbols)
{
	const char *comma = strrchr(argument->word, ',');
	const size_t size = comma ? (size_t)(comma - argument->word) : strlen(argument->word);
	uint64_t address = 0, length = DEFAULT_LENGTH;
	int status = 0;

	if (ranges->count == SCHEDULE_WATCHES)
		return refuse(argument, "more than 8 ranges");
	if (size == 0 || size >= sizeof(argument->place))
		return refuse(argument, "expected ADDRESS,LENGTH");
	snprintf(argument->place, sizeof(argument->place), "%.*s", (int)size, argument->word);
	if (trace_parse_number(argument->place, UINT64_MAX, &address) != 0)
		status = find_name(argument, symbols, &address, &length);
	if (status)
		return status;
	if (comma && (trace_parse_number(comma + 1, SCHEDULE_WATCH_MOST, &length) != 0 || length == 0))
		return refuse(argument, "the length is not a number from 1 to 4096");
	if (length - 1 > UINT64_MAX - address)
		return refuse(argument, "the range ends after the last address");
	ranges->word[ranges->count] = argument->word;
	ranges->watch[ranges->count++] =
		(struct schedule_watch){ .address = address, .length = (uint32_t)length, .kinds = kind };
	return 0;
}

int retrace_add_ranges(struct retrace_ranges *ranges, const char *name, const char *option,
		       const struct options_list *list, enum schedule_kind kind, struct symbols *symbols)
{
	for (unsigned n = 0; n < list->count; n++) {
		struct argument argument = { .name = name, .option = option, .word = list->word[n] };
		int status = add_range(ranges, &argument, kind, symbols);

		if (status)
			return status;
	}
	return 0;
}

/* ---- Recorded accesses --------------------------------------------------------------------------- */

bool retrace_copy(struct retrace_accesses *accesses, const struct schedule_control *control)
{
	const uint64_t all = control->accesses;
	const uint32_t count = all < control->records ? (uint32_t)all : control->records;

	*accesses = (struct retrace_accesses){ .all = all };
	if (count == 0)
		return true;
	accesses->access = calloc(count, sizeof(*accesses->access));
	if (!accesses->access)
		return false;
	for (uint32_t n = 0; n < count; n++)
		accesses->access[n] = control->record[(all - count + n) % control->records];
	accesses->count = count;
	return true;
}

static const char *kind_of(const struct schedule_access *access)
{
	return access->kind == SCHEDULE_WRITE ? "write" : "read";
}

/* Writes a value of `bytes` bytes (at most 8) in hexadecimal. Writes "?" if the value is unknown. */
static const char *put_value(const struct schedule_access *access, uint64_t value, uint32_t bytes, char *text,
			     size_t size)
{
	if (access->known)
		snprintf(text, size, "0x%0*" PRIx64, 2 * (int)(bytes < 8 ? bytes : 8), value);
	else
		snprintf(text, size, "?");
	return text;
}

static void print_place(struct base_output *out, struct symbols *symbols, uint64_t address)
{
	struct symbol symbol;
	char safe[NAME_BYTES];

	base_output_format(out, "0x%" PRIx64, address);
	if (symbols_find(symbols, address, &symbol) != 0)
		return;
	*base_escape_text(safe, symbol.function, strlen(symbol.function), sizeof(safe) - 1) = '\0';
	base_output_format(out, " %s%s+0x%" PRIx64, safe, symbols_doubtful(symbols) ? "?" : "",
			   symbol.offset);
	if (!symbol.file)
		return;
	*base_escape_text(safe, symbol.file, strlen(symbol.file), sizeof(safe) - 1) = '\0';
	base_output_format(out, " (%s:%" PRIu32 ")", safe, symbol.line);
}

static void print_access(struct base_output *out, const struct schedule_access *access,
			 struct symbols *symbols)
{
	char value[32], word[32];

	base_output_format(
		out, "%4" PRIu64 ".%09" PRIu64 " %3u  %-5s 0x%016" PRIx64 " %2" PRIu32 " %18s %18s  ",
		access->time / SECOND, access->time % SECOND, access->cpu, kind_of(access), access->address,
		access->size, put_value(access, access->bytes, access->size, value, sizeof(value)),
		put_value(access, access->word, 8, word, sizeof(word)));
	print_place(out, symbols, access->code);
	base_output_text(out, "\n");
}

static void print_hex(struct base_output *out, const char *key, bool known, uint64_t value)
{
	if (known)
		base_json_put_format(out, key, "\"0x%" PRIx64 "\"", value);
	else
		base_json_put_format(out, key, "null");
}

static void print_json(struct base_output *out, const struct schedule_access *access, uint64_t number,
		       const char *range, struct symbols *symbols)
{
	struct symbol symbol = { .line = 0 };
	const bool found = symbols_find(symbols, access->code, &symbol) == 0;

	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "number", number);
	base_json_put_format(out, "not_before", "%" PRIu64 ".%09" PRIu64, access->time / SECOND,
			     access->time % SECOND);
	base_json_put_number(out, "cpu", access->cpu);
	base_json_put(out, "access", kind_of(access));
	base_json_put(out, "range", range);
	print_hex(out, "address", true, access->address);
	base_json_put_number(out, "size", access->size);
	print_hex(out, "value", access->known, access->bytes);
	print_hex(out, "word", access->known, access->word);
	print_hex(out, "instruction", true, access->code);
	base_json_put(out, "function", found ? symbol.function : "");
	base_json_put_known(out, "offset", found, symbol.offset);
	base_json_put(out, "file", symbol.file ? symbol.file : "");
	base_json_put_known(out, "line", symbol.file != NULL, symbol.line);
	base_output_text(out, "}\n");
}

int retrace_print(const char *name, const struct retrace_accesses *accesses,
		  const struct retrace_ranges *ranges, struct symbols *symbols, bool json)
{
	struct base_output out;

	if (base_output_open(&out, STDOUT_FILENO) != 0) {
		command_message(name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	base_output_schema(&out, json ? "ktrace-retrace/1" : NULL);
	if (!json && accesses->count)
		base_output_format(&out, "%14s %3s  %-5s %-18s %2s %18s %18s  %s\n", "not before", "CPU", "",
				   "address", "", "value", "8 bytes around", "instruction");
	for (uint32_t n = 0; n < accesses->count; n++) {
		const struct schedule_access *access = &accesses->access[n];

		if (json)
			print_json(&out, access, accesses->all - accesses->count + n + 1,
				   ranges->word[access->watch % SCHEDULE_WATCHES], symbols);
		else
			print_access(&out, access, symbols);
	}
	return trace_output_status(name, "standard output", base_output_close(&out));
}
