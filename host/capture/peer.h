/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A machine that can be halted and read from outside: a QEMU through QMP, or any program that speaks gdb's
 * remote protocol. The caller that opens a peer must close it. Closing resumes the guest if ktrace halted it.
 */
#ifndef CAPTURE_PEER_H
#define CAPTURE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"
#include "cpu_state.h"

struct capture_peer;

struct capture_peer_ops {
	/*
	 * halt() and resume() return 0 or an error. If there is nothing to do, because the machine is already
	 * halted or already running, they return 0.
	 */
	int (*halt)(struct capture_peer *peer);
	int (*resume)(struct capture_peer *peer);
	/*
	 * Lets the machine run for `ms` milliseconds and halts it again. Needed if memory cannot be read
	 * while the machine runs. NULL: not supported.
	 */
	int (*let_run)(struct capture_peer *peer, int ms);
	/*
	 * Reads the registers of all CPUs as text (spec/ktrx.md section 3). `machine`: ELF e_machine. *text:
	 * for the caller to free.
	 */
	int (*registers)(struct capture_peer *peer, uint16_t machine, char **text);
	/*
	 * Reads at most CAPTURE_STACK_PAGES pages, each by its virtual address on its CPU, and sets
	 * `readable` in each.
	 * Requires: the machine is halted, and registers() was called.
	 * Returns 0, or CAPTURE_E_ABSENT if the connection is lost.
	 */
	int (*read_pages)(struct capture_peer *peer, struct capture_stack_page *page, unsigned pages);
	void (*close)(struct capture_peer *peer);
};

struct capture_peer {
	const struct capture_peer_ops *ops;
	/*
	 * the memory of the machine, accessed by physical addresses, or by virtual addresses if `by_virtual`
	 * is set
	 */
	struct ktread_memory *memory;
	bool reads_running; /* memory can be read while the guest runs */
	bool by_virtual;    /* addresses passed to `memory` are virtual, not physical */
	/* all memory can be searched: its ranges are known, and reading takes an acceptable time */
	bool searchable;
	bool was_halted; /* the machine was halted before we connected; set only for QMP */
	/* the machine was running when we connected, not halted by another program; set only for gdb */
	bool was_running;
	bool halted;  /* ktrace has halted the machine */
	double pause; /* seconds for which ktrace kept the machine halted; set when it is resumed */
};

/* The ranges of memory that the user has given to search. */
struct capture_ranges {
	struct ktread_range range[16];
	uint32_t count;
};

/*
 * Connects. Returns 0 or an error.
 * Requires: *peer is NULL. After an error *peer may be set, so the caller closes *peer in any case.
 */
int capture_peer_open_qmp(struct capture_peer **peer, const char *address, int timeout_ms);
int capture_peer_open_gdb(struct capture_peer **peer, const char *address,
			  const struct capture_ranges *ranges, int timeout_ms);

static inline void capture_peer_close(struct capture_peer *peer)
{
	if (peer)
		peer->ops->close(peer);
}

#endif
