/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The port of a machine that has no counter. */
#ifndef TEST_TICK_KTRACE_PORT_H
#define TEST_TICK_KTRACE_PORT_H

#define KTRACE_PORT_TICK_CLOCK 100

#endif
