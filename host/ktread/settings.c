/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the kernel's tables of CPUs, holders and settings. Callers get rows of the size of this reader's
 * structs, even if the kernel's rows have another size.
 */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "trace.h"

#define ROWS_MOST (UINT32_C(1) << 20)

static int read_rows(const struct ktread_layout *layout, uint32_t type, uint32_t first, void *rows,
		     size_t size, uint32_t room)
{
	const struct ktread_section *section = ktread_layout_section(layout, type, 0);
	uint64_t stride, count;
	uint32_t done = 0;

	if (!section)
		return 0;
	stride = section->row.entry_size ? section->row.entry_size : size;
	count = section->region.length / stride;
	count = count < ROWS_MOST ? count : ROWS_MOST;
	for (; done < room && first + (uint64_t)done < count; done++) {
		unsigned char *row = (unsigned char *)rows + done * size;
		int status;

		memset(row, 0, size);
		status = ktread_region_read(&section->region, (first + (uint64_t)done) * stride, row,
					    stride < size ? stride : size);
		if (status < 0)
			return status;
	}
	return (int)done;
}

int ktread_layout_cpus(const struct ktread_layout *layout, uint32_t first, struct ktrx_cpu *cpu,
		       uint32_t room)
{
	return first < KTRX_MAX_RINGS
		       ? read_rows(layout, KTRX_SECTION_CPUS, first, cpu, sizeof(*cpu),
				   room < KTRX_MAX_RINGS - first ? room : KTRX_MAX_RINGS - first)
		       : 0;
}

/* Corrects a timestamp. A timestamp of 0 means "never", and stays 0. */
static void correct(const struct ktread *trace, uint32_t cpu, uint64_t *stamp)
{
	if (*stamp == 0)
		return;
	*stamp = ktread_corrected(trace, cpu, *stamp);
	*stamp += *stamp == 0;
}

static void correct_cpu(const struct ktread *trace, uint32_t number, struct ktrx_cpu *row)
{
	correct(trace, number, &row->heartbeat_stamp);
	correct(trace, number, &row->now);
	correct(trace, number, &row->mode_stamp);
	correct(trace, number, &row->interrupts_stamp);
	correct(trace, number, &row->switch_stamp);
	correct(trace, number, &row->irq_stamp);
	correct(trace, number, &row->ipi_stamp);
	correct(trace, number, &row->ipi_answered);
	correct(trace, number, &row->broken_stamp);
}

/*
 * Corrects the timestamps in a row by the clock of the CPU on which the thread last ran. A timestamp in the
 * row may come from another CPU, for example the timestamp of a wakeup. The corrected timestamp is then wrong
 * by the difference between the clocks of the two CPUs.
 */
static void correct_holder(const struct ktread *trace, struct ktrx_holder *row)
{
	const uint32_t cpu = row->id & KTRX_HOLDER_CPU ? row->id & ~KTRX_HOLDER_CPU : row->cpu;

	correct(trace, cpu, &row->state_stamp);
	correct(trace, cpu, &row->wait_stamp);
	correct(trace, cpu, &row->deadline);
	correct(trace, cpu, &row->habit_first);
	correct(trace, cpu, &row->habit_last);
	for (uint32_t n = 0; n < KTRX_HELD; n++)
		correct(trace, cpu, &row->held[n].stamp);
}

int ktread_cpus(const struct ktread *trace, uint32_t first, struct ktrx_cpu *cpu, uint32_t room)
{
	int count = trace->layout ? ktread_layout_cpus(trace->layout, first, cpu, room) : 0;

	for (int n = 0; n < count; n++)
		correct_cpu(trace, first + (uint32_t)n, &cpu[n]);
	return count;
}

int ktread_layout_holders(const struct ktread_layout *layout, uint32_t first, struct ktrx_holder *holder,
			  uint32_t room)
{
	int count = read_rows(layout, KTRX_SECTION_HOLDERS, first, holder, sizeof(*holder), room);

	for (int n = 0; n < count; n++)
		holder[n].object_name[sizeof(holder[n].object_name) - 1] = '\0';
	return count;
}

int ktread_holders(const struct ktread *trace, uint32_t first, struct ktrx_holder *holder, uint32_t room)
{
	int count = trace->layout ? ktread_layout_holders(trace->layout, first, holder, room) : 0;

	for (int n = 0; n < count; n++)
		correct_holder(trace, &holder[n]);
	return count;
}

#define TABLE_LIMIT (UINT64_C(1) << 20) /* maximum number of bytes of the settings' table that are read */
#define ROW_ALIGN   8u
#define COPIES	    8u /* maximum number of places in which a row is looked for */

static bool is_wide(const struct ktrx_setting *row)
{
	return row->kind == KTRX_SETTING_U64 || row->kind == KTRX_SETTING_BIT64;
}

