/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The tables in memory: their columns, and the values of a row in them. */
#include "ktrx/v2.h"
#include "sql/session.h"

#define COLUMNS(list) .column = (list), .columns = sizeof(list) / sizeof((list)[0])
#define TS                                                                                           \
	{                                                                                            \
		"ts", "INTEGER",                                                                     \
			"beginning, in ns since the first event; ticks if the frequency is unknown", \
			SQL_VALUE_TS                                                                 \
	}
#define DURATION                                                                                      \
	{                                                                                             \
		"duration", "INTEGER", "in the unit of ts; NULL if the end is not known for certain", \
			SQL_VALUE_DURATION                                                            \
	}
#define THREAD                                                            \
	{                                                                 \
		"thread", "INTEGER", "id of the thread", SQL_VALUE_THREAD \
	}
#define CPU                                                                               \
	{                                                                                 \
		"cpu", "INTEGER", "CPU on which it began; NULL if unknown", SQL_VALUE_CPU \
	}

static const struct sql_column slice_columns[] = {
	TS,
	DURATION,
	{ "kind", "TEXT", "syscall, irq, fault, lock wait, lock held or run queue", SQL_VALUE_SLICE },
	{ "name", "TEXT", "name of the system call, interrupt or lock; NULL if unknown", SQL_VALUE_NAME },
	{ "number", "", "number of the system call or interrupt, address of the lock", SQL_VALUE_NUMBER },
	THREAD,
	CPU,
};

static const struct sql_column call_columns[] = {
	TS,
	DURATION,
	{ "name", "TEXT", "name of the system call; NULL if unknown", SQL_VALUE_NAME },
	{ "number", "", "number of the system call", SQL_VALUE_NUMBER },
	{ "result", "INTEGER", "result; negative: an error; NULL if unknown", SQL_VALUE_RESULT },
	THREAD,
	CPU,
};

static const struct sql_column irq_columns[] = {
	TS,
	DURATION,
	{ "name", "TEXT", "name of the interrupt; NULL if unknown", SQL_VALUE_NAME },
	{ "number", "", "number of the interrupt", SQL_VALUE_NUMBER },
	{ "thread", "INTEGER", "thread that was interrupted", SQL_VALUE_THREAD },
	CPU,
};

static const struct sql_column fault_columns[] = { TS, DURATION, THREAD, CPU };

static const struct sql_column lock_columns[] = {
	TS,
	{ "wait", "INTEGER", "time for which the thread waited; NULL if the row is about holding the lock",
	  SQL_VALUE_WAIT },
	{ "hold", "INTEGER", "time for which the thread held the lock; NULL if the row is about a wait",
	  SQL_VALUE_HOLD },
	{ "kind", "TEXT", "wait or hold; if both times are NULL, the end is not known for certain",
	  SQL_VALUE_LOCK_KIND },
	{ "name", "TEXT", "name of the lock; NULL if unknown", SQL_VALUE_NAME },
	{ "lock", "TEXT", "address of the lock", SQL_VALUE_ADDRESS },
	THREAD,
	CPU,
};

static const struct sql_column wakeup_columns[] = {
	TS,
	{ "latency", "INTEGER", "time until the thread runs; NULL if not known for certain",
	  SQL_VALUE_DURATION },
	{ "thread", "INTEGER", "thread that was woken", SQL_VALUE_THREAD },
	{ "waker", "INTEGER", "thread that ran on the CPU that caused the wakeup", SQL_VALUE_WAKER },
	{ "interrupt", "INTEGER", "1 if an interrupt caused the wakeup while the waker ran",
	  SQL_VALUE_INTERRUPT },
	{ "cpu", "INTEGER", "CPU of the waker", SQL_VALUE_CPU },
	{ "ran_cpu", "INTEGER", "CPU on which the thread then runs", SQL_VALUE_END_CPU },
};

static const struct sql_column state_columns[] = {
	TS,
	DURATION,
	THREAD,
	{ "state", "TEXT", "running, runnable, sleeping, waiting, stopped, dead or unknown",
	  SQL_VALUE_STATE },
	{ "cpu", "INTEGER", "CPU on which the thread runs or last ran; NULL if unknown", SQL_VALUE_CPU },
};

