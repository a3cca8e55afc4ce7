/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The tables in memory: their columns, and the values of a row in them. */
#include "ktrx/v2.h"
#include "sql/session.h"

#define COLUMNS(list) .column = (list), .columns = sizeof(list) / sizeof((list)[0])
#define TS                                                                                                   \
	{                                                                                                    \
		"ts", "INTEGER", "beginning, in ns since the first event; ticks if the frequency is unknown" \
	}
#define DURATION                                                                                     \
	{                                                                                            \
		"duration", "INTEGER", "in the unit of ts; NULL if the end is not known for certain" \
	}
#define THREAD                                          \
	{                                               \
		"thread", "INTEGER", "id of the thread" \
	}
#define CPU                                                               \
	{                                                                 \
		"cpu", "INTEGER", "CPU of the beginning; NULL if unknown" \
	}

static struct sql_cell duration_cell(const struct sql *sql, const struct sql_row *row)
{
	if (!(row->flags & SQL_ROW_ENDED))
		return sql_cell_null();
	return sql_cell_integer(sql_time(sql, row->end) - sql_time(sql, row->begin));
}

static struct sql_cell cpu_cell(uint32_t cpu)
{
	return cpu == KTRX_NO_CPU ? sql_cell_null() : sql_cell_integer(cpu);
}

static struct sql_cell thread_cell(uint32_t thread)
{
	return thread == KTREAD_NO_THREAD ? sql_cell_null() : sql_cell_integer(thread);
}

static struct sql_cell number_cell(struct sql *sql, const struct sql_row *row)
{
	return row->flags & SQL_ROW_NUMBER ? sql_cell_unsigned(sql, row->number) : sql_cell_null();
}

static struct sql_cell name_cell(const struct sql *sql, const struct sql_row *row)
{
	const char *call = NULL;

	if (row->name)
		return sql_cell_text(sql->name[row->name - 1]);
	if (row->kind == LATENCIES_SYSCALL && row->flags & SQL_ROW_NUMBER && row->number <= UINT32_MAX)
		call = ktread_syscall_name(sql->trace, (uint32_t)row->number);
	return sql_cell_text(call);
}

static const struct sql_column slice_columns[] = {
	TS,
	DURATION,
	{ "kind", "TEXT", "syscall, irq, fault, lock wait, lock held or run queue" },
	{ "name", "TEXT", "name of the system call, interrupt or lock; NULL if unknown" },
	{ "number", "", "number of the system call or interrupt, address of the lock" },
	THREAD,
	CPU,
};

static struct sql_cell slice_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	static const char *const kinds[] = {
		"syscall", "irq", "fault", "lock wait", "lock held", "run queue"
	};

	switch (column) {
	case 0:
		return sql_cell_integer(sql_time(sql, row->begin));
	case 1:
		return duration_cell(sql, row);
	case 2:
		return sql_cell_text(kinds[row->kind]);
	case 3:
		return name_cell(sql, row);
	case 4:
		return number_cell(sql, row);
	case 5:
		return thread_cell(row->thread);
	default:
		return cpu_cell(row->cpu);
	}
}

static const struct sql_column call_columns[] = {
	TS,
	DURATION,
	{ "name", "TEXT", "name of the system call; NULL if unknown" },
	{ "number", "", "number of the system call" },
	{ "result", "INTEGER", "result; an error if below zero; NULL if unknown" },
	THREAD,
	CPU,
};

static struct sql_cell call_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	static const uint32_t slice[] = { 0, 1, 3, 4, 0, 5, 6 };

	if (column == 4)
		return row->flags & SQL_ROW_RESULT ? sql_cell_integer(row->result) : sql_cell_null();
	return slice_cell(sql, row, slice[column]);
}

static const struct sql_column irq_columns[] = {
	TS,
	DURATION,
	{ "name", "TEXT", "name of the interrupt; NULL if unknown" },
	{ "number", "", "number of the interrupt" },
	{ "thread", "INTEGER", "thread that was interrupted" },
	CPU,
};

static struct sql_cell irq_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	static const uint32_t slice[] = { 0, 1, 3, 4, 5, 6 };

	return slice_cell(sql, row, slice[column]);
}

static const struct sql_column fault_columns[] = { TS, DURATION, THREAD, CPU };

