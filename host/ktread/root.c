/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The root of a v2 trace. Everything in it is a claim; what is let through has sizes that can be relied on.
 */
#include <inttypes.h>
#include <string.h>

#include "ktrx/slot.h"
#include "message.h"
#include "root.h"

static int bad(const struct ktread_memory *memory, uint64_t physical, const char *what)
{
	return ktread_fail(KTREAD_E_FORMAT, "%s: v2 root at 0x%" PRIx64 ": %s", memory->name, physical, what);
}

int ktread_root_read(struct ktread_memory *memory, uint64_t physical, struct ktrx_root *root)
{
	const size_t fixed = offsetof(struct ktrx_root, section);
	uint64_t there = ktread_memory_run(memory, physical);
	int status;

	memset(root, 0, sizeof(*root));
	if (there < fixed)
		return bad(memory, physical, "cut off");
	status = ktread_memory_read(memory, physical, root, there < sizeof(*root) ? fixed : sizeof(*root));
	if (status < 0)
		return status;
	if (memcmp(root->magic, KTRX_MAGIC, sizeof(root->magic)) != 0 ||
	    memcmp(root->tag, KTRX_TAG, sizeof(root->tag)) != 0)
		return bad(memory, physical, "no magic");
	if (root->version != KTRX2_VERSION)
		return bad(memory, physical, "a version that is not known here");
	if (root->checksum != ktrx_root_checksum(root))
		return bad(memory, physical, "wrong checksum");
	if (root->slot_size != KTRX_SLOT_SIZE)
		return bad(memory, physical, "unknown slot size");
	if (root->flags & KTRX_FLAGS_NEEDED & ~KTRX_FLAG_PLACES)
		return bad(memory, physical,
			   "has a flag of a later version, which has to be known to read it");
	if (root->slot_format > KTRX_SLOTS_CHECKED)
		return bad(memory, physical, "unknown format of slots: written by a later ktrace");
	if (root->root_size < fixed || root->root_size > KTREAD_ROOT_MAX || root->table < fixed ||
	    root->table > root->root_size ||
	    root->sections > (root->root_size - root->table) / sizeof(struct ktrx_section))
		return bad(memory, physical, "section table does not fit");
	root->kernel[sizeof(root->kernel) - 1] = '\0';
	return 0;
}

int ktread_root_sections(struct ktread_memory *memory, uint64_t physical, const struct ktrx_root *root,
			 struct ktrx_section *section)
{
	uint64_t at = physical + root->table;
	uint64_t there = ktread_memory_run(memory, at) / sizeof(*section);
	uint32_t count = root->sections < KTREAD_SECTION_MAX ? root->sections : KTREAD_SECTION_MAX;
	int status;

	if (count > there)
		count = (uint32_t)there;
	status = ktread_memory_read(memory, at, section, count * sizeof(*section));
	return status < 0 ? status : (int)count;
}