static const struct sql_column loss_columns[] = {
	{ "ts", "INTEGER", "time of the first event after the missing slots; NULL if there is none",
	  SQL_VALUE_BEGIN },
	{ "since", "INTEGER", "time of the last event before the missing slots; NULL if there is none",
	  SQL_VALUE_END },
	{ "slots", "INTEGER", "number of missing slots", SQL_VALUE_COUNT },
	{ "ring", "INTEGER", "number of the ring", SQL_VALUE_OTHER },
	{ "cpu", "INTEGER", "CPU of the ring; NULL if the ring is shared", SQL_VALUE_CPU },
};

static const struct sql_column thread_columns[] = {
	THREAD,
	{ "name", "TEXT", "name of the thread; NULL if unknown", SQL_VALUE_THREAD_NAME },
	{ "process", "INTEGER", "id of its process; NULL if unknown", SQL_VALUE_PROCESS },
	{ "events", "INTEGER", "number of its events in the trace", SQL_VALUE_COUNT },
	{ "first", "INTEGER", "time of its first event", SQL_VALUE_BEGIN },
};

static const struct sql_column process_columns[] = {
	{ "process", "INTEGER", "id of the process", SQL_VALUE_ID },
	{ "parent", "INTEGER", "id of the parent; NULL if unknown", SQL_VALUE_PROCESS },
	{ "command", "TEXT", "program that the process runs; NULL if unknown", SQL_VALUE_NAME },
};

static const struct sql_column count_columns[] = {
	{ "type", "INTEGER", "number of the kind of event", SQL_VALUE_OTHER },
	{ "category", "TEXT", "group of the event, in lower case", SQL_VALUE_CATEGORY },
	{ "name", "TEXT", "group and name of the event, such as sched.switch", SQL_VALUE_TYPE_NAME },
	{ "counted", "INTEGER", "number of occurrences that the kernel counted; NULL for version 1",
	  SQL_VALUE_NUMBER },
	{ "recorded", "INTEGER", "number of events in the trace; counting them reads the whole trace",
	  SQL_VALUE_RECORDED },
};

/* the tables, in the order of their names */
static const struct sql_table tables[] = {
	{ "counts", "kinds of events that the trace describes, and how often they occurred",
	  COLUMNS(count_columns), SQL_STORE_COUNTS, 1 },
	{ "faults", "page faults", COLUMNS(fault_columns), LATENCIES_FAULT, 1 },
	{ "irqs", "interrupts", COLUMNS(irq_columns), LATENCIES_IRQ, 1 },
	{ "locks", "waits for locks, and times for which locks were held", COLUMNS(lock_columns),
	  LATENCIES_LOCK_WAIT, 2 },
	{ "losses", "places where slots are missing", COLUMNS(loss_columns), SQL_STORE_LOSSES, 1 },
	{ "processes", "processes that the trace describes", COLUMNS(process_columns), SQL_STORE_PROCESSES,
	  1 },
	{ "slices", "all durations: of system calls, interrupts, faults, locks and run queues",
	  COLUMNS(slice_columns), 0, LATENCIES_KINDS },
	{ "syscalls", "system calls with duration and result", COLUMNS(call_columns), LATENCIES_SYSCALL, 1 },
	{ "thread_states", "what each thread did: running, runnable, sleeping", COLUMNS(state_columns),
	  SQL_STORE_STATES, 1 },
	{ "threads", "threads that recorded events", COLUMNS(thread_columns), SQL_STORE_THREADS, 1 },
	{ "wakeups", "wakeups, and the time until the thread runs", COLUMNS(wakeup_columns),
	  LATENCIES_RUN_QUEUE, 1 },
};

const struct sql_table *sql_table_at(uint32_t n)
{
	return n < sizeof(tables) / sizeof(tables[0]) ? &tables[n] : NULL;
}

/* ---- The values ---- */

static struct sql_cell integer_if(bool known, int64_t integer)
{
	return known ? sql_cell_integer(integer) : sql_cell_null();
}

static struct sql_cell thread_cell(uint32_t thread)
{
	return integer_if(thread != KTREAD_NO_THREAD, thread);
}