static struct sql_cell fault_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	static const uint32_t slice[] = { 0, 1, 5, 6 };

	return slice_cell(sql, row, slice[column]);
}

static const struct sql_column lock_columns[] = {
	TS,
	{ "wait", "INTEGER", "time for which the thread waited; NULL if this row is about holding" },
	{ "hold", "INTEGER", "time for which the thread held the lock; NULL if this row is about waiting" },
	{ "kind", "TEXT", "wait or hold; if both times are NULL, the end is not known for certain" },
	{ "name", "TEXT", "name of the lock; NULL if unknown" },
	{ "lock", "TEXT", "address of the lock" },
	THREAD,
	CPU,
};

static struct sql_cell lock_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	static const uint32_t slice[] = { 0, 1, 1, 2, 3, 4, 5, 6 };
	const bool waits = row->kind == LATENCIES_LOCK_WAIT;

	if (column == 1 || column == 2)
		return waits == (column == 1) ? duration_cell(sql, row) : sql_cell_null();
	if (column == 3)
		return sql_cell_text(waits ? "wait" : "hold");
	if (column == 5)
		return row->flags & SQL_ROW_NUMBER ? sql_cell_address(sql, row->number) : sql_cell_null();
	return slice_cell(sql, row, slice[column]);
}

static const struct sql_column wakeup_columns[] = {
	TS,
	{ "latency", "INTEGER", "time until the thread runs; NULL if not known for certain" },
	{ "thread", "INTEGER", "thread that was woken" },
	{ "waker", "INTEGER", "thread that ran when the wakeup was caused" },
	{ "interrupt", "INTEGER", "1 if an interrupt caused the wakeup while the waker ran" },
	{ "cpu", "INTEGER", "CPU of the waker" },
	{ "ran_cpu", "INTEGER", "CPU on which the thread then runs" },
};

static struct sql_cell wakeup_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	switch (column) {
	case 0:
	case 1:
		return slice_cell(sql, row, column);
	case 2:
		return thread_cell(row->thread);
	case 3:
		return thread_cell(row->other);
	case 4:
		return sql_cell_integer((row->flags & SQL_ROW_INTERRUPT) != 0);
	case 5:
		return cpu_cell(row->cpu);
	default:
		return row->flags & SQL_ROW_ENDED ? cpu_cell(row->end_cpu) : sql_cell_null();
	}
}

static const struct sql_column state_columns[] = {
	TS,
	DURATION,
	THREAD,
	{ "state", "TEXT", "running, runnable, sleeping, waiting, stopped, dead or unknown" },
	{ "cpu", "INTEGER", "CPU on which the thread runs or last ran; NULL if unknown" },
};

static struct sql_cell state_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	static const char *const states[] = { "unknown", "running", "runnable", "sleeping",
					      "waiting", "stopped", "dead" };

	switch (column) {
	case 0:
	case 1:
		return slice_cell(sql, row, column);
	case 2:
		return thread_cell(row->thread);
	case 3:
		return sql_cell_text(states[row->kind]);
	default:
		return cpu_cell(row->cpu);
	}
}

static const struct sql_column loss_columns[] = {
	{ "ts", "INTEGER", "first event after the missing slots; NULL if there is none" },
	{ "since", "INTEGER", "last event of the ring before the missing slots; NULL if there is none" },
	{ "slots", "INTEGER", "number of missing slots" },
	{ "ring", "INTEGER", "number of the ring" },
	{ "cpu", "INTEGER", "CPU of the ring; NULL if the ring is shared" },
};

static struct sql_cell loss_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	switch (column) {
	case 0:
		return row->flags & SQL_ROW_BEGUN ? sql_cell_integer(sql_time(sql, row->begin))
						  : sql_cell_null();
	case 1:
		return row->flags & SQL_ROW_ENDED ? sql_cell_integer(sql_time(sql, row->end))
						  : sql_cell_null();
	case 2:
		return sql_cell_unsigned(sql, row->number);
	case 3:
		return sql_cell_integer(row->other);
	default:
		return cpu_cell(row->cpu);
	}
}

