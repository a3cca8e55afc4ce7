/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Calls several functions for each block of code that QEMU translates. QEMU itself calls only one function of
 * a plugin, the one that was registered last.
 */
#ifndef SCHEDULE_BLOCKS_H
#define SCHEDULE_BLOCKS_H

#include "plugin/qemu_plugin.h"

typedef void blocks_look(struct qemu_plugin_tb *block);

/* Adds a function that is called for each block; at most 8. */
void blocks_add(blocks_look *look);

/* Begins to call the functions. */
void blocks_open(qemu_plugin_id_t id);

#endif
