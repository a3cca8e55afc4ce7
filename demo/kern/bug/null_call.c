/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Devices are called through tables of operations. Not every device has every operation. */
#include <stddef.h>

#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "print.h"
#include "thread.h"
#include "timer.h"

struct device {
	const char *name;
	const struct device_operations *operations;
	uint32_t value;
};

struct device_operations {
	uint32_t (*read)(const struct device *device);
	void (*calibrate)(struct device *device); /* may be NULL if the device needs no calibration */
};

static uint32_t read_value(const struct device *device)
{
	return device->value;
}

static void set_to_zero(struct device *device)
{
	device->value = 0;
}

static const struct device_operations adjustable = { read_value, set_to_zero };
static const struct device_operations fixed = { read_value, NULL };

static struct device devices[] = { { "thermometer", &adjustable, 3 }, { "clock", &fixed, 7 } };

/* The mistake: the function pointer is not checked for NULL. */
static void calibrate(struct device *device)
{
	device->operations->calibrate(device);
	kprintf("null-call: %s shows %u\n", device->name, device->operations->read(device));
}

static void calibrator(void *device)
{
	timer_sleep(100 * NS_PER_MS);
	calibrate(device);
}

void bug_null_call(uint64_t until_ns)
{
	(void)until_ns;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		thread_create("calibrator", calibrator, &devices[i], (int)cpu_count - 1);
	for (;;)
		timer_sleep(NS_PER_S);
}
