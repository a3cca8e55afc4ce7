/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading the file of rings of a unit in software: its packets, and the branches that were not written
 * as packets yet.
 */
#include <stdlib.h>

#include "unit/support/hwt_reading.h"
#include "ktrx/hwt_unit.h"

#define RING_SIZE 65536u
#define NONCE	  UINT64_C(0x123456789abcdef0)
#define CODE_AT	  (sizeof(struct ktrx_hwt_rings) + sizeof(struct ktrx_hwt_ring) + RING_SIZE)

static struct hwt_packets_writer packets;

/*
 * Reads a file whose packets cover the program from its start to the return from leaf. The branches after
 * this return are pending: they were not written as packets yet.
 */
static struct reading read_rings(uint64_t pending, uint64_t reached)
{
	const struct ktrx_hwt_seen seen = { .address = PROGRAM_AT, .size = PROGRAM_SIZE };
	struct ktrx_hwt_rings *head = calloc(1, CODE_AT + sizeof(seen) + 24);
	struct ktrx_hwt_ring *ring = (struct ktrx_hwt_ring *)(head + 1);
	struct hwt_file_writer writer = { .bytes = (uint8_t *)head, .size = CODE_AT + sizeof(seen) + 24 };

	assert_non_null(head);
	*head = (struct ktrx_hwt_rings){ .magic = "KTRU",
					 .version = KTRX_HWT_UNIT_VERSION,
					 .cpus = 1,
					 .encoding = KTRX_HWT_ENCODING_PT,
					 .ring_size = RING_SIZE,
					 .code = CODE_AT,
					 .code_size = sizeof(seen) + 24,
					 .unit_frequency = 1000000000,
					 .nonce = NONCE };
	packets_begin(&packets);
	packets_sync(&packets, 0, 0, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_AT);
	packet_address(&packets, ppt_tip, PROGRAM_JNE);
	*ring = (struct ktrx_hwt_ring){ .position = packets_end(&packets),
					.pending = pending,
					.reached = reached };
	memcpy(ring + 1, packets.bytes, ring->position);
	memcpy(writer.bytes + CODE_AT, &seen, sizeof(seen));
	memcpy(writer.bytes + CODE_AT + sizeof(seen), program, PROGRAM_SIZE);
	return read_file(&writer);
}

/* Checks the steps of the packets that read_rings() writes. leaf returns to `to`; 0: unknown. */
static void check_packets(struct reading *reading, uint64_t to)
{
	open_stream(reading, 0);
	next(reading, HWT_ON);
	next_run(reading, PROGRAM_AT, PROGRAM_JNE, HWT_BRANCH_CALL, PROGRAM_LEAF);
	next_run(reading, PROGRAM_LEAF, PROGRAM_LEAF + 3, HWT_BRANCH_RETURN, to);
}

static void pending_branches_are_decoded(void **state)
{
	/* Three branches are pending: a taken one, the return from leaf, and one that is not taken. */
	struct reading reading = read_rings(14, PROGRAM_JMP);
	const struct hwt_step *step;

	(void)state;
	assert_int_equal(hwt_file_stream(reading.file, 0)->missing, 0);
	assert_int_equal(hwt_file_nonce(reading.file), NONCE);
	check_packets(&reading, PROGRAM_JNE);
	next_run(&reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_JMP);
	next_run(&reading, PROGRAM_JMP, PROGRAM_JMP + 2, HWT_BRANCH_JUMP, PROGRAM_AT);
	next_run(&reading, PROGRAM_AT, PROGRAM_JNE, HWT_BRANCH_CALL, PROGRAM_LEAF);
	next_run(&reading, PROGRAM_LEAF, PROGRAM_LEAF + 3, HWT_BRANCH_RETURN, PROGRAM_JNE);
	next_run(&reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_NOPS);
	next_run(&reading, PROGRAM_NOPS, PROGRAM_JMP, HWT_BRANCH_NONE, PROGRAM_JMP);
	step = next(&reading, HWT_OFF);
	assert_int_equal(step->has_address, 1);
	assert_int_equal(step->address, PROGRAM_JMP);
	end(&reading);
}

static void no_steps_are_invented_without_pending_branches(void **state)
{
	struct reading reading = read_rings(1, PROGRAM_JNE);

	(void)state;
	check_packets(&reading, PROGRAM_JNE);
	assert_int_equal(next(&reading, HWT_OFF)->address, PROGRAM_JNE);
	end(&reading);
}

static void impossible_pending_branches_are_ignored(void **state)
{
	struct reading reading = read_rings(UINT64_C(1) << 60, PROGRAM_JMP);

	(void)state;
	check_packets(&reading, 0);
	end(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pending_branches_are_decoded),
		cmocka_unit_test(no_steps_are_invented_without_pending_branches),
		cmocka_unit_test(impossible_pending_branches_are_ignored),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
