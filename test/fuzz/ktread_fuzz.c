/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the reader. With clang, build it with -fsanitize=fuzzer,address,undefined from this file,
 * ktread_exercise.c and the sources in host/ktread. Linked with replay.c instead, it replays files and
 * directories without a fuzzer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ktread_exercise.h"
#include "ktrx/stream.h"
#include "ktrx/v2.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/*
 * Corrects the checksum of a root. Each input is also tried with a valid checksum, because an attacker can
 * compute it.
 */
static void correct_root_checksums(uint8_t *bytes, size_t size)
{
	struct ktrx_root root;

	if (size < sizeof(root))
		return;
	memcpy(&root, bytes, sizeof(root));
	root.checksum = ktrx_root_checksum(&root);
	memcpy(bytes, &root, sizeof(root));
}

static void correct_stream_checksums(uint8_t *bytes, size_t size)
{
	struct ktrx_stream head;
	struct ktrx_stream_block block;
	size_t at = sizeof(head);

	if (size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	head.check = ktrx_stream_check(&head, offsetof(struct ktrx_stream, check));
	memcpy(bytes, &head, sizeof(head));
	while (at <= size && size - at >= sizeof(block)) {
		memcpy(&block, bytes + at, sizeof(block));
		block.check = ktrx_stream_check(&block.coding, sizeof(block) - sizeof(block.check));
		memcpy(bytes + at, &block, sizeof(block));
		at += sizeof(block) + block.size;
	}
}

static void exercise_with_valid_checksums(const uint8_t *bytes, size_t size)
{
	uint8_t *corrected = malloc(size ? size : 1);

	if (!corrected)
		return;
	memcpy(corrected, bytes, size);
	if (size >= 4 && memcmp(bytes, KTRX_MAGIC, 4) == 0)
		correct_root_checksums(corrected, size);
	else if (size >= 8 && memcmp(bytes, KTRX_STREAM_MAGIC, 8) == 0)
		correct_stream_checksums(corrected, size);
	if (memcmp(corrected, bytes, size) != 0)
		ktread_exercise_bytes(corrected, size);
	free(corrected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	ktread_exercise_bytes(bytes, size);
	exercise_with_valid_checksums(bytes, size);
	return 0;
}
