/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Importers read records into a catalogue, one after another, each in a thread of its own. A reader locks the
 * catalogue every few milliseconds. After the last import, an auditor locks it in the same way.
 * The mistake: an importer that finds a bad record returns without unlocking the catalogue, and its thread
 * ends.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "mutex.h"
#include "thread.h"
#include "timer.h"
#include "bug/bug.h"

#define RECORDS	     8
#define GOOD_IMPORTS 4 /* minimum number of imports before the one that finds a bad record */
#define IMPORT_NS    (20 * NS_PER_MS)

static struct mutex catalogue = MUTEX("catalogue");
static unsigned records; /* guarded by the catalogue's lock */
static unsigned imports; /* number of finished imports; accessed atomically */
static unsigned bad;	 /* number of the import whose record is bad */
static bool unlocks;	 /* true: no mistake, importers always unlock the catalogue */

static bool is_good(unsigned import, unsigned record)
{
	return import != bad || record < RECORDS / 2;
}

static void import_records(unsigned import)
{
	mutex_lock(&catalogue);
	for (unsigned record = 0; record < RECORDS; record++) {
		timer_sleep(NS_PER_MS);
		if (!is_good(import, record)) {
			if (unlocks)
				mutex_unlock(&catalogue);
			return;
		}
		records++;
	}
	mutex_unlock(&catalogue);
}

static void importer(void *argument)
{
	import_records((unsigned)(uintptr_t)argument);
	__atomic_add_fetch(&imports, 1, __ATOMIC_RELAXED);
}

static void reader(void *argument)
{
	(void)argument;
	for (;;) {
		mutex_lock(&catalogue);
		timer_sleep(NS_PER_MS);
		mutex_unlock(&catalogue);
		timer_sleep(5 * NS_PER_MS);
	}
}

static void import_until(uint64_t until_ns)
{
	bad = GOOD_IMPORTS + (unsigned)arg_number("seed", 0) % GOOD_IMPORTS;
	thread_create("reader", reader, NULL, CPU_ANY);
	for (unsigned import = 0; import <= bad; import++) {
		thread_create("importer", importer, (void *)(uintptr_t)import, CPU_ANY);
		timer_sleep(IMPORT_NS);
	}
	while (__atomic_load_n(&imports, __ATOMIC_RELAXED) <= bad)
		timer_sleep(IMPORT_NS);
	timer_sleep(100 * NS_PER_MS);
	thread_create("auditor", reader, NULL, CPU_ANY);
	while (!work_over(until_ns))
		timer_sleep(100 * NS_PER_MS);
}

void bug_dead_owner(uint64_t until_ns)
{
	unlocks = false;
	import_until(until_ns);
}

void bug_no_dead_owner(uint64_t until_ns)
{
	unlocks = true;
	import_until(until_ns);
}
