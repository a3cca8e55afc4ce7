/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_patched.h"

struct hwt_packets_writer packets;

void begin_file(struct hwt_file_writer *writer, uint32_t target)
{
	file_begin(writer);
	writer->pid = target;
	file_context(writer, 1, target);
	file_clock(writer, 500, 500, 1000000000);
}

struct reading finish_file(struct hwt_file_writer *writer)
{
	struct reading reading;

	file_data(writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	reading = read_file(writer);
	open_stream(&reading, 0);
	return reading;
}

const uint8_t *straight(void)
{
	static uint8_t code[PROGRAM_SIZE];

	memcpy(code, program, sizeof(code));
	code[PROGRAM_JNE - PROGRAM_AT] = code[PROGRAM_JNE - PROGRAM_AT + 1] = 0x90;
	return code;
}

void write_jump(uint64_t time, uint64_t space)
{
	packets_sync(&packets, time, space, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JNE);
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_fup, PROGRAM_AT);
	packet_address(&packets, ppt_tip_pgd, 0);
}

void write_straight(uint64_t time, uint64_t space)
{
	packets_sync(&packets, time, space, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JNE);
	packet_address(&packets, ppt_fup, PROGRAM_AT);
	packet_address(&packets, ppt_tip_pgd, 0);
}

static void check_end(struct reading *reading)
{
	next(reading, HWT_ASYNC);
	next(reading, HWT_OFF);
}

void check_jump(struct reading *reading)
{
	next(reading, HWT_ON);
	next_run(reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_JMP);
	next_run(reading, PROGRAM_JMP, PROGRAM_JMP + 2, HWT_BRANCH_JUMP, PROGRAM_AT);
	check_end(reading);
}

void check_straight(struct reading *reading)
{
	next(reading, HWT_ON);
	next_run(reading, PROGRAM_JNE, PROGRAM_JMP + 2, HWT_BRANCH_JUMP, PROGRAM_AT);
	check_end(reading);
}
