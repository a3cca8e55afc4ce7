/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Transports: ways for bytes to leave the machine. None is needed where the host can read guest RAM, which
 * holds the rings as they are; the rest of the world picks a driver, and dumps:
 *
 *	static struct ktrace_debugcon debugcon;
 *
 *	ktrace_transport_set(ktrace_debugcon_init(&debugcon, KTRACE_DEBUGCON_PORT));
 *	…
 *	ktrace_dump(NULL, KTRACE_DUMP_V2);
 *
 * A driver's struct is the caller's memory and must live as long as it is in use; its members are private.
 * Everything is polled: no interrupt is used, no wait is longer than a bounded number of polls, and nothing
 * blocks. Errors are those of enum ktrace_output_error.
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

/* ---- A transport -------------------------------------------------------------------------------- */

struct ktrace_transport {
	const char *name;
	/* Looks for the device and readies it. Boot or later, thread context, one CPU at a time. */
	int (*probe)(struct ktrace_transport *transport);
	/*
	 * Takes some of the bytes, as many as it can in one go: how many (0 is a short write to be retried),
	 * or an error. Any context, NMI and panic included; calls are never nested or concurrent.
	 */
	int64_t (*send)(struct ktrace_transport *transport, const void *data, size_t bytes);
	/* May be NULL. One dump of that many bytes follows. Context as send. */
	int (*begin)(struct ktrace_transport *transport, uint64_t bytes);
	uint32_t patience; /* polls of a device that is not ready before it counts as stalled; not 0 */
	bool ready;	   /* probe succeeded */
};

/*
 * Probes a transport, unless that was done, and makes it the one that NULL and the streaming calls below
 * mean. NULL for none. Thread context.
 */
int ktrace_transport_set(struct ktrace_transport *transport);

/* The one that was set, NULL if none. Any context. */
struct ktrace_transport *ktrace_transport_get(void);

/*
 * Sends all bytes, in one piece as seen by other senders. NULL: the one that was set. Any context; waits a
 * bounded time for another sender and returns KTRACE_OUTPUT_BUSY then.
 */
int ktrace_transport_write(struct ktrace_transport *transport, const void *data, size_t bytes);

enum ktrace_dump_how {
	KTRACE_DUMP_V2 = 0,
	KTRACE_DUMP_V1 = 1,
	/* Or this in where all other CPUs are stopped: takes the output from whoever holds it. */
	KTRACE_DUMP_SEIZE = 2,
	/*
	 * Or this in to stop recording meanwhile. Without it nothing is missed, but on a transport slower
	 * than the recording most of a ring is overwritten before it is sent.
	 */
	KTRACE_DUMP_PAUSE = 4,
};

/*
 * Writes the trace as it is now. NULL: to the transport that was set. Any context. Dumps may follow one
 * another on one transport; readers show the last complete one.
 */
int ktrace_dump(struct ktrace_transport *transport, unsigned how);

/*
 * For ktrace_set_end_hook(): stops recording and writes one version 2 dump when the kernel says that it ends,
 * through the transport that is set by then; after a panic it seizes the output. The cookie is not used.
 */
void ktrace_dump_at_end(void *cookie);

/* ---- Streaming without a ring -------------------------------------------------------------------- */

/*
 * Single version 1 records through the transport that was set, from a kernel that keeps no rings. Context as
 * ktrace_transport_write. The reader is told the counter's frequency on its command line.
 */
int ktrace_write_byte(uint8_t byte);
int ktrace_write_bytes(const void *data, size_t bytes);

/* The header word of a record: event below 1024, CPU modulo 8, pid modulo 2048, flags 0 to 255. */
static inline uint32_t ktrace_pack_header(uint32_t event, uint32_t cpu, uint32_t pid, uint32_t flags)
{
	return KTRX1_HEADER(event, cpu, pid, flags);
}

/* One record; stamp is a counter value, not 0. */
int ktrace_write_record(uint64_t stamp, uint32_t header, const uint32_t data[5]);

/* ---- The machine around a device ----------------------------------------------------------------- */

/* A device's registers: memory from `base` on, or x86 I/O ports. */
struct ktrace_io {
	uintptr_t base; /* virtual address, or port */
	bool ports;
};

/* How this kernel reaches memory and devices. A NULL member: all is mapped at its physical address. */
struct ktrace_bus {
	/* Device memory, mapped for good; NULL if that cannot be. Called by probe. */
	void *(*map)(uint64_t physical, size_t bytes);
	/* Physical address of a byte of memory. Called by probe and send. */
	uint64_t (*physical)(const void *pointer);
};

/* A PCI host bridge. Only its bus 0 is looked at. */
struct ktrace_pci {
	uint32_t (*read)(const struct ktrace_pci *pci, uint32_t address);
	void (*write)(const struct ktrace_pci *pci, uint32_t address, uint32_t value);
	uintptr_t ecam;	      /* virtual address of bus 0's 1 MiB of configuration space, if by memory */
	uint64_t window;      /* physical range free for BARs that nobody assigned yet; 0: none is assigned */
	uint64_t window_size; /* bytes */
};

