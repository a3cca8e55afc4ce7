/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rows of packets that no unit writes and that OpenCSD (1.3.3) takes on trust: of an exception it reads the address packet behind
 * it without a look at whether there is one. They are told apart before the library's decoder sees them. Code of 32 bits is left out as well.
 */
#ifndef HWT_ETM4_GUARD_H
#define HWT_ETM4_GUARD_H

#include <stdbool.h>

#include <opencsd/etmv4/trc_pkt_types_etmv4.h>

struct etm4_guard {
	bool wants_address; /* an exception has been told, and not yet where */
	bool address;	    /* one is newer than any atom */
};

/* False: the packet must not be decoded. */
bool etm4_guard_allows(struct etm4_guard *guard, const ocsd_etmv4_i_pkt *packet);

#endif
