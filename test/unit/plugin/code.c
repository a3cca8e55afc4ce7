/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests recording code in the file of rings: the bytes, the address space, the time, and how often code is
 * recorded.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>
#include <cmocka.h>

#include "ktrx/hwt_unit.h"
#include "plugin/trace.h"
#include "unit/support/plugin_support.h"

#define RING_SIZE	 UINT64_C(65536)
#define CODE_SIZE	 UINT64_C(65536)
#define USER		 UINT64_C(0x10000)
#define USER_END	 UINT64_C(0x20000)
#define KERNEL		 UINT64_C(0x40000)
#define SPACE(n)	 ((uint64_t)((n) + 1) << 12)
#define MORE_THAN_A_WORD 200u

#define NOP_JUMP   "\x01\x90\x02\xff\xe0" /* nop; jmp *%rax */
#define OTHER_JUMP "\x01\xfc\x02\xff\xe0" /* cld; jmp *%rax */

static const struct ktrx_hwt_rings *rings;
static uint64_t from; /* offset in the file of the first code that the current test records */

static int open_rings(void **state)
{
	char path[] = "/tmp/ktrace-code.XXXXXX";
	size_t size =
		sizeof(struct ktrx_hwt_rings) + 2 * (sizeof(struct ktrx_hwt_ring) + RING_SIZE) + CODE_SIZE;
	int fd = mkstemp(path);
	const char *wrong;

	(void)state;
	if (fd < 0)
		return -1;
	wrong = rings_open(path, 2, RING_SIZE, CODE_SIZE, &encoder_pt);
	rings = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return wrong == NULL && rings != MAP_FAILED && unlink(path) == 0 ? 0 : -1;
}

static void begin(void)
{
	machine_begin();
	from = rings->code_size;
}

static void enter(unsigned cpu, uint64_t space)
{
	flow_space(cpu, space, USER, USER_END);
}

static void run(unsigned cpu, struct block *block)
{
	flow_enter(cpu, &block->end_point);
}

/*
 * Returns the blocks that were recorded since begin() or since the last call of recorded():
 * "space:address:first byte" of each.
 */
static const char *recorded(void)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	while (from < rings->code_size) {
		const struct ktrx_hwt_seen *seen =
			(const void *)((const unsigned char *)rings + rings->code + from);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lx:%lx:%x",
					 used > 0 ? " " : "", (unsigned long)seen->space,
					 (unsigned long)seen->address, *(const unsigned char *)(seen + 1));
		from += sizeof(*seen) + ((seen->size + 7u) & ~7u);
	}
	return text;
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void code_is_recorded_once_for_each_space(void **state)
{
	struct block *user = machine_block(USER, NOP_JUMP), *kernel = machine_block(KERNEL, NOP_JUMP);

	(void)state;
	begin();
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned space = 0; space < 2; space++) {
			enter(0, SPACE(space));
			run(0, user);
			run(0, kernel);
		}
	}
	assert_string_equal(recorded(), "1000:10000:90 0:40000:90 2000:10000:90");
	/* Another virtual CPU runs in one of the address spaces. */
	enter(1, SPACE(1));
	run(1, user);
	assert_string_equal(recorded(), "");
	enter(1, SPACE(2));
	run(1, user);
	run(1, kernel);
	assert_string_equal(recorded(), "3000:10000:90");
}

/*
 * A page belongs to another program for a while, then to the first program again. QEMU then uses the first
 * program's translations again.
 */
static void replaced_code_is_recorded_again(void **state)
{
	struct block *one = machine_block(USER + 0x100, "\x01\x90\x01\x90\x01\x90\x02\xff\xe0");
	struct block *within = machine_block(USER + 0x102, OTHER_JUMP);

	(void)state;
	begin();
	enter(0, SPACE(0));
	run(0, one);
	run(0, within);
	run(0, within);
	run(0, one);
	enter(0, SPACE(1));
	run(0, within);
	enter(0, SPACE(0));
	run(0, one);
	assert_string_equal(recorded(), "1000:10100:90 1000:10102:fc 1000:10100:90 2000:10102:fc");
	run(0, within);
	assert_string_equal(recorded(), "1000:10102:fc");
}

static void block_across_two_pages_is_recorded_again_when_replaced(void **state)
{
	struct block *before = machine_block(USER + 0x1ffe, "\x07\x0f\x1f\x80\x01\x02\x03\x04\x02\xff\xe0");
	struct block *behind = machine_block(USER + 0x2000, OTHER_JUMP);

	(void)state;
	begin();
	enter(0, SPACE(0));
	run(0, before);
	run(0, behind);
	run(0, before);
	run(0, behind);
	assert_string_equal(recorded(), "1000:11ffe:f 1000:12000:fc 1000:11ffe:f 1000:12000:fc");
}

/*
 * Each virtual CPU writes the exact time before it reports code that has replaced other code, and only then.
 */
