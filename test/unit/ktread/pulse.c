/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests whether a CPU counts as idle in the pulse of a guest. */
#include <stdlib.h>
#include <string.h>

#include "ktread/memory.h"
#include "unit/support/ktread_sample.h"

struct guest {
	struct writer writer;
	unsigned char *memory;
};

static unsigned char *new_memory(void)
{
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);

	assert_non_null(memory);
	return memory;
}

/* Makes one record in the boot ring, and 2000 records in the ring of each CPU. */
static void fill(struct writer *writer)
{
	begin(writer, 3);
	put_switch(writer, 0, 500, 0);
	for (unsigned i = 0; i < 2000; i++) {
		put_switch(writer, 1, 1000 + 2 * i, i);
		put_switch(writer, 2, 1001 + 2 * i, i);
	}
}

static int guest_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	const struct guest *guest = context;

	memcpy(buffer, guest->memory + physical, bytes);
	return 0;
}

/* Returns the guest's table of CPUs. Requires: CPU 0 has had 5 heartbeats, and idles. */
static struct ktrx_cpu *cpus_of(unsigned char *memory)
{
	for (size_t at = 0; at + 2 * sizeof(struct ktrx_cpu) <= WRITER_MEMORY_SIZE; at += 8) {
		struct ktrx_cpu *cpu = (struct ktrx_cpu *)(void *)(memory + at);

		if (cpu[0].heartbeats == 5 && cpu[0].mode == KTRX_MODE_IDLE && cpu[1].heartbeats == 7)
			return cpu;
	}
	fail();
	return NULL;
}

/* The kernel does not call ktrace_mode(). CPU 0 has switched to thread 0. */
static void pulse_finds_idle_thread(void **state)
{
	struct guest guest = { .memory = new_memory() };
	const struct ktread_memory_ops ops = { .read = guest_read };
	const struct ktread_range range = { 0, WRITER_MEMORY_SIZE };
	struct ktread_memory *memory;
	struct ktread_image *image;
	struct ktread_pulse pulse;
	struct ktrx_cpu *cpu;

	(void)state;
	fill(&guest.writer);
	writer_memory(&guest.writer, guest.memory, 0);
	cpu = cpus_of(guest.memory);
	cpu[0].mode = KTRX_MODE_KERNEL;
	cpu[0].switches = 3;
	cpu[0].thread = 0;
	assert_int_equal(ktread_memory_open(&memory, &ops, &guest, &range, 1), 0);
	assert_int_equal(ktread_image_find(&image, memory), 0);
	assert_int_equal(ktread_image_pulse(image, &pulse), 0);
	assert_int_equal(pulse.idle, 1);
	assert_int_equal(pulse.quiet_cpu, 1);
	cpu[0].interrupts = KTRX_INTERRUPTS_OFF;
	assert_int_equal(ktread_image_pulse(image, &pulse), 0);
	assert_int_equal(pulse.idle, 0);
	/* the kernel has its timer tick in thread 0, so a CPU without a tick there is not idle */
	cpu[0].interrupts = KTRX_INTERRUPTS_UNKNOWN;
	for (unsigned n = 0; n < 20; n++) {
		cpu[0].heartbeats++;
		assert_int_equal(ktread_image_pulse(image, &pulse), 0);
	}
	assert_int_equal(pulse.idle, 0);
	ktread_image_close(image);
	ktread_memory_close(memory);
	free(guest.memory);
	writer_close(&guest.writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pulse_finds_idle_thread),
	};

	return cmocka_run_group_tests_name("ktread pulse", tests, NULL, NULL);
}
