/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Extracts a trace from the memory of a machine that ktrace has not started: the peer that gives access to
 * the machine, and the extraction.
 */
#ifndef CAPTURE_EXTRACT_H
#define CAPTURE_EXTRACT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktread/memory.h"
#include "cpu_state.h"
#include "output.h"

/*
 * A machine that can be halted and read from outside: a QEMU through QMP, or any program that speaks gdb's
 * remote protocol. The caller that opens a peer must close it. Closing resumes the guest if ktrace halted it.
 */

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

/* `ktrace extract`: reads the trace from the memory of a guest that runs, has ended, or was dumped. */

enum capture_source {
	CAPTURE_FROM_FILE, /* a RAM file or a core dump */
	CAPTURE_FROM_QMP,
	CAPTURE_FROM_GDB,
};

struct capture_extract_options {
	enum capture_source source;
	const char *path; /* path of the file, or address of the peer */
	const char *out;
	const char *machine;   /* architecture of the guest, only for a RAM file; NULL: ktrace detects it */
	enum ktread_form form; /* KTREAD_FORM_AUTO, _RAM or _CORE */
	/*
	 * path of the kernel's ELF file, which gives the address of the root; NULL: memory is searched for
	 * the root
	 */
	const char *elf;
	uint32_t boot; /* number of boots to go back; 0: the newest boot */
	struct capture_ranges ranges;
	int timeout_ms; /* maximum time, in ms, to wait for an answer of the peer */
};

struct capture_extract_report {
	struct capture_summary summary;
	uint32_t boots;	   /* number of boots that a search found; 1 if there was no search */
	bool lacks_ktrace; /* true if all memory of a machine was searched and no ktrace was found */
	bool paused;	   /* true if ktrace halted a running guest and resumed it */
	double pause;	   /* seconds for which the guest was halted */
	double located;	   /* seconds from the start of the extraction until the rings were found */
	double total;
	/*
	 * seconds without activity of the guest while ktrace watched it; 0: the guest recorded something;
	 * negative: unknown
	 */
	double silence;
	uint64_t frequency; /* the counter's frequency in Hz, if the host measured it; otherwise 0 */
	char warning[300];  /* warning about the kernel's file; "": none */
};

/*
 * Extracts the trace to the file options->out. Returns 0; CAPTURE_E_ABSENT if no ktrace is found; or another
 * error. The message contains the name of the file or peer.
 */
int capture_extract(const struct capture_extract_options *options, struct capture_extract_report *report);
/*
 * Extracts the trace to a new file in TMPDIR, for callers that only read it. Ignores options->out.
 * `path`: the file, which the caller removes; "" on error.
 */
int capture_extract_temporary(const struct capture_extract_options *options, char path[PATH_MAX],
			      struct capture_extract_report *report);

#endif