static bool is_bit(const struct ktrx_setting *row)
{
	return row->kind == KTRX_SETTING_BIT32 || row->kind == KTRX_SETTING_BIT64;
}

/*
 * Reads the row at `from`, and sets *taken to whether the row is sound. Returns the number of bytes to the
 * next possible row.
 */
static uint64_t take_row(struct ktrx_setting *row, const char *from, uint64_t left, bool *taken)
{
	uint64_t size;

	memcpy(row, from, sizeof(*row));
	size = row->size;
	*taken = row->magic == KTRX_SETTING_MAGIC && size >= sizeof(*row) && size % ROW_ALIGN == 0 &&
		 size <= left && row->kind >= KTRX_SETTING_U32 && row->kind <= KTRX_SETTING_BIT64 &&
		 row->bit < (is_wide(row) ? 64 : 32);
	row->size = sizeof(*row);
	row->name[sizeof(row->name) - 1] = '\0';
	return *taken ? size : ROW_ALIGN;
}

/* Returns the current value of the setting in memory; 0 if it cannot be read. */
static uint64_t read_word(const struct ktread_layout *layout, const struct ktread_resolver *resolver,
			  const struct ktrx_setting *row)
{
	uint64_t physical, word = 0, bytes = is_wide(row) ? sizeof(uint64_t) : sizeof(uint32_t);

	if (resolver->resolve(resolver->context, KTRX_WHERE_VIRTUAL, row->address, bytes, 0, &physical) < 0 ||
	    ktread_memory_read(layout->memory, physical, &word, bytes) < 0)
		return 0;
	return is_bit(row) ? word >> row->bit & 1 : word;
}

/* Returns the distance in bytes between the setting's variable and the root. */
static uint64_t distance(const struct ktread_layout *layout, const struct ktrx_setting *row)
{
	const uint64_t beyond = row->address - layout->root.self;

	return row->address > layout->root.self ? beyond : -beyond;
}

/*
 * Replaces a row whose address was not relocated by the same row in another place. A boot loader may have
 * copied the last page of the kernel's data, so that an old copy of the row is where the root's distance
 * leads. If there are several copies, the kernel uses the one whose variable is nearest to the root.
 */
static void replace_old_copy(struct ktrx_setting *row, const struct ktread_layout *layout,
			     const struct ktread_resolver *resolver, const struct ktrx_section *section,
			     uint64_t offset)
{
	uint64_t physical;

	if (!layout->root.self || !row->address || section->where != KTRX_WHERE_VIRTUAL ||
	    section->extents != 1)
		return;
	for (uint32_t attempt = 1;
	     attempt < COPIES &&
	     resolver->resolve(resolver->context, section->where, section->address + offset, sizeof(*row),
			       attempt, &physical) == 0;
	     attempt++) {
		struct ktrx_setting other;
		char bytes[sizeof(other)];
		bool taken;

		if (ktread_memory_read(layout->memory, physical, bytes, sizeof(bytes)) < 0)
			continue;
		take_row(&other, bytes, sizeof(bytes), &taken);
		if (taken && strcmp(other.name, row->name) == 0 &&
		    distance(layout, &other) < distance(layout, row))
			*row = other;
	}
}

int ktread_settings_read(struct ktread_layout *layout, const struct ktread_resolver *resolver)
{
	const struct ktread_section *section = ktread_layout_section(layout, KTRX_SECTION_SETTINGS, 0);
	uint64_t size, at = 0;
	char *bytes;
	int status = section ? ktread_region_copy(&section->region, TABLE_LIMIT, &bytes, &size) : 0;

	if (!section || status < 0)
		return status;
	layout->setting = calloc(size / sizeof(*layout->setting) + 1, sizeof(*layout->setting));
	if (!layout->setting) {
		free(bytes);
		return ktread_fail_memory();
	}
	while (size - at >= sizeof(*layout->setting)) {
		struct ktrx_setting *row = &layout->setting[layout->settings];
		bool taken;

		const uint64_t next = at + take_row(row, bytes + at, size - at, &taken);

		if (taken && !(layout->root.flags & (KTRX_FLAG_DUMP | KTRX_FLAG_KEPT))) {
			replace_old_copy(row, layout, resolver, &section->row, at);
			row->value = read_word(layout, resolver, row);
		}
		at = next;
		layout->settings += taken;
	}
	free(bytes);
	return 0;
}

int ktread_setting(const struct ktread *trace, uint32_t n, struct ktread_setting *setting)
{
	const struct ktrx_setting *row;

	if (!trace->layout || n >= trace->layout->settings)
		return 0;
	row = &trace->layout->setting[n];
	setting->name = row->name;
	setting->value = row->value;
	setting->most = row->most;
	setting->kind = row->kind;
	setting->read_only = (row->flags & KTRX_SETTING_READ_ONLY) != 0;
	return 1;
}
