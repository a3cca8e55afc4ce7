/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Replaces functions of QEMU's accelerator: the one that confirms that a CPU is idle, and the one that raises
 * an interrupt.
 */
#ifndef SCHEDULE_ACCELERATOR_H
#define SCHEDULE_ACCELERATOR_H

#include <stdbool.h>

#include "plugin/qemu_plugin.h"

struct CPUState;

/*
 * Replaces the functions when the first CPU begins, before it executes an instruction. QEMU calls `is_idle`
 * to confirm that a CPU is idle, and `interrupted` before it raises an interrupt for a CPU. `replaced` is
 * called if the functions were replaced; if not, a message is printed.
 * Returns NULL, or why runs may differ in rare cases.
 */
const char *accelerator_open(qemu_plugin_id_t id, bool (*is_idle)(struct CPUState *cpu),
			     void (*interrupted)(const struct CPUState *cpu), void (*replaced)(void));

#endif