static const struct sql_column thread_columns[] = {
	THREAD,
	{ "name", "TEXT", "name; NULL if unknown" },
	{ "process", "INTEGER", "id of its process; NULL if unknown" },
	{ "events", "INTEGER", "number of its events in the trace" },
	{ "first", "INTEGER", "time of its first event" },
};

static struct sql_cell thread_row_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	switch (column) {
	case 0:
		return thread_cell(row->thread);
	case 1:
		return sql_cell_text(ktread_thread_name(sql->trace, row->thread));
	case 2:
		return row->other ? sql_cell_integer(row->other) : sql_cell_null();
	case 3:
		return sql_cell_unsigned(sql, row->number);
	default:
		return sql_cell_integer(sql_time(sql, row->begin));
	}
}

static const struct sql_column process_columns[] = {
	{ "process", "INTEGER", "id of the process" },
	{ "parent", "INTEGER", "id of the parent; NULL if unknown" },
	{ "command", "TEXT", "program that the process runs; NULL if unknown" },
};

static struct sql_cell process_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	switch (column) {
	case 0:
		return sql_cell_integer(row->thread);
	case 1:
		return row->other ? sql_cell_integer(row->other) : sql_cell_null();
	default:
		return name_cell(sql, row);
	}
}

static const struct sql_column count_columns[] = {
	{ "type", "INTEGER", "number of the event's type" },
	{ "category", "TEXT", "group of the event, in lower case" },
	{ "name", "TEXT", "name of the event with its group" },
	{ "counted", "INTEGER", "value of the event's own counter; NULL for version 1" },
	{ "recorded", "INTEGER", "events in the trace; needs a reading of the whole trace" },
};

static struct sql_cell count_cell(struct sql *sql, const struct sql_row *row, uint32_t column)
{
	const struct tally *tally;

	switch (column) {
	case 0:
		return sql_cell_integer(row->other);
	case 1:
		return sql_cell_text(sql->type[row->other].category);
	case 2:
		return sql_cell_text(sql_type_name(sql, row->other));
	case 3:
		return number_cell(sql, row);
	default:
		tally = sql_tally(sql);
		return tally ? sql_cell_unsigned(sql, tally->event[row->other].count) : sql_cell_null();
	}
}

/* In order of name. */
static const struct sql_table tables[] = {
	{ "counts", "number of events of each kind that the trace describes", COLUMNS(count_columns),
	  SQL_STORE_COUNTS, 1, -1, -1, -1, count_cell },
	{ "faults", "page faults", COLUMNS(fault_columns), LATENCIES_FAULT, 1, 0, 2, 3, fault_cell },
	{ "irqs", "interrupts", COLUMNS(irq_columns), LATENCIES_IRQ, 1, 0, 4, 5, irq_cell },
	{ "locks", "waits for locks, and times for which locks were held", COLUMNS(lock_columns),
	  LATENCIES_LOCK_WAIT, 2, 0, 6, 7, lock_cell },
	{ "losses", "places where slots are missing", COLUMNS(loss_columns), SQL_STORE_LOSSES, 1, -1, -1, 4,
	  loss_cell },
	{ "processes", "processes that the trace describes", COLUMNS(process_columns), SQL_STORE_PROCESSES, 1,
	  -1, -1, -1, process_cell },
	{ "slices", "all durations: of system calls, interrupts, faults, locks and run queues",
	  COLUMNS(slice_columns), 0, LATENCIES_KINDS, 0, 5, 6, slice_cell },
	{ "syscalls", "system calls with duration and result", COLUMNS(call_columns), LATENCIES_SYSCALL, 1, 0,
	  5, 6, call_cell },
	{ "thread_states", "what each thread did: running, runnable, sleeping", COLUMNS(state_columns),
	  SQL_STORE_STATES, 1, 0, 2, 4, state_cell },
	{ "threads", "threads that recorded events", COLUMNS(thread_columns), SQL_STORE_THREADS, 1, -1, 0, -1,
	  thread_row_cell },
	{ "wakeups", "wakeups, and the time until the thread runs", COLUMNS(wakeup_columns),
	  LATENCIES_RUN_QUEUE, 1, 0, 2, 5, wakeup_cell },
};

const struct sql_table *sql_table_at(uint32_t n)
{
	return n < sizeof(tables) / sizeof(tables[0]) ? &tables[n] : NULL;
}