static struct sql_cell time_if(bool known, const struct sql *sql, uint64_t stamp)
{
	return known ? sql_cell_integer(sql_time(sql, stamp)) : sql_cell_null();
}

/* Returns a value that is a time. */
static struct sql_cell time_cell(const struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	const bool waits = row->kind == LATENCIES_LOCK_WAIT, ended = row->flags & SQL_ROW_ENDED;

	switch (value) {
	case SQL_VALUE_TS:
		return time_if(true, sql, row->begin);
	case SQL_VALUE_BEGIN:
		return time_if(row->flags & SQL_ROW_BEGUN, sql, row->begin);
	case SQL_VALUE_END:
		return time_if(ended, sql, row->end);
	default:
		if (!ended || value == (waits ? SQL_VALUE_HOLD : SQL_VALUE_WAIT))
			return sql_cell_null();
		return sql_cell_integer(sql_time(sql, row->end > row->begin ? row->end : row->begin) -
					sql_time(sql, row->begin));
	}
}

/* Returns a value that is a number. */
static struct sql_cell number_cell(struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	const bool known = row->flags & SQL_ROW_NUMBER, ended = row->flags & SQL_ROW_ENDED;
	const struct tally *tally;

	switch (value) {
	case SQL_VALUE_ID:
		return sql_cell_integer(row->thread);
	case SQL_VALUE_THREAD:
		return thread_cell(row->thread);
	case SQL_VALUE_WAKER:
		return thread_cell(row->other);
	case SQL_VALUE_CPU:
		return integer_if(row->cpu != KTRX_NO_CPU, row->cpu);
	case SQL_VALUE_END_CPU:
		return integer_if(ended && row->end_cpu != KTRX_NO_CPU, row->end_cpu);
	case SQL_VALUE_OTHER:
		return sql_cell_integer(row->other);
	case SQL_VALUE_PROCESS:
		return integer_if(row->other != 0, row->other);
	case SQL_VALUE_NUMBER:
		return known ? sql_cell_unsigned(sql, row->number) : sql_cell_null();
	case SQL_VALUE_ADDRESS:
		return known ? sql_cell_address(sql, row->number) : sql_cell_null();
	case SQL_VALUE_COUNT:
		return sql_cell_unsigned(sql, row->number);
	case SQL_VALUE_RESULT:
		return integer_if(row->flags & SQL_ROW_RESULT, row->result);
	case SQL_VALUE_INTERRUPT:
		return sql_cell_integer((row->flags & SQL_ROW_INTERRUPT) != 0);
	default:
		tally = sql_tally(sql);
		return tally ? sql_cell_unsigned(sql, tally->event[row->other].count) : sql_cell_null();
	}
}

static const char *name_of(const struct sql *sql, const struct sql_row *row)
{
	if (row->name)
		return sql->name[row->name - 1];
	if (row->kind == LATENCIES_SYSCALL && row->flags & SQL_ROW_NUMBER && row->number <= UINT32_MAX)
		return ktread_syscall_name(sql->trace, (uint32_t)row->number);
	return NULL;
}

/* Returns a value that is text, or NULL. */
static const char *text_of(const struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	static const char *const slices[] = {
		"syscall", "irq", "fault", "lock wait", "lock held", "run queue"
	};
	static const char *const states[] = { "unknown", "running", "runnable", "sleeping",
					      "waiting", "stopped", "dead" };

	switch (value) {
	case SQL_VALUE_SLICE:
		return slices[row->kind];
	case SQL_VALUE_LOCK_KIND:
		return row->kind == LATENCIES_LOCK_WAIT ? "wait" : "hold";
	case SQL_VALUE_STATE:
		return states[row->kind];
	case SQL_VALUE_THREAD_NAME:
		return ktread_thread_name(sql->trace, row->thread);
	case SQL_VALUE_CATEGORY:
		return sql->type[row->other].category;
	case SQL_VALUE_TYPE_NAME:
		return sql_type_name(sql, row->other);
	default:
		return name_of(sql, row);
	}
}

struct sql_cell sql_row_cell(struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	if (value < SQL_VALUE_ID)
		return time_cell(sql, row, value);
	if (value < SQL_VALUE_NAME)
		return number_cell(sql, row, value);
	return sql_cell_text(text_of(sql, row, value));
}
