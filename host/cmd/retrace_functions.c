/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace retrace: selects which functions are recorded, and prints the recorded entries. */
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/output.h"
#include "cmd/command.h"
#include "cmd/retrace.h"
#include "cmd/trace_args.h"

#define NAME_BYTES  200u
#define PLACE_BYTES 512u
#define SECOND	    UINT64_C(1000000000)
#define INDENT_MOST 40u	  /* maximum number of nested calls that are shown by indentation */
#define KNOWN	    8192u /* number of elements in the cache of names */

/* ---- Which functions are recorded ---------------------------------------------------------------- */

struct choice {
	struct retrace_functions *functions;
	const struct options_list *only;
	uint32_t room;
	bool matched[OPTIONS_WORDS];
	bool failed; /* true if memory ran out */
};

/*
 * Returns the length of a function's name in the source code. Compilers append suffixes to the names of
 * copies that they specialize, such as fact_record.constprop.0.
 */
static size_t source_length(const char *name)
{
	static const char *const suffix[] = { ".constprop.", ".isra.", ".llvm." };
	const char *first = NULL;

	for (size_t n = 0; n < sizeof(suffix) / sizeof(suffix[0]); n++) {
		const char *found = strstr(name, suffix[n]);

		if (found && (!first || found < first))
			first = found;
	}
	/* a part of a function, such as fact_record.constprop.0.cold, is not a copy of it */
	return first && !strstr(first, ".cold") && !strstr(first, ".part.") ? (size_t)(first - name)
									    : strlen(name);
}

static bool is_chosen(struct choice *choice, const char *name)
{
	bool chosen = false;
	char source[NAME_BYTES];

	snprintf(source, sizeof(source), "%.*s", (int)source_length(name), name);
	for (unsigned n = 0; n < choice->only->count; n++)
		if (fnmatch(choice->only->word[n], name, FNM_NOESCAPE) == 0 ||
		    fnmatch(choice->only->word[n], source, FNM_NOESCAPE) == 0 ||
		    fnmatch(choice->only->word[n], demangled(name), FNM_NOESCAPE) == 0)
			chosen = choice->matched[n] = true;
	return chosen;
}

