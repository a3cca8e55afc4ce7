/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A machine that can be halted and looked into from outside: a QEMU by QMP, or whatever speaks gdb's remote
 * protocol. Whoever opened one closes it, and closing lets the guest go on if it was us who halted it.
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
	/* 0 or an error; to halt what is halted, or the opposite, is no error. */
	int (*halt)(struct capture_peer *peer);
	int (*resume)(struct capture_peer *peer);
	/*
	 * Of one that cannot be read while it runs: lets it run for so long and halts it again. NULL: that
	 * cannot be done.
	 */
	int (*let_run)(struct capture_peer *peer, int ms);
	/*
	 * Registers of all CPUs as spec/ktrx.md section 3 has them, to be free()d. `machine`: ELF e_machine.
	 */
	int (*registers)(struct capture_peer *peer, uint16_t machine, char **text);
	/*
	 * Memory of a halted machine as its CPUs see it, after registers(): reads those of the pages that can
	 * be, at most CAPTURE_STACK_PAGES. CAPTURE_E_ABSENT if the peer is gone.
	 */
	int (*read_pages)(struct capture_peer *peer, struct capture_stack_page *page, unsigned pages);
	void (*close)(struct capture_peer *peer);
};

struct capture_peer {
	const struct capture_peer_ops *ops;
	struct ktread_memory *memory; /* its physical memory, or what the peer takes for it */
	bool reads_running;	      /* memory can be read while the guest runs */
	bool by_virtual;	      /* addresses are the CPU's, not physical */
	bool searchable; /* the ranges of memory are known, and reading all of it takes no hours */
	bool was_halted; /* before we came */
	bool ran;	 /* when we came, rather than that somebody had halted it to look at it */
	bool halted;	 /* by us */
	double pause;	 /* seconds for which it was, once resumed */
};

/* Ranges that were given by hand. */
struct capture_ranges {
	struct ktread_range range[16];
	uint32_t count;
};

/* 0 or an error; *peer is to be closed in either case, and NULL if nothing was connected. */
int capture_peer_open_qmp(struct capture_peer **peer, const char *address, int timeout_ms);
int capture_peer_open_gdb(struct capture_peer **peer, const char *address,
			  const struct capture_ranges *ranges, int timeout_ms);

static inline void capture_peer_close(struct capture_peer *peer)
{
	if (peer)
		peer->ops->close(peer);
}

/*
 * gdb's remote serial protocol as a client: a packet, then its reply, in bounded time and space. Each packet
 * is $DATA#CHECKSUM and is acknowledged with + or -; DATA may be run-length encoded.
 */

#define GDB_REPLY_MOST ((size_t)64 << 10) /* bytes of a reply once expanded */

struct gdb {
	int fd;
	const char *address; /* borrowed */
	int timeout_ms;
	size_t most; /* bytes of memory that one packet reads */
	unsigned char input[4096];
	size_t begin, end;		/* of what was received and not yet looked at */
	char reply[GDB_REPLY_MOST + 1]; /* NUL-terminated */
	size_t length;
	bool ran; /* until gdb_await_halt() */
};

/* Dials. 0 or an error. */
int gdb_open(struct gdb *gdb, const char *address, int timeout_ms);
/* Halts the machine if it is not, and agrees on sizes. */
int gdb_await_halt(struct gdb *gdb);
/* Lets a machine that is halted run for so long, and halts it again. */
int gdb_run_for(struct gdb *gdb, int ms);
/*
 * 0 with the reply, which lasts until the next command; "" means that the other side does not know the
 * packet.
 */
int gdb_command(struct gdb *gdb, const char *packet, const char **reply);
/* Reads exactly `bytes`, gdb->most at most. */
int gdb_read_memory(struct gdb *gdb, uint64_t address, void *to, size_t bytes);
void gdb_close(struct gdb *gdb);

#endif
