/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Transports: drivers that send bytes out of the machine. A host that can read guest RAM needs none, because
 * it finds the rings there. Otherwise the kernel selects a driver and dumps the trace:
 *
 *	static struct ktrace_debugcon debugcon;
 *
 *	ktrace_transport_set(ktrace_debugcon_init(&debugcon, KTRACE_DEBUGCON_PORT));
 *	…
 *	ktrace_dump(NULL, KTRACE_DUMP_V2);
 *
 * The caller owns the driver's struct, which must live as long as it is in use; its members are private.
 * Drivers poll: they use no interrupts, never block, and wait only for a bounded number of polls. Errors are
 * those of enum ktrace_output_error.
 */
#ifndef KTRACE_TRANSPORT_H
#define KTRACE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktrace/dump.h"
#include "ktrx/v1.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The interface of a transport --------------------------------------------------------------- */

struct ktrace_transport {
	const char *name;
	/*
	 * Finds the device and initialises it. Returns 0 or an error. Called in thread context, at boot or
	 * later. Two calls do not run at the same time.
	 */
	int (*probe)(struct ktrace_transport *transport);
	/*
	 * Sends as many of the bytes as possible without waiting. Returns their number (0: try again) or an
	 * error. Any context, including NMI and panic; calls are neither nested nor concurrent.
	 */
	int64_t (*send)(struct ktrace_transport *transport, const void *data, size_t bytes);
	/*
	 * Called before a dump, with the size of the dump in bytes. Context as for `send`. NULL: not called.
	 */
	int (*begin)(struct ktrace_transport *transport, uint64_t bytes);
	/* maximum number of polls; if the device is not ready after them, sending fails; must not be 0 */
	uint32_t patience;
	bool ready; /* true: the probe has succeeded */
};

/*
 * Probes a transport, unless it was probed already, and makes it the default transport. NULL: no default.
 * ktrace_transport_write() and ktrace_dump() use the default transport if their argument `transport` is NULL;
 * ktrace_dump_at_end() and the streaming functions below always use it.
 * Returns 0 or the error of the probe. Thread context.
 */
int ktrace_transport_set(struct ktrace_transport *transport);

/* Returns the default transport, NULL if there is none. Any context. */
struct ktrace_transport *ktrace_transport_get(void);

/*
 * Sends all bytes. Output of other callers does not mix with these bytes. If `transport` is NULL, uses the
 * default transport. Returns 0 or an error; KTRACE_OUTPUT_BUSY if another sender did not finish within a
 * bounded time. Any context.
 */
int ktrace_transport_write(struct ktrace_transport *transport, const void *data, size_t bytes);

enum ktrace_dump_how {
	KTRACE_DUMP_V2 = 0,
	KTRACE_DUMP_V1 = 1,
	/*
	 * Flag: takes the transport from a sender that did not finish. Requires: all other CPUs are stopped.
	 */
	KTRACE_DUMP_SEIZE = 2,
	/*
	 * Flag: stops recording during the dump. Without this flag recording continues. If the transport is
	 * slower than the recording, most of a ring is then overwritten before it is sent.
	 */
	KTRACE_DUMP_PAUSE = 4,
};

/*
 * Writes the trace to a transport. If `transport` is NULL, uses the default transport. `how`: flags of enum
 * ktrace_dump_how. Returns 0 or an error. Any context. Several dumps may follow one another on one transport;
 * readers show the last complete one.
 */
int ktrace_dump(struct ktrace_transport *transport, unsigned how);

/*
 * End hook that stops recording and writes a version 2 dump through the default transport. After a panic it
 * dumps with the flag KTRACE_DUMP_SEIZE. Pass it to ktrace_set_end_hook(). `cookie` is not used.
 */
void ktrace_dump_at_end(void *cookie);

/* ---- Streaming without a ring -------------------------------------------------------------------- */

/*
 * Send single version 1 records through the default transport, for a kernel without rings. Context and errors
 * as for ktrace_transport_write(). A user must give the frequency of the counter to the reader with an
 * option, because these records do not contain it.
 */
int ktrace_write_byte(uint8_t byte);
int ktrace_write_bytes(const void *data, size_t bytes);

/*
 * Returns the header word of a record. `event` is below 1024, `cpu` is taken modulo 8, `pid` modulo 2048,
 * `flags` is 0 to 255.
 */
static inline uint32_t ktrace_pack_header(uint32_t event, uint32_t cpu, uint32_t pid, uint32_t flags)
{
	return KTRX1_HEADER(event, cpu, pid, flags);
}

/* Sends one record. `stamp` is a counter value, not 0. */
int ktrace_write_record(uint64_t stamp, uint32_t header, const uint32_t data[5]);

/* ---- Access to memory and devices ---------------------------------------------------------------- */

/* The registers of a device: memory at `base`, or x86 I/O ports from `base` on. */
struct ktrace_io {
	uintptr_t base; /* virtual address of the memory, or number of the first port */
	bool ports;
};

/*
 * How this kernel accesses memory and devices. If a member is NULL, ktrace assumes that all physical memory
 * is mapped at its physical address.
 */
struct ktrace_bus {
	/* Maps device memory permanently. Returns NULL if that fails. Called by probe. */
	void *(*map)(uint64_t physical, size_t bytes);
	/* Returns the physical address of a byte of memory. Called by probe and send. */
	uint64_t (*physical)(const void *pointer);
};