static void look_at_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
	struct choice *choice = context;
	struct retrace_functions *functions = choice->functions;
	uint64_t *grown;

	if (functions->end == 0 || address < functions->begin)
		functions->begin = address;
	if (address + size >= functions->end)
		functions->end = address + (size ? size : 1);
	if (!is_chosen(choice, name))
		return;
	grown = base_grow(functions->address, &choice->room, functions->count + 1, sizeof(*grown));
	choice->failed |= !grown;
	if (!grown)
		return;
	functions->address = grown;
	functions->address[functions->count++] = address;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int retrace_functions_choose(struct retrace_functions *functions, const char *name,
			     const struct options_list *only, struct symbols *symbols)
{
	struct choice choice = { .functions = functions, .only = only };

	symbols_each(symbols, look_at_symbol, &choice);
	if (functions->end == 0) {
		command_message(name, "--functions: no function of the kernel is known; give its ELF file, "
				      "with symbols: --elf KERNEL");
		return EXIT_BAD_INPUT;
	}
	if (choice.failed) {
		command_message(name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	for (unsigned n = 0; n < only->count; n++)
		if (!choice.matched[n]) {
			command_message(name, "--only %s: no function of the kernel has such a name",
					only->word[n]);
			return EXIT_USAGE;
		}
	if (functions->count)
		qsort(functions->address, functions->count, sizeof(functions->address[0]), by_address);
	return 0;
}

/* ---- What the plugin has recorded ---------------------------------------------------------------- */

bool retrace_functions_take(struct retrace_functions *functions, const struct schedule_control *control)
{
	const size_t bytes = control->entries * sizeof(*functions->entry);
	int fd = open(control->functions.file, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *mapped = MAP_FAILED;

	functions->failure = control->failure;
	functions->forgotten = control->forgotten;
	if (fd >= 0 && fstat(fd, &status) == 0 && (uint64_t)status.st_size >= bytes && bytes > 0)
		mapped = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (mapped != MAP_FAILED) {
		functions->entry = mapped;
		functions->entries = control->entries;
	}
	return mapped != MAP_FAILED || (fd >= 0 && bytes == 0);
}

void retrace_functions_free(struct retrace_functions *functions)
{
	if (functions->entry)
		munmap((void *)functions->entry, functions->entries * sizeof(*functions->entry));
	free(functions->address);
}

/* ---- Names --------------------------------------------------------------------------------------- */

/* The text for an address: the function's name, and the position in the source code. */
struct known {
	uint64_t address;
	bool valid;
	char text[PLACE_BYTES];
};

struct names {
	struct symbols *symbols;
	struct known *known; /* cache of names: an array of KNOWN elements */
};

static void describe(const struct names *names, uint64_t address, char *text, size_t size)
{
	struct symbol symbol;
	char function[NAME_BYTES], file[NAME_BYTES], offset[32] = "", line[NAME_BYTES + 32] = "";

	if (symbols_find(names->symbols, address, &symbol) != 0) {
		snprintf(text, size, "0x%" PRIx64, address);
		return;
	}
	*base_escape_text(function, symbol.function, strlen(symbol.function), sizeof(function) - 1) = '\0';
	if (symbol.offset)
		snprintf(offset, sizeof(offset), "+0x%" PRIx64, symbol.offset);
	if (symbol.file) {
		*base_escape_text(file, symbol.file, strlen(symbol.file), sizeof(file) - 1) = '\0';
		snprintf(line, sizeof(line), " (%s:%" PRIu32 ")", file, symbol.line);
	}
	snprintf(text, size, "%s%s%s%s", function, symbols_doubtful(names->symbols) ? "?" : "", offset, line);
}

static const char *name_of(const struct names *names, uint64_t address)
{
	struct known *known = &names->known[(address ^ address >> 13) % KNOWN];

	if (!known->valid || known->address != address) {
		describe(names, address, known->text, sizeof(known->text));
		known->address = address;
		known->valid = true;
	}
	return known->text;
}

/* ---- Lines of output ----------------------------------------------------------------------------- */

static const char *const hows[] = { "call", "interrupt", "other" };

static const char *how_of(const struct schedule_entry *entry)
{
	return entry->how < sizeof(hows) / sizeof(hows[0]) ? hows[entry->how] : "?";
}

static void print_line(struct base_output *out, const struct names *names, const struct schedule_entry *entry)
{
	const uint32_t levels = entry->depth < INDENT_MOST ? entry->depth : INDENT_MOST;

	base_output_format(out, "%4" PRIu64 ".%09" PRIu64 " %3u %5" PRIu32 "  %-9s  %*s%s",
			   entry->time / SECOND, entry->time % SECOND, entry->cpu, entry->depth,
			   how_of(entry), (int)(2 * levels), "", name_of(names, entry->code));
	if (entry->caller)
		base_output_format(out, " from %s", name_of(names, entry->caller));
	base_output_text(out, "\n");
}

static void put_place(struct base_output *out, const struct names *names, uint64_t address,
		      const char *const keys[5])
{
	struct symbol symbol = { .line = 0 };
	const bool found = address && symbols_find(names->symbols, address, &symbol) == 0;

	if (address)
		base_json_put_format(out, keys[0], "\"0x%" PRIx64 "\"", address);
	else
		base_json_put_format(out, keys[0], "null");
	base_json_put(out, keys[1], found ? symbol.function : "");
	base_json_put_known(out, keys[2], found, symbol.offset);
	base_json_put(out, keys[3], symbol.file ? symbol.file : "");
	base_json_put_known(out, keys[4], symbol.file != NULL, symbol.line);
}

static void print_json(struct base_output *out, const struct names *names, const struct schedule_entry *entry,
		       uint64_t number)
{
	static const char *const function[] = { "address", "function", "offset", "file", "line" };
	static const char *const caller[] = { "caller", "caller_function", "caller_offset", "caller_file",
					      "caller_line" };

	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "number", number);
	base_json_put_format(out, "time", "%" PRIu64 ".%09" PRIu64, entry->time / SECOND,
			     entry->time % SECOND);
	base_json_put_number(out, "cpu", entry->cpu);
	base_json_put_number(out, "depth", entry->depth);
	base_json_put(out, "entry", how_of(entry));
	put_place(out, names, entry->code, function);
	put_place(out, names, entry->caller, caller);
	base_output_text(out, "}\n");
}

static void print_entries(struct base_output *out, const struct retrace_functions *functions,
			  const struct names *names, uint64_t last, bool json)
{
	const uint64_t skipped = last && functions->entries > last ? functions->entries - last : 0;

	if (!json && functions->entries)
		base_output_format(out, "%14s %3s %5s  %-9s  %s\n", "time", "CPU", "depth", "entry",
				   "function");
	for (uint64_t n = skipped; n < functions->entries && !out->error; n++) {
		if (json)
			print_json(out, names, &functions->entry[n], n + 1);
		else
			print_line(out, names, &functions->entry[n]);
	}
}

/* ---- Number of entries of each function ---------------------------------------------------------- */

struct count {
	uint64_t address, entries;
};

static int by_count(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->entries != y->entries)
		return x->entries < y->entries ? 1 : -1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Counts the entries of each function. *count: number of functions. Returns NULL if memory runs out. */
static struct count *count_entries(const struct retrace_functions *functions, size_t *count)
{
	uint64_t *sorted = malloc((functions->entries + 1) * sizeof(*sorted));
	struct count *counts = NULL, *grown;
	uint32_t room = 0;

	*count = 0;
	for (uint64_t n = 0; sorted && n < functions->entries; n++)
		sorted[n] = functions->entry[n].code;
	if (sorted)
		qsort(sorted, functions->entries, sizeof(*sorted), by_address);
	for (uint64_t n = 0; sorted && n <= functions->entries; n++) {
		if (n < functions->entries && *count && counts[*count - 1].address == sorted[n]) {
			counts[*count - 1].entries++;
			continue;
		}
		grown = base_grow(counts, &room, *count + 1, sizeof(*grown));
		if (!grown) {
			free(counts);
			free(sorted);
			return NULL;
		}
		counts = grown;
		if (n < functions->entries)
			counts[(*count)++] = (struct count){ sorted[n], 1 };
	}
	free(sorted);
	if (counts)
		qsort(counts, *count, sizeof(*counts), by_count);
	return counts;
}

static bool print_summary(struct base_output *out, const struct retrace_functions *functions,
			  const struct names *names, bool json)
{
	static const char *const keys[] = { "address", "function", "offset", "file", "line" };
	size_t count;
	struct count *counts = count_entries(functions, &count);

	if (!counts)
		return false;
	if (!json && count)
		base_output_format(out, "%10s  %s\n", "entries", "function");
	for (size_t n = 0; n < count; n++) {
		if (!json) {
			base_output_format(out, "%10" PRIu64 "  %s\n", counts[n].entries,
					   name_of(names, counts[n].address));
			continue;
		}
		base_json_begin(out, NULL, '{');
		base_json_put_number(out, "entries", counts[n].entries);
		put_place(out, names, counts[n].address, keys);
		base_output_text(out, "}\n");
	}
	free(counts);
	return true;
}

/* ---- Output of all entries ----------------------------------------------------------------------- */

int retrace_functions_print(const char *name, const struct retrace_functions *functions,
			    struct symbols *symbols, const struct retrace_form *form)
{
	struct names names = { symbols, calloc(KNOWN, sizeof(struct known)) };
	struct base_output out;
	bool done = true;
	int status;

	if (!names.known || base_output_open(&out, STDOUT_FILENO) != 0) {
		free(names.known);
		command_message(name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	base_output_schema(&out, form->json ? "ktrace-retrace/1" : NULL);
	if (form->summary)
		done = print_summary(&out, functions, &names, form->json);
	else
		print_entries(&out, functions, &names, form->last, form->json);
	free(names.known);
	status = trace_output_status(name, "standard output", base_output_close(&out));
	if (!done) {
		command_message(name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	return status;
}

int retrace_functions_report(const char *name, const struct retrace_functions *functions,
			     const struct retrace_form *form)
{
	if (functions->entries == 0)
		command_message(name, "no function was entered");
	else if (!form->summary && form->last && functions->entries > form->last)
		command_message(name, "%" PRIu64 " functions were entered; the last %" PRIu64 " are printed",
				functions->entries, form->last);
	else
		command_message(name,
				"%" PRIu64 " function%s entered; a function that another one jumps to "
				"is not counted",
				functions->entries, functions->entries == 1 ? " was" : "s were");
	if (functions->forgotten)
		command_message(name,
				"%" PRIu32 " stacks were forgotten: their functions are shown with a "
				"depth that is too small",
				functions->forgotten);
	if (!functions->failure)
		return 0;
	command_message(name,
			"the functions after that are missing: the directory for temporary files: %s; "
			"set TMPDIR, or use --only, --since and --until",
			strerror((int)functions->failure));
	return EXIT_BAD_INPUT;
}
