/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A table of names that refer to other names, like links in a file system. Three of them form a cycle. */
#include <stddef.h>

#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "print.h"
#include "spinlock.h"
#include "string.h"
#include "thread.h"
#include "timer.h"

#define NAME_SIZE 32

static struct spinlock aliases_lock = SPINLOCK("aliases");
static const struct alias {
	char name[NAME_SIZE], meaning[NAME_SIZE];
} aliases[] = {
	{ "disk", "boot-disk" },
	{ "boot-disk", "first-disk" },
	{ "first-disk", "disk" },
};

static bool look_up(const char *name, char *meaning)
{
	bool irq_on = spin_lock(&aliases_lock), found = false;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]) && !found; i++) {
		found = strcmp(aliases[i].name, name) == 0;
		if (found)
			string_copy(meaning, aliases[i].meaning, NAME_SIZE);
	}
	spin_unlock(&aliases_lock, irq_on);
	return found;
}

/*
 * Follows a chain of names. Returns the number of references that it followed.
 * The mistake: there is no limit to the recursion.
 */
static unsigned resolve(const char *name)
{
	char meaning[NAME_SIZE];

	return look_up(name, meaning) ? resolve(meaning) + 1 : 0;
}

static void resolver(void *unused)
{
	(void)unused;
	timer_sleep(100 * NS_PER_MS);
	kprintf("stack: %u steps\n", resolve("disk"));
}

void bug_stack(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("resolver", resolver, NULL, (int)cpu_count - 1);
	for (;;)
		timer_sleep(NS_PER_S);
}
