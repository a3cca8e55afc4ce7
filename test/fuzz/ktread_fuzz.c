/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The reader as a fuzz target. With clang: -fsanitize=fuzzer,address,undefined and this file, ktread_exercise.c
 * and the sources in host/ktread. Linked with replay.c instead, it replays files and folders without a fuzzer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ktread_exercise.h"
#include "ktrx/v2.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A liar can compute checksums: roots whose checksum is wrong are tried with the right one, too. */
static void mend_and_exercise(const uint8_t *bytes, size_t size)
{
	struct ktrx_root root;
	uint8_t *mended;
	uint32_t checksum;

	if (size < sizeof(root))
		return;
	memcpy(&root, bytes, sizeof(root));
	checksum = ktrx_root_checksum(&root);
	if (memcmp(root.magic, KTRX_MAGIC, sizeof(root.magic)) != 0 || root.checksum == checksum)
		return;
	mended = malloc(size);
	if (!mended)
		return;
	memcpy(mended, bytes, size);
	memcpy(mended + offsetof(struct ktrx_root, checksum), &checksum, sizeof(checksum));
	ktread_exercise_bytes(mended, size);
	free(mended);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	ktread_exercise_bytes(bytes, size);
	mend_and_exercise(bytes, size);
	return 0;
}
