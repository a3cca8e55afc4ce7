/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Halts the machine when a word of its RAM has a value. The word is read before each block of code. The block
 * that has begun when the value is found is still completed. So the machine halts within two blocks after the
 * write, at the same instruction each time.
 */
#ifndef SCHEDULE_WATCH_H
#define SCHEDULE_WATCH_H

#include "control.h"
#include "plugin/qemu_plugin.h"

/* `reached` is called once, in the thread of the CPUs. Returns NULL, or what went wrong. */
const char *watch_open(const struct schedule_control *control, void (*reached)(void));

#endif
