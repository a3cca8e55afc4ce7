/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The kernel's view of devices and memory, with identity where it says nothing. */
#ifndef KTRACE_TRANSPORT_BUS_H
#define KTRACE_TRANSPORT_BUS_H

#include "ktrace/transport.h"

static inline void *ktrace_bus_map(const struct ktrace_bus *bus, uint64_t physical, size_t bytes)
{
	return bus && bus->map ? bus->map(physical, bytes) : (void *)(uintptr_t)physical;
}

static inline uint64_t ktrace_bus_physical(const struct ktrace_bus *bus, const void *pointer)
{
	return bus && bus->physical ? bus->physical(pointer) : (uint64_t)(uintptr_t)pointer;
}

static inline bool ktrace_bus_identity(const struct ktrace_bus *bus)
{
	return !bus || !bus->physical;
}

#endif
