/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Changes of a file are recorded in a journal, which is written back later.
 * The mistake: a change locks the inode and then the journal; a write-back locks the journal and then the
 * inode. In this bug, a change and a write-back never run at the same time, so no deadlock occurs.
 */
#include "mutex.h"
#include "bug/bug.h"

#define CHANGES 10

static struct mutex inode = MUTEX("inode"), journal = MUTEX("journal");
static unsigned noted, written_back;

static void change(unsigned n, uint64_t until_ns)
{
	(void)n, (void)until_ns;
	for (unsigned i = 0; i < CHANGES; i++) {
		mutex_lock(&inode);
		mutex_lock(&journal);
		noted++;
		mutex_unlock(&journal);
		mutex_unlock(&inode);
	}
}

static void write_back(unsigned n, uint64_t until_ns)
{
	(void)n, (void)until_ns;
	mutex_lock(&journal);
	mutex_lock(&inode);
	written_back = noted;
	mutex_unlock(&inode);
	mutex_unlock(&journal);
}

void bug_lock_order(uint64_t until_ns)
{
	work_crew("change", 1, change, until_ns);
	work_crew("write back", 1, write_back, until_ns);
}
