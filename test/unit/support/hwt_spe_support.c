/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_spe_support.h"

#define MEMORY (256u * SPE_TEST_PAGE)

struct ktrace_hwt_backend spe_backend;

static _Alignas(4096) uint8_t memory[MEMORY];
static uint32_t lent; /* number of pages that buffers have used so far */

int spe_setup(void **state)
{
	(void)state;
	fake_spe_reset();
	memset(&spe_backend, 0, sizeof(spe_backend));
	memset(memory, 0xee, sizeof(memory));
	lent = 0;
	ktrace_hwt_spe_make(&spe_backend, &fake_spe_access);
	return 0;
}

int spe_teardown(void **state)
{
	(void)state;
	if (fake_log_first_broken())
		print_error("%s", fake_log_text());
	assert_null(fake_log_first_broken());
	return 0;
}

void spe_begin(void)
{
	assert_int_equal(spe_backend.operations->init(&spe_backend), KTRACE_OK);
	assert_int_equal(spe_backend.operations->cpu_init(&spe_backend, 0), KTRACE_OK);
	assert_null(fake_log_first_broken());
	fake_log_reset();
}

/* There is an unused page between two buffers. */
void spe_unit(struct ktrace_hwt_unit *unit, uint32_t pages)
{
	memset(unit, 0, sizeof(*unit));
	assert_in_range(lent + pages, 1, MEMORY / SPE_TEST_PAGE);
	unit->buffer.base = memory + lent * SPE_TEST_PAGE;
	unit->buffer.size = (uint64_t)pages * SPE_TEST_PAGE;
	lent += pages + 1;
	fake_spe_memory(unit->buffer.base, unit->buffer.size);
	assert_int_equal(spe_backend.operations->unit_init(&spe_backend, unit), KTRACE_OK);
}

struct ktrace_hwt_config spe_config(void)
{
	return (struct ktrace_hwt_config){ .level = KTRX_HWT_USER };
}

int spe_configure(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config)
{
	return spe_backend.operations->configure(&spe_backend, unit, config);
}

void spe_enable(struct ktrace_hwt_unit *unit)
{
	assert_int_equal(spe_backend.operations->enable(&spe_backend, unit, 0), KTRACE_OK);
}

void spe_disable(struct ktrace_hwt_unit *unit)
{
	assert_int_equal(spe_backend.operations->disable(&spe_backend, unit, 0), KTRACE_OK);
	assert_int_equal(unit->wraps, unit->position / unit->buffer.size);
}

uint64_t spe_sample(uint64_t records)
{
	return fake_spe_run(records * SPE_TEST_INTERVAL);
}

uint64_t spe_records(const struct ktrace_hwt_unit *unit, uint64_t from, uint64_t first)
{
	const uint8_t *base = unit->buffer.base;
	uint64_t count = 0, number;

	while (from < unit->position) {
		const uint8_t *slot = base + from % unit->buffer.size;

		if (slot[0]) {
			memcpy(&number, slot + 1, sizeof(number));
			assert_int_equal(slot[fake_spe_features.record_size - 1], 1);
			assert_int_equal(number, first + count);
			count++;
		}
		from += fake_spe_slot();
	}
	assert_int_equal(from, unit->position);
	return count;
}