static void replaced_code_renews_the_time_of_its_cpu(void **state)
{
	struct block *one = machine_block(USER + 0x5000, NOP_JUMP),
		     *other = machine_block(USER + 0x5000, OTHER_JUMP);

	(void)state;
	begin();
	enter(0, SPACE(0));
	flow_ring_trace(0)->renew = flow_ring_trace(1)->renew = 0;
	run(0, one);
	enter(0, SPACE(1));
	run(0, other);
	assert_int_equal(flow_ring_trace(1)->renew, 0);
	enter(0, SPACE(0));
	run(0, other);
	assert_int_equal(flow_ring_trace(1)->renew, 1);
}

/*
 * If an address space has not run for a long time, its code is recorded again, with the exact time, when it
 * runs again. If an address space runs all the time, its code is not recorded again.
 */
static void spaces_that_run_are_not_recorded_again(void **state)
{
	struct block *user = machine_block(USER + 0x300, NOP_JUMP);
	unsigned count = 0;

	(void)state;
	begin();
	enter(1, SPACE(1000));
	run(1, user);
	assert_string_equal(recorded(), "3e9000:10300:90");
	for (unsigned space = 0; space < MORE_THAN_A_WORD; space++) {
		char expected[64];

		enter(0, SPACE(space));
		run(0, user);
		snprintf(expected, sizeof(expected), "%lx:10300:90", (unsigned long)SPACE(space));
		assert_string_equal(recorded(), expected);
		run(1, user);
		count += *recorded() != '\0';
	}
	assert_int_equal(count, 0);
	flow_ring_trace(1)->renew = 0;
	enter(0, SPACE(0));
	run(0, user);
	assert_string_equal(recorded(), "1000:10300:90");
	assert_int_equal(flow_ring_trace(1)->renew, 1);
}

static void code_is_recorded_once_without_spaces(void **state)
{
	struct block *user = machine_block(USER + 0x400, NOP_JUMP);

	(void)state;
	begin();
	flow_space(0, SPACE(0), 0, 0);
	run(0, user);
	flow_space(0, SPACE(1), 0, 0);
	run(0, user);
	assert_string_equal(recorded(), "0:10400:90");
}

#define THREADS_RUNS 200000u

static struct block *of_threads[8];

/* Acts as a virtual CPU that switches between three address spaces. */
static void *hammer(void *which)
{
	unsigned cpu = *(unsigned *)which;
	unsigned random = cpu + 1;

	for (unsigned i = 0; i < THREADS_RUNS; i++) {
		random = random * 1103515245u + 12345u;
		if (i % 16 == 0)
			enter(cpu, SPACE(10 + cpu * 3 + random / 65536 % 3));
		run(cpu, of_threads[random / 65536 % 8]);
	}
	return NULL;
}

static void virtual_cpus_record_code_concurrently(void **state)
{
	unsigned number[2] = { 0, 1 };
	pthread_t thread[2];
	unsigned records = 0, seen[6][8] = { { 0 } };

	(void)state;
	begin();
	for (unsigned i = 0; i < 8; i++)
		of_threads[i] = machine_block(USER + 0x500 + i * 16, NOP_JUMP);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, hammer, &number[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (; from < rings->code_size; records++) {
		const struct ktrx_hwt_seen *record =
			(const void *)((const unsigned char *)rings + rings->code + from);

		seen[record->space / 4096 - 11][(record->address - USER - 0x500) / 16]++;
		from += sizeof(*record) + ((record->size + 7u) & ~7u);
	}
	assert_int_equal(records, 6 * 8);
	for (unsigned i = 0; i < 48; i++)
		assert_int_equal(seen[i / 8][i % 8], 1);
}

/* Must be the last test, because it fills the file. */
static void code_without_room_is_counted_once(void **state)
{
	struct block *user = machine_block(USER + 0x600, NOP_JUMP);
	unsigned spaces = 0;
	uint64_t lost;

	(void)state;
	begin();
	for (; rings->code_lost == 0 && spaces < 10000; spaces++) {
		enter(0, SPACE(spaces));
		run(0, user);
	}
	assert_in_range(spaces, 1, CODE_SIZE / sizeof(struct ktrx_hwt_seen));
	lost = rings->code_lost;
	assert_int_equal(lost, 3);
	run(0, user);
	assert_int_equal(rings->code_lost, lost);
	enter(0, SPACE(spaces));
	run(0, user);
	assert_int_equal(rings->code_lost, 2 * lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_recorded_once_without_spaces),
		cmocka_unit_test(code_is_recorded_once_for_each_space),
		cmocka_unit_test(replaced_code_is_recorded_again),
		cmocka_unit_test(block_across_two_pages_is_recorded_again_when_replaced),
		cmocka_unit_test(replaced_code_renews_the_time_of_its_cpu),
		cmocka_unit_test(virtual_cpus_record_code_concurrently),
		cmocka_unit_test(spaces_that_run_are_not_recorded_again),
		cmocka_unit_test(code_without_room_is_counted_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_rings, NULL);
}
