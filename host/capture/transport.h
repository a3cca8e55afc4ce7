/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The roads from guest to host, and the QEMU options each of them takes. */
#ifndef CAPTURE_TRANSPORT_H
#define CAPTURE_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "words.h"

#define CAPTURE_RAM_ID "ktrace-ram"

enum capture_transport {
	CAPTURE_RAM, /* the host finds the rings in the guest's memory: nothing runs in the guest */
	CAPTURE_DEBUGCON,
	CAPTURE_SEMIHOSTING,
	CAPTURE_IVSHMEM,
	CAPTURE_VIRTIO,
};

/* 0 or CAPTURE_E_USAGE with the list of names. */
int capture_transport_named(enum capture_transport *transport, const char *name);
const char *capture_transport_name(enum capture_transport transport);

/* A path as a value in a property list, where commas are doubled. 0 or CAPTURE_E_USAGE: no room. */
int capture_double_commas(const char *path, char *quoted, size_t size);

/*
 * Adds the options that let `path` carry the trace: the file of the guest's RAM (`ram_bytes` of it), or the
 * file that the guest's dump ends up in. `machine` may be "". CAPTURE_E_USAGE where the architecture lacks
 * the device.
 */
int capture_transport_add(enum capture_transport transport, struct capture_words *words,
			  const char *architecture, const char *machine, const char *path,
			  uint64_t ram_bytes);

#endif
