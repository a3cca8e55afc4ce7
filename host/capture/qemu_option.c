/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "qemu_option.h"

/* Options without a value in any QEMU from 2.x on; every other option takes the next word. */
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

/* Copies up to a single comma; returns the text behind it, or the end. */
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
