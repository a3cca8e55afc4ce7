/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The kernel's tables of state: rows of sections, of this reader's size whatever size the kernel's have. */
#include <string.h>

#include "layout.h"
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

/* 0 stays what it means: never. */
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

/* A thread's row is written where it runs; what another CPU wrote there, as who wakes it does, is off by their difference. */
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
