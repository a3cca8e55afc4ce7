/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <kdump_parts.h>
#include <string.h>

#define NAMES	  64
#define NAME_MOST 32

static struct name {
	uint64_t used; /* value of `now` when the name was last used; 0: this entry is free */
	uint32_t pid;
	char text[NAME_MOST + 1];
} names[NAMES];
static uint64_t now;

static struct name *find(uint32_t pid)
{
	for (unsigned n = 0; n < NAMES; n++)
		if (names[n].used && names[n].pid == pid)
			return &names[n];
	return NULL;
}

static struct name *least_used(void)
{
	struct name *least = &names[0];

	for (unsigned n = 1; n < NAMES; n++)
		if (names[n].used < least->used)
			least = &names[n];
	return least;
}

void names_keep(uint32_t pid, const char *name, size_t size)
{
	struct name *kept = find(pid);

	if (!kept)
		kept = least_used();
	*kept = (struct name){ .used = ++now, .pid = pid };
	memcpy(kept->text, name, size < NAME_MOST ? size : NAME_MOST);
}

const char *names_of(uint32_t pid)
{
	struct name *name = find(pid);

	if (!name)
		return "";
	name->used = ++now;
	return name->text;
}
