/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The fake machine for driver tests. A test defines the results of reads and the effects of writes. The log
 * has a word for each access: "r8:3fd=60 w8:3f8=41 …" (read or write, number of bits, address, value).
 */
#ifndef TEST_TRANSPORT_MACHINE_H
#define TEST_TRANSPORT_MACHINE_H

#include "ktrace/transport.h"

struct fake_device {
	/* function that returns the result of a read; if NULL, reads return all ones, as on an empty bus */
	uint32_t (*read)(uint64_t address, unsigned bits);
	/* function that is called at each write; if NULL, writes have no effect */
	void (*write)(uint64_t address, unsigned bits, uint32_t value);
};

/* Adds a device with these functions to the machine, and clears the log. */
void fake_plug(const struct fake_device *device);
const char *fake_log(void);
void fake_log_clear(void);
unsigned fake_reads(void);

uint32_t fake_read(uint64_t address, unsigned bits);
void fake_write(uint64_t address, unsigned bits, uint32_t value);
void fake_barrier(void);

#endif
