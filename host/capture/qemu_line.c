/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "qemu_line.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/machine.h"
#include "error.h"

/*
 * Names of options that take no value in any QEMU since 2.0. Every other option takes the next argument as
 * its value. Sorted for bsearch().
 */
static const char *const bare[] = {
	"S",
	"alt-grab",
	"async-teardown",
	"audio-help",
	"ctrl-grab",
	"curses",
	"daemonize",
	"enable-fips",
	"enable-kvm",
	"enable-sync-profile",
	"full-screen",
	"h",
	"help",
	"mem-prealloc",
	"no-acpi",
	"no-fd-bootchk",
	"no-frame",
	"no-hpet",
	"no-kvm",
	"no-kvm-irqchip",
	"no-kvm-pit",
	"no-kvm-pit-reinjection",
	"no-quit",
	"no-reboot",
	"no-shutdown",
	"no-user-config",
	"nodefaults",
	"nodefconfig",
	"nographic",
	"nouserconfig",
	"old-param",
	"only-migratable",
	"portrait",
	"preconfig",
	"s",
	"sdl",
	"semihosting",
	"show-cursor",
	"singlestep",
	"snapshot",
	"tdf",
	"usb",
	"version",
	"win2k-hack",
	"xen-attach",
	"xen-domid-restrict",
};

static int compare(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

bool capture_qemu_option_next(char *const *words, size_t *at, struct capture_qemu_option *option)
{
	const char *word = words[*at];

	if (!word)
		return false;
	*option = (struct capture_qemu_option){ .name = "", .index = (*at)++ };
	if (word[0] != '-' || word[1] == '\0')
		return true;
	option->name = word + (word[1] == '-' ? 2 : 1);
	if (bsearch(option->name, bare, sizeof(bare) / sizeof(bare[0]), sizeof(bare[0]), compare))
		return true;
	option->value = words[*at];
	if (option->value)
		(*at)++;
	return true;
}

bool capture_qemu_option_is(const struct capture_qemu_option *option, const char *name)
{
	return strcmp(option->name, name) == 0;
}

/*
 * Copies a value up to a single comma; a double comma is part of the value. Returns the text after the comma,
 * or the end of the list.
 */
static const char *copy_item(const char *item, char *value, size_t size)
{
	size_t used = 0;

	for (; *item; item++) {
		if (*item == ',' && *++item != ',') {
			break;
		}
		if (used + 1 < size)
			value[used++] = *item;
	}
	if (size)
		value[used] = '\0';
	return item;
}

bool capture_qemu_property(const char *list, const char *implied, const char *key, char *value, size_t size)
{
	size_t key_length = strlen(key);
	bool found = false;

	while (*list) {
		size_t length = strcspn(list, "=,");
		bool wanted;

		if (list[length] == '=') {
			wanted = length == key_length && strncmp(list, key, length) == 0;
			list += length + 1;
		} else {
			wanted = implied && strcmp(implied, key) == 0;
		}
		implied = NULL;
		list = wanted ? copy_item(list, value, size) : copy_item(list, NULL, 0);
		found |= wanted;
	}
	return found;
}

int capture_qemu_size(const char *text, uint64_t unit, uint64_t *bytes)
{
	static const char suffixes[] = "BKMGTPE";
	const char *suffix;
	double number;
	char *end;

	errno = 0;
	number = strtod(text, &end);
	if (end == text || errno || !isfinite(number) || number < 0)
		return capture_fail(CAPTURE_E_USAGE, "'%s' is not a memory size", text);
	if (*end) {
		suffix = strchr(suffixes, *end & ~0x20);
		if (!suffix || !*suffix || end[1])
			return capture_fail(CAPTURE_E_USAGE, "'%s' is not a memory size", text);
		unit = UINT64_C(1) << 10 * (suffix - suffixes);
	}
	number *= (double)unit;
	if (number >= 0x1p62)
		return capture_fail(CAPTURE_E_USAGE, "'%s' is too large a memory size", text);
	*bytes = (uint64_t)number;
	return 0;
}

/* Stores the argument `word` and takes ownership of it. `word` is NULL if memory ran out. */
static void store(struct capture_words *words, char *word)
{
	char **grown = word ? base_grow(words->word, &words->room, words->count + 2, sizeof(*grown)) : NULL;

	if (!grown) {
		free(word);
		words->failed = true;
		return;
	}
	words->word = grown;
	words->word[words->count++] = word;
	words->word[words->count] = NULL;
}

void capture_words_add(struct capture_words *words, const char *word)
{
	store(words, strdup(word));
}

void capture_words_format(struct capture_words *words, const char *format, ...)
{
	va_list arguments;
	char *word;

	va_start(arguments, format);
	if (vasprintf(&word, format, arguments) < 0)
		word = NULL;
	va_end(arguments);
	store(words, word);
}

void capture_words_free(struct capture_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
	*words = (struct capture_words){ 0 };
}

#define MIB (UINT64_C(1) << 20)

/* Facts that are needed only while the command line is read. */
struct gathered {
	char *const *words;
	/* id of the memory backend, from -machine memory-backend= or -numa memdev= */
	char memory_backend[64];
	bool ram_given;
	unsigned numa_backends;
};

const char *capture_qemu_program(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t prefix = strlen(CAPTURE_QEMU_PREFIX);

	return strncmp(name, CAPTURE_QEMU_PREFIX, prefix) == 0 && name[prefix] ? name : NULL;
}

const char *capture_qemu_architecture(const char *name)
{
	const char *known = base_machine_name(base_machine_number(name));

	return known ? known : name;
}

bool capture_qemu_is_x86(const char *architecture)
{
	return strcmp(architecture, "x86_64") == 0 || strcmp(architecture, "i386") == 0;
}

/* Returns the size of a board's RAM if -m is not given. For most boards, this is 128 MiB. */
static uint64_t default_ram(const char *machine)
{
	static const struct {
		const char *machine;
		uint64_t mib;
	} boards[] = {
		{ "raspi0", 512 },	 { "raspi1ap", 512 },  { "raspi2b", 1024 },
		{ "raspi3ap", 512 },	 { "raspi3b", 1024 },  { "raspi4b", 2048 },
		{ "orangepi-pc", 1024 }, { "sbsa-ref", 1024 }, { "microchip-icicle-kit", 1537 },
	};

	for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++)
		if (strcmp(boards[i].machine, machine) == 0)
			return boards[i].mib * MIB;
	return 128 * MIB;
}

