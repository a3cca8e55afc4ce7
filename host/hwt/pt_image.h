/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Images as libipt wants them. What stays as it is (pieces of files, code that has but one version) it gets as sections, which
 * it decodes by tables of its own, several times as fast as what it has to ask for each instruction; all else it asks for. When
 * what is mapped changes, it gets another image.
 */
#ifndef HWT_PT_IMAGE_H
#define HWT_PT_IMAGE_H

#include <intel-pt.h>

#include "images.h"

struct pt_sections;

/*
 * Of the process `pid`, 0: of all. What libipt asks for is as of the stamp that `now` says of `decoder` then: code changes between
 * any two instructions. NULL: out of memory.
 */
struct pt_sections *pt_sections_open(struct hwt_images *images, uint32_t pid, uint64_t (*now)(void *decoder),
				     void *decoder);
void pt_sections_close(struct pt_sections *sections);
/*
 * The image that is right at a stamp (0: unknown): the one that was asked for last, or a new one, which replaces it. NULL: out
 * of memory. `until`: the stamp from which on it is another.
 */
struct pt_image *pt_sections_at(struct pt_sections *sections, uint64_t stamp, uint64_t *until);

#endif
