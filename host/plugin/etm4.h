/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the encoder of ETMv4 packets remembers of a trace. */
#ifndef PLUGIN_ETM4_H
#define PLUGIN_ETM4_H

#include <stdint.h>

struct etm4 {
	uint64_t address; /* that was told last */
};

#endif
