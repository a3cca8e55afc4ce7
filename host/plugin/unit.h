/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The page by which a guest drives its trace unit (ktrx/hwt_unit.h). All that stands in it is the guest's,
 * and not trusted.
 */
#ifndef PLUGIN_UNIT_H
#define PLUGIN_UNIT_H

#include <stdint.h>

/*
 * A store behind a marker has been done by this virtual CPU, at a physical address; what is at `next` runs
 * next.
 */
void unit_ring(unsigned cpu, uint64_t physical, uint64_t next);

#endif