static int read_memory(struct capture_qemu_line *line, struct gathered *gathered, const char *value)
{
	char size[64];

	if (!capture_qemu_property(value, "size", "size", size, sizeof(size)))
		return 0;
	if (capture_qemu_size(size, MIB, &line->ram_bytes) != 0)
		return capture_fail(CAPTURE_E_USAGE, "-m %s: '%s' is not a memory size", value, size);
	gathered->ram_given = line->ram_bytes != 0;
	return 0;
}

/* Stores the first accelerator of a list such as "kvm:tcg". The later accelerators are fallbacks. */
static void read_accelerator(struct capture_qemu_line *line, const char *value, const char *implied)
{
	char name[sizeof(line->accelerator)];

	if (line->accelerator[0] || !capture_qemu_property(value, implied, "accel", name, sizeof(name)))
		return;
	snprintf(line->accelerator, sizeof(line->accelerator), "%.*s", (int)strcspn(name, ":"), name);
}

static int read_machine(struct capture_qemu_line *line, struct gathered *gathered, const char *value)
{
	char size[64];

	capture_qemu_property(value, "type", "type", line->machine, sizeof(line->machine));
	read_accelerator(line, value, "type");
	capture_qemu_property(value, "type", "memory-backend", gathered->memory_backend,
			      sizeof(gathered->memory_backend));
	if (!capture_qemu_property(value, "type", "memory.size", size, sizeof(size)))
		return 0;
	return read_memory(line, gathered, size);
}

static int read_numa(struct gathered *gathered, const char *value)
{
	if (!capture_qemu_property(value, "type", "memdev", gathered->memory_backend,
				   sizeof(gathered->memory_backend)))
		return 0;
	if (++gathered->numa_backends > 1)
		return capture_fail(CAPTURE_E_USAGE,
				    "-numa: RAM in several memory backends cannot be traced; give one node");
	return 0;
}

static void read_terminal(struct capture_qemu_line *line, const struct capture_qemu_option *option)
{
	static const char *const carriers[] = {
		"serial", "monitor", "chardev", "debugcon", "qmp", "display"
	};

	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (capture_qemu_option_is(option, carriers[i]) &&
		    (strstr(option->value, "stdio") || strcmp(option->value, "curses") == 0))
			line->uses_terminal = true;
}

/* Processes an option without a value. */
static int read_bare(struct capture_qemu_line *line, const struct capture_qemu_option *option)
{
	static const char *const questions[] = { "h", "help", "version", "audio-help" };

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		line->asks_only |= capture_qemu_option_is(option, questions[i]);
	line->stays_on_reset &= !capture_qemu_option_is(option, "no-reboot");
	line->own_shutdown |= capture_qemu_option_is(option, "no-shutdown");
	line->paused |= capture_qemu_option_is(option, "S");
	line->gdb |= capture_qemu_option_is(option, "s");
	if (capture_qemu_option_is(option, "enable-kvm"))
		strcpy(line->accelerator, "kvm");
	line->semihosting |= capture_qemu_option_is(option, "semihosting");
	line->uses_terminal |=
		capture_qemu_option_is(option, "nographic") || capture_qemu_option_is(option, "curses");
	if (capture_qemu_option_is(option, "daemonize"))
		return capture_fail(CAPTURE_E_USAGE,
				    "-daemonize: leave it out; ktrace waits for the guest to end");
	return 0;
}