/* A PCI host bridge. The drivers search its bus 0 only. */
struct ktrace_pci {
	uint32_t (*read)(const struct ktrace_pci *pci, uint32_t address);
	void (*write)(const struct ktrace_pci *pci, uint32_t address, uint32_t value);
	/* memory-mapped access: virtual address of the 1 MiB configuration space of bus 0 */
	uintptr_t ecam;
	/*
	 * free range of physical addresses, for BARs that are not assigned yet; 0: the driver assigns no
	 * addresses
	 */
	uint64_t window;
	uint64_t window_size; /* size of the range in bytes */
};

void ktrace_pci_ecam(struct ktrace_pci *pci, uintptr_t ecam, uint64_t window, uint64_t window_size);
/*
 * x86 only: accesses configuration space through ports 0xcf8 and 0xcfc. Requires: firmware has assigned the
 * BARs.
 */
void ktrace_pci_ports(struct ktrace_pci *pci);

/* ---- Drivers of transports ----------------------------------------------------------------------- */
/*
 * Each _init function only fills in the struct and returns the transport in it. It does not access the
 * device.
 */

/*
 * The debug console of QEMU and Bochs; x86 only. It is slow, because each byte costs one guest exit, but it
 * is always present.
 */
struct ktrace_debugcon {
	struct ktrace_transport transport;
	uint16_t port;
};
#define KTRACE_DEBUGCON_PORT 0xe9
struct ktrace_transport *ktrace_debugcon_init(struct ktrace_debugcon *debugcon, uint16_t port);

/*
 * Semihosting on AArch64 and RISC-V. Writes to a file on the host with one trap per buffer, or, if the host
 * opens none, to its semihosting console with one trap per byte. The file is `path`. If `path` is NULL or
 * empty, it is PATH in the word ktrace-file=PATH of the host's semihosting command line.
 * Probing replaces the trap vector for a few instructions with interrupts disabled. So a missing semihosting
 * host is detected and does not crash the kernel.
 */
#define KTRACE_SEMIHOSTING_LINE 512u

struct ktrace_semihosting {
	struct ktrace_transport transport;
	/* path of the file on the host; NULL or empty: the path is in the semihosting command line */
	const char *path;
	/* handle of the open file on the host; negative: the driver writes to the console */
	int64_t handle;
	char line[KTRACE_SEMIHOSTING_LINE];
};
struct ktrace_transport *ktrace_semihosting_init(struct ktrace_semihosting *semihosting, const char *path);

/*
 * UARTs. The kernel's own driver may use them as well. So each send saves the registers, masks the UART's
 * interrupts while it runs, and restores the registers. It does not change the baud rate.
 */
struct ktrace_uart16550 {
	struct ktrace_transport transport;
	struct ktrace_io io;
	uint8_t shift; /* distance between registers: 1 << shift bytes */
};
struct ktrace_transport *ktrace_uart16550_init(struct ktrace_uart16550 *uart, struct ktrace_io io,
					       uint8_t shift);

struct ktrace_pl011 {
	struct ktrace_transport transport;
	struct ktrace_io io;
};
struct ktrace_transport *ktrace_pl011_init(struct ktrace_pl011 *uart, uintptr_t base);

/*
 * virtio-console: the transmit queue of the first port, polled; large writes are more efficient than small
 * writes. A device that the kernel's own driver uses is skipped, so the kernel's console and ktrace need one
 * device each.
 */
#define KTRACE_VIRTIO_QUEUE_BYTES 32768u /* size of a legacy queue of up to 1024 entries, as in QEMU 10 */

struct ktrace_virtio_console {
	struct ktrace_transport transport;
	const struct ktrace_bus *bus;	  /* NULL: physical addresses equal virtual addresses */
	const struct ktrace_pci *pci;	  /* the host bridge; NULL: the device is in a virtio-mmio slot */
	uint64_t slots;			  /* physical address of the first virtio-mmio slot */
	uint32_t slot_stride, slot_count; /* distance between slots in bytes; number of slots */
	struct ktrace_io io;		  /* registers of the device that was found */
	uint32_t size;			  /* number of entries of the queue */
	uint16_t sent;			  /* number of descriptor chains given to the device */
	uint16_t notify;		  /* offset of the notify register */
	bool notify_wide;		  /* true: the notify register has 32 bits; false: 16 bits */
	unsigned char memory[KTRACE_VIRTIO_QUEUE_BYTES] __attribute__((__aligned__(4096)));
};
struct ktrace_transport *ktrace_virtio_mmio_init(struct ktrace_virtio_console *console,
						 const struct ktrace_bus *bus, uint64_t slots,
						 uint32_t slot_stride, uint32_t slot_count);
struct ktrace_transport *ktrace_virtio_pci_init(struct ktrace_virtio_console *console,
						const struct ktrace_bus *bus, const struct ktrace_pci *pci);

/*
 * ivshmem-plain: memory shared with the host. As a transport it keeps the last complete dump readable while
 * the next one is written, if both fit. A kernel that dumps periodically can be inspected while it runs.
 * Alternatively, after probing, pass its memory to ktrace_init().
 */
struct ktrace_ivshmem {
	struct ktrace_transport transport;
	const struct ktrace_bus *bus; /* NULL: physical addresses equal virtual addresses */
	const struct ktrace_pci *pci;
	unsigned char *memory; /* address of the shared memory, valid after probing */
	uint64_t size;	       /* size of the shared memory in bytes */
	uint64_t physical;
	/* position of the dump that is being written: its start, next byte and end */
	uint64_t start, next, end;
	uint64_t complete; /* start of the newest complete dump */
	uint64_t magic;	   /* first word of the dump, written when the dump is complete */
};
struct ktrace_transport *ktrace_ivshmem_init(struct ktrace_ivshmem *ivshmem, const struct ktrace_bus *bus,
					     const struct ktrace_pci *pci);

#ifdef __cplusplus
}
#endif

#endif
