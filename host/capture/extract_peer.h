/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace from a machine that runs: found while it does, halted for as long as it takes to copy, let go on.
 */
#ifndef CAPTURE_EXTRACT_PEER_H
#define CAPTURE_EXTRACT_PEER_H

#include "extract.h"
#include "ktread/memory.h"

int capture_extract_peer(const struct capture_extract_options *options,
			 struct capture_extract_report *report);
/* Writes the image to options->out, whole or not at all; with an ELF file given, if that is the kernel's. */
int capture_extract_write(struct ktread_image *image, const struct capture_extract_options *options,
			  struct ktread_memory *memory, struct capture_extract_report *report);

/*
 * A memory that remembers what was read of it, so that all of it can be read again in few large pieces, in
 * the shortest time a machine can be halted for. From then on those pieces are what is read; what lies
 * outside of them still comes from the machine.
 */

struct capture_snapshot;

/* `below` is borrowed and must outlive it. 0 or an error. */
int capture_snapshot_open(struct capture_snapshot **snapshot, struct ktread_memory *below);
/* To read through; owned by the snapshot. */
struct ktread_memory *capture_snapshot_memory(struct capture_snapshot *snapshot);
/* From here on reads are remembered; of large ones nothing but that. */
void capture_snapshot_remember(struct capture_snapshot *snapshot);
/* Makes room for what is remembered: what takes time before the machine is halted. */
void capture_snapshot_prepare(struct capture_snapshot *snapshot);
/* Reads all that is remembered. 0, or an error of what is below. */
int capture_snapshot_take(struct capture_snapshot *snapshot);
void capture_snapshot_close(struct capture_snapshot *snapshot);

#endif