void ktrace_pci_ecam(struct ktrace_pci *pci, uintptr_t ecam, uint64_t window, uint64_t window_size);
/* x86 only: through ports 0xcf8 and 0xcfc; firmware has assigned the BARs. */
void ktrace_pci_ports(struct ktrace_pci *pci);

/* ---- Drivers ------------------------------------------------------------------------------------- */
/* Each _init only fills in the struct and touches no device; it returns the transport inside. */

/* QEMU's and Bochs's debug console; x86 only. One guest exit a byte: slow, but always there. */
struct ktrace_debugcon {
	struct ktrace_transport transport;
	uint16_t port;
};
#define KTRACE_DEBUGCON_PORT 0xe9
struct ktrace_transport *ktrace_debugcon_init(struct ktrace_debugcon *debugcon, uint16_t port);

/*
 * Semihosting, AArch64 and RISC-V: a file on the host, one trap a buffer; where the host opens none, its
 * semihosting console, one trap a byte. The file is the one given; without one, what the host says by a word
 * ktrace-file=PATH in the command line that it has for semihosting. Probing takes the trap vector for a few
 * instructions with interrupts off, so that a host without semihosting is found out and not crashed into.
 */
#define KTRACE_SEMIHOSTING_LINE 512u

struct ktrace_semihosting {
	struct ktrace_transport transport;
	const char *path; /* as seen by the host; NULL or empty: the host's choice */
	int64_t handle;	  /* of the open file, negative for the console */
	char line[KTRACE_SEMIHOSTING_LINE];
};
struct ktrace_transport *ktrace_semihosting_init(struct ktrace_semihosting *semihosting, const char *path);

/*
 * UARTs, shared with the kernel's own driver: registers are left as they were found, interrupts stay masked
 * while bytes go out. The line's speed is whatever firmware or the kernel set.
 */
struct ktrace_uart16550 {
	struct ktrace_transport transport;
	struct ktrace_io io;
	uint8_t shift; /* registers lie 1 << shift bytes apart */
};
struct ktrace_transport *ktrace_uart16550_init(struct ktrace_uart16550 *uart, struct ktrace_io io,
					       uint8_t shift);

struct ktrace_pl011 {
	struct ktrace_transport transport;
	struct ktrace_io io;
};
struct ktrace_transport *ktrace_pl011_init(struct ktrace_pl011 *uart, uintptr_t base);

/*
 * virtio-console: the first port's transmit queue, polled; best in bulk. A device that the kernel's own
 * driver runs already is passed over, so give the kernel's console and ktrace a device each.
 */
#define KTRACE_VIRTIO_QUEUE_BYTES 12288u /* of a legacy queue of up to 256 entries */

struct ktrace_virtio_console {
	struct ktrace_transport transport;
	const struct ktrace_bus *bus;	  /* NULL: identity */
	const struct ktrace_pci *pci;	  /* on PCI; NULL: on virtio-mmio slots */
	uint64_t slots;			  /* physical address of the first slot */
	uint32_t slot_stride, slot_count; /* bytes; slots */
	struct ktrace_io io;		  /* of the device that was found */
	uint32_t size;			  /* entries of the queue */
	uint16_t sent;			  /* chains given to the device */
	uint16_t notify;		  /* offset of the register that rings the bell … */
	bool notify_wide;		  /* … and whether it has 32 bits, not 16 */
	unsigned char memory[KTRACE_VIRTIO_QUEUE_BYTES] __attribute__((__aligned__(4096)));
};
struct ktrace_transport *ktrace_virtio_mmio_init(struct ktrace_virtio_console *console,
						 const struct ktrace_bus *bus, uint64_t slots,
						 uint32_t slot_stride, uint32_t slot_count);
struct ktrace_transport *ktrace_virtio_pci_init(struct ktrace_virtio_console *console,
						const struct ktrace_bus *bus, const struct ktrace_pci *pci);

/*
 * ivshmem-plain: memory shared with the host. As a transport it keeps the last complete dump readable at any
 * moment, also while the next is on its way, if two fit: so a kernel that dumps now and then can be looked at
 * while it runs. Or take the memory alone, once probed, to lend to ktrace_init().
 */
struct ktrace_ivshmem {
	struct ktrace_transport transport;
	const struct ktrace_bus *bus; /* NULL: identity */
	const struct ktrace_pci *pci;
	unsigned char *memory; /* once probed */
	uint64_t size;	       /* bytes */
	uint64_t physical;
	uint64_t start, next, end; /* of the dump under way: where it began, its next byte, its end */
	uint64_t complete;	   /* where the newest complete one is */
	uint64_t magic;		   /* its first word, held back until it is complete */
};
struct ktrace_transport *ktrace_ivshmem_init(struct ktrace_ivshmem *ivshmem, const struct ktrace_bus *bus,
					     const struct ktrace_pci *pci);

#ifdef __cplusplus
}
#endif

#endif
