/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <kdump_parts.h>
#include <stdio.h>

#define FAULTS 256
#define NANO   1000000000u

/*
 * Page faults that have not ended. The table is indexed by a hash of the thread. If two threads have the
 * same hash, the fault that begins later replaces the earlier one.
 */
static struct fault {
	uint64_t stamp;
	uint32_t pid, tid;
	bool begun;
} faults[FAULTS];

static struct fault *fault_of(const struct ktrx_proc_record *record)
{
	return &faults[(record->tid * 31u + record->pid) % FAULTS];
}

void faults_note(const struct ktrx_proc_record *record)
{
	*fault_of(record) = (struct fault){ record->stamp, record->pid, record->tid, true };
}

void faults_put(struct line *line, const struct ktrx_proc_fault *fault)
{
	static const char *const words[] = { "read", "write", "execute" };
	bool any = false;

	line_put(line, "0x%lx ", fault->address);
	for (unsigned n = 0; n < 3; n++) {
		if (!(fault->access >> n & 1))
			continue;
		line_put(line, any ? "|%s" : "%s", words[n]);
		any = true;
	}
	line_put(line, any ? "" : "access");
	line_put(line, fault->user ? " by user" : " by kernel");
}

/* Writes a duration: in seconds with nine decimals, or in ticks if the frequency is unknown. */
static void put_duration(struct line *line, uint64_t ticks, uint64_t frequency)
{
	if (frequency == 0)
		line_put(line, "%lu", ticks);
	else
		line_put(line, "%lu.%09lu", ticks / frequency, ticks % frequency * NANO / frequency);
}

static void put_result(struct line *line, const struct table *table, int32_t result)
{
	struct table_line found;
	char text[TABLE_WORD];

	format(text, sizeof(text), "%d", result);
	if (result == 0)
		line_put(line, "resolved");
	else if (table_find(table, "error", text, &found) && table_word(&found, 2, text))
		line_put(line, "%s", text);
	else
		line_put(line, "error %d", result);
}

void faults_put_end(struct line *line, const struct table *table, const struct records *records,
		    const struct ktrx_proc_faultend *end)
{
	const struct ktrx_proc_record *record = &records->record;
	struct fault *fault = fault_of(record);

	put_result(line, table, end->result);
	if (!fault->begun || fault->pid != record->pid || fault->tid != record->tid)
		return;
	fault->begun = false;
	if (record->stamp < fault->stamp)
		return;
	line_put(line, " in ");
	put_duration(line, record->stamp - fault->stamp, records->head.frequency);
	line_put(line, " s");
}