/* Processes options for which only a flag or a string is stored. */
static void read_marks(struct capture_qemu_line *line, const struct capture_qemu_option *option)
{
	line->asks_only |= strcmp(option->value, "help") == 0 || strcmp(option->value, "?") == 0;
	if (capture_qemu_option_is(option, "kernel")) {
		line->kernel = true;
		if (strlen(option->value) < sizeof(line->kernel_path))
			strcpy(line->kernel_path, option->value);
	}
	line->gdb |= capture_qemu_option_is(option, "gdb");
	line->incoming |= capture_qemu_option_is(option, "incoming");
	line->own_clock |= capture_qemu_option_is(option, "icount");
	line->semihosting |= capture_qemu_option_is(option, "semihosting-config");
	line->ends_without_event |=
		capture_qemu_option_is(option, "device") && strncmp(option->value, "isa-debug-exit", 14) == 0;
	if (capture_qemu_option_is(option, "action") && strstr(option->value, "reboot=shutdown"))
		line->stays_on_reset = false;
	/*
	 * With these options, ktrace must not add -no-shutdown: with it, QEMU would not exit with the status
	 * that reports a panic.
	 */
	if (capture_qemu_option_is(option, "action") &&
	    (strstr(option->value, "shutdown=") || strstr(option->value, "panic=exit-failure")))
		line->own_shutdown = true;
	if (capture_qemu_option_is(option, "append"))
		line->append_at = option->index + 1;
	if (capture_qemu_option_is(option, "accel"))
		read_accelerator(line, option->value, "accel");
	read_terminal(line, option);
}

static int read_option(struct capture_qemu_line *line, struct gathered *gathered,
		       const struct capture_qemu_option *option)
{
	if (!option->value)
		return read_bare(line, option);
	read_marks(line, option);
	if (capture_qemu_option_is(option, "m"))
		return read_memory(line, gathered, option->value);
	if (capture_qemu_option_is(option, "M") || capture_qemu_option_is(option, "machine"))
		return read_machine(line, gathered, option->value);
	if (capture_qemu_option_is(option, "numa"))
		return read_numa(gathered, option->value);
	if (capture_qemu_option_is(option, "mem-path"))
		return capture_fail(CAPTURE_E_USAGE,
				    "-mem-path: leave it out; ktrace creates a file for the guest's RAM "
				    "(--ram-dir DIR)");
	return 0;
}

/*
 * Checks the RAM that options on the command line define. ktrace can use this RAM only if it is a shared
 * file.
 */
static int read_backend(struct capture_qemu_line *line, const struct gathered *gathered)
{
	struct capture_qemu_option option;
	char id[64], type[64], share[8];
	size_t at = 1;

	while (capture_qemu_option_next(gathered->words, &at, &option)) {
		if (!option.value || !capture_qemu_option_is(&option, "object") ||
		    !capture_qemu_property(option.value, "qom-type", "id", id, sizeof(id)) ||
		    strcmp(id, gathered->memory_backend) != 0)
			continue;
		if (capture_qemu_property(option.value, "qom-type", "qom-type", type, sizeof(type)) &&
		    strcmp(type, "memory-backend-file") == 0 &&
		    capture_qemu_property(option.value, NULL, "share", share, sizeof(share)) &&
		    (strcmp(share, "on") == 0 || strcmp(share, "yes") == 0 || strcmp(share, "true") == 0) &&
		    capture_qemu_property(option.value, NULL, "mem-path", line->backend_path,
					  sizeof(line->backend_path))) {
			snprintf(line->backend, sizeof(line->backend), "%s", id);
			return 0;
		}
		return capture_fail(
			CAPTURE_E_USAGE,
			"-object %s: RAM can be read only from a memory-backend-file with share=on "
			"and mem-path=; leave the object out and ktrace adds one",
			option.value);
	}
	return capture_fail(CAPTURE_E_USAGE, "memory-backend=%s: no -object on the QEMU line has that id",
			    gathered->memory_backend);
}

int capture_qemu_line_read(struct capture_qemu_line *line, char *const *words)
{
	const char *program = capture_qemu_program(words[0]);
	struct gathered gathered = { .words = words };
	struct capture_qemu_option option;
	size_t at = 1;
	int error;

	*line = (struct capture_qemu_line){ .stays_on_reset = true };
	snprintf(line->architecture, sizeof(line->architecture), "%s",
		 program ? program + strlen(CAPTURE_QEMU_PREFIX) : "");
	while (capture_qemu_option_next(words, &at, &option)) {
		error = read_option(line, &gathered, &option);
		if (error)
			return error;
	}
	/*
	 * QEMU can end without a QMP event because of a RISC-V guest (by sifive_test) or a semihosting call
	 * (exit).
	 */
	line->ends_without_event |= line->semihosting || strncmp(line->architecture, "riscv", 5) == 0;
	if (!gathered.ram_given)
		line->ram_bytes = default_ram(line->machine);
	return gathered.memory_backend[0] && !line->asks_only ? read_backend(line, &gathered) : 0;
}
