/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the reader. With clang, build it with -fsanitize=fuzzer,address,undefined from this file,
 * ktread_exercise.c and the sources in host/ktread. Linked with replay.c instead, it replays files and
 * folders without a fuzzer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ktread_exercise.h"
#include "ktrx/stream.h"
#include "ktrx/v2.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Corrects the checksums: an attacker can compute them, so inputs are also tried with valid ones. */
static void mend_root(uint8_t *bytes, size_t size)
{
	struct ktrx_root root;

	if (size < sizeof(root))
		return;
	memcpy(&root, bytes, sizeof(root));
	root.checksum = ktrx_root_checksum(&root);
	memcpy(bytes, &root, sizeof(root));
}

static void mend_stream(uint8_t *bytes, size_t size)
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

static void mend_and_exercise(const uint8_t *bytes, size_t size)
{
	uint8_t *mended = malloc(size ? size : 1);

	if (!mended)
		return;
	memcpy(mended, bytes, size);
	if (size >= 4 && memcmp(bytes, KTRX_MAGIC, 4) == 0)
		mend_root(mended, size);
	else if (size >= 8 && memcmp(bytes, KTRX_STREAM_MAGIC, 8) == 0)
		mend_stream(mended, size);
	if (memcmp(mended, bytes, size) != 0)
		ktread_exercise_bytes(mended, size);
	free(mended);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	ktread_exercise_bytes(bytes, size);
	mend_and_exercise(bytes, size);
	return 0;
}
