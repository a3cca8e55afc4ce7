/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A guest's physical memory, read from a file or from QEMU's process; the map of its address ranges;
 * snapshots of memory; and the mailbox in it.
 */
#ifndef CAPTURE_MEMORY_H
#define CAPTURE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktread/memory.h"

/*
 * A map from guest physical addresses to offsets in the RAM file, as QEMU's "info mtree -f" prints it. It is
 * correct for every board, and for RAM that continues above a PCI hole.
 */

#define CAPTURE_MAP_RANGES 128u

struct capture_map {
	struct {
		uint64_t physical;
		uint64_t length;
		uint64_t offset; /* offset in the RAM file */
	} range[CAPTURE_MAP_RANGES];
	uint32_t ranges; /* number of ranges, which are disjoint and sorted by physical address */
};

/*
 * Parses `text`, the output of "info mtree -f". Takes from its address space "memory" the ranges of the
 * memory backend `id`; if `id` is NULL, the ranges of all RAM, with offset 0.
 * Returns 0 or CAPTURE_E_FORMAT.
 */
int capture_map_read(struct capture_map *map, const char *text, const char *id);

/*
 * A guest's RAM, read directly from the memory of its QEMU process, while the guest runs and without help
 * from QEMU. Requires the permission to debug that process, which the same user usually has.
 */

/*
 * Opens the RAM. The offsets in `map` are addresses in the process. Searches skip pages that the process
 * never touched. Returns 0 or CAPTURE_E_SYSTEM. Returns 0 even if the permission to debug the process is
 * missing, but then reads fail.
 */
int capture_process_open(struct ktread_memory **memory, pid_t pid, const struct capture_map *map);

/*
 * The file that holds a guest's RAM. It is private and sparse. It is read while the guest runs and after the
 * run, and is then removed. It is read only with pread(), and never mapped: a mapping would cause a
 * fault if the file was truncated, and on tmpfs, reading a mapping would fill the file's holes.
 */

/* Creates the file, empty. Fails if it exists. Returns 0 or CAPTURE_E_SYSTEM. */
int capture_ram_create(const char *path, mode_t mode);

/*
 * Opens the file as the guest's physical memory. If `map` has no ranges, assumes the usual board of
 * `architecture`.
 * Returns 0 or CAPTURE_E_SYSTEM.
 */
int capture_ram_open(struct ktread_memory **memory, const char *path, const struct capture_map *map,
		     const char *architecture);

/*
 * A snapshot is a memory that records which parts of another memory are read. It can then copy these parts in
 * a few large reads, so that a machine has to be halted only for a short time. After that, reads of these
 * parts are served from the copies. All other reads still go to the machine.
 */

struct capture_snapshot;

/*
 * Creates a snapshot of the memory `below`, which is borrowed and must outlive the snapshot. Returns 0 or an
 * error.
 */
int capture_snapshot_open(struct capture_snapshot **snapshot, struct ktread_memory *below);
/* Returns the memory through which the caller reads. The snapshot owns it. */
struct ktread_memory *capture_snapshot_memory(struct capture_snapshot *snapshot);
/*
 * Starts to record which parts are read. From then on, a large read is not executed: it is recorded and
 * returns zeros.
 */
void capture_snapshot_remember(struct capture_snapshot *snapshot);
/*
 * Stops recording reads and allocates buffers for the recorded parts. This takes time: call it before the
 * machine is halted.
 */
void capture_snapshot_prepare(struct capture_snapshot *snapshot);
/* Copies all parts that were recorded. Returns 0, or an error of reading that memory. */
int capture_snapshot_take(struct capture_snapshot *snapshot);
void capture_snapshot_close(struct capture_snapshot *snapshot);

/*
 * Requests to a running guest, through the mailbox in its memory (spec/ktrx.md section 9). The mailbox is
 * the only part of a guest's memory to which ktrace's commands write. The RAM file is locked while the
 * mailbox is open, so that two host programs do not mix their requests.
 */

struct capture_mailbox;

/*
 * Opens the mailbox of the boot with this nonce in the RAM file `path`, which is borrowed. `architecture`
 * may be NULL. Waits up to `timeout_ns` while another host holds the file's lock.
 * Returns 0; CAPTURE_E_ABSENT if the file stays locked or has no such mailbox; or another error.
 */
int capture_mailbox_open(struct capture_mailbox **mailbox, const char *path, const char *architecture,
			 uint64_t nonce, uint64_t timeout_ns);
void capture_mailbox_close(struct capture_mailbox *mailbox);

/*
 * Waits for the guest's first heartbeat. Before this heartbeat, the guest may still be booting, and its boot
 * arguments may have no effect yet. Returns 0, or CAPTURE_E_ABSENT if there is none in time.
 */
int capture_mailbox_await_tick(struct capture_mailbox *mailbox, uint64_t timeout_ns);

/*
 * Makes the guest carry out the requests, in the order of the array. Stores the result in each request:
 * KTRX_RESULT_NONE if the guest did not answer it. Returns 0; CAPTURE_E_ABSENT with the most likely reason if
 * the guest did not answer in time; or another error.
 */
int capture_mailbox_send(struct capture_mailbox *mailbox, struct ktrx_request *request, uint32_t count,
			 uint64_t timeout_ns);

#endif
