/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A script that is exported for Perfetto, and its packets, decoded field by field by a separate reader. */
#ifndef TEST_PERFETTO_SCRIPT_H
#define TEST_PERFETTO_SCRIPT_H

#include <stdint.h>

#include "export/export.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value)) /* value of a field, for script_event() */

#define KERNEL "4194304" /* id of the process to which all threads belong */

#define STATE(time, cpu, tid, state) \
	"timestamp=" time " generic_kernel_task_state_event{cpu=" cpu " tid=" tid " state=" state "}"

extern const struct export_format export_perfetto;

enum {
	SWITCH = 1,
	BLOCK,
	WAKE,
	EXIT,
	ENTER,
	RETURN,
	IRQ_ENTER,
	IRQ_EXIT,
	ACQUIRE,
	RELEASE,
	NOTE,
	FREE,
	CREATE,
	CONTEND,
	ACQUIRE_BARE,
	TX,
	RX,
	SEND,
	DELIVER,
	FORK,
	EXEC,
	OPEN,
	READ,
	END
};

/*
 * Call perfetto_begin() before each test: it begins a script with types of events. Call perfetto_end() after
 * each test: it frees the script.
 */
int perfetto_begin(void **state);
int perfetto_end(void **state);

/* The exported script as text, one line for each packet, without the fields that every packet has. */
extern char *perfetto_output;
/* Exports the script. */
struct export_report perfetto_export(void);

/* Checks that the output contains the line of this packet exactly once. */
void perfetto_expect(const char *packet);
void perfetto_expect_none(const char *text);
/*
 * Checks that exactly one line ends with this text. Lines begin with names of tracks and with interned
 * strings, which are not compared.
 */
void perfetto_expect_end(const char *time, const char *tail);

#endif
