/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Images from inside: which file lay where at a moment, as a view of a process. A view is made by going through what the trace
 * says was mapped, up to that moment; one that goes on in time goes on from where it is.
 */
#ifndef HWT_IMAGES_H
#define HWT_IMAGES_H

#include "binary.h"
#include "code.h"
#include "file.h"

#define HWT_VIEWS 8u /* kept at once: of several processes, or of one at several moments */

/* A piece of a file in memory. Those of a view are in the order of addresses, and none overlaps another. */
struct hwt_span {
	uint64_t address, size, offset;
	struct hwt_binary *binary;
};

struct hwt_view {
	bool used;
	uint32_t pid;
	uint64_t from, until; /* stamps at which it is right */
	size_t applied;	      /* mappings gone through */
	struct hwt_span *span;
	size_t spans, room;
	uint64_t asked; /* when it was last, as images count */
	uint64_t changes;
};

/* A file that the caller added. */
struct hwt_added {
	struct hwt_binary *binary;
	uint32_t pid;
	uint64_t base;
};

struct hwt_image_warning {
	char *text;
	char *missing; /* name of the file that is, without folders: one of that name that is added does for it; NULL */
};

struct hwt_snapshot;

struct hwt_images {
	const struct hwt_file *file;
	char *root;
	struct hwt_mapping **mapping;	/* by stamps; the file's */
	struct hwt_binary **of_mapping; /* its file; NULL: none, or not found */
	size_t mappings;
	struct hwt_binary **binary; /* all that are open */
	size_t binaries, binary_room;
	struct hwt_added *added;
	size_t additions, added_room;
	struct hwt_codes *codes;
	struct hwt_snapshot *snapshot;
	struct hwt_view view[HWT_VIEWS];
	uint64_t asked;
	struct hwt_image_warning warning[HWT_WARNINGS_MOST];
	size_t warnings;
	char message[512];
};

/* What a process has mapped at a stamp; 0: at last. NULL: out of memory. Valid until the next call. */
const struct hwt_view *hwt_images_view(struct hwt_images *images, uint32_t pid, uint64_t stamp);
/* How many bytes from an address on, at most `size`, hwt_images_read() is sure to know nothing of, when asked as of last. */
size_t hwt_images_unknown(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t address,
			  size_t size);
/* The first span that ends behind an address; NULL: none. */
const struct hwt_span *hwt_view_next(const struct hwt_view *view, uint64_t address);
/* The span that an address lies in; NULL: none. */
const struct hwt_span *hwt_view_find(const struct hwt_view *view, uint64_t address);

#endif
