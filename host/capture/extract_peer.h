/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A trace from a machine that runs: found while it does, halted for as long as it takes to copy, let go on. */
#ifndef CAPTURE_EXTRACT_PEER_H
#define CAPTURE_EXTRACT_PEER_H

#include "extract.h"

int capture_extract_peer(const struct capture_extract_options *options,
			 struct capture_extract_report *report);
/* Writes the image to options->out, whole or not at all; with an ELF file given, if that is the kernel's. */
int capture_extract_write(struct ktread_image *image, const struct capture_extract_options *options,
			  struct ktread_memory *memory, struct capture_extract_report *report);

#endif
