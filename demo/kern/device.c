/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>

#include "device.h"
#include "print.h"
#include "process.h"
#include "vfs.h"

static int64_t null_read(struct file *file, uintptr_t to, size_t size)
{
	(void)file, (void)to, (void)size;
	return 0;
}

static int64_t null_write(struct file *file, uintptr_t from, size_t size)
{
	(void)file, (void)from;
	return (int64_t)size;
}

static int64_t zero_read(struct file *file, uintptr_t to, size_t size)
{
	static const char zeroes[512];
	size_t done = 0;

	(void)file;
	while (done < size) {
		size_t n = size - done < sizeof(zeroes) ? size - done : sizeof(zeroes);
		int error = vm_copy_out(&process_self()->vm, to + done, zeroes, n);

		if (error)
			return done ? (int64_t)done : error;
		done += n;
	}
	return (int64_t)done;
}

static const struct file_operations null_operations = {
	.kind = "null",
	.read = null_read,
	.write = null_write,
};

static const struct file_operations zero_operations = {
	.kind = "zero",
	.read = zero_read,
	.write = null_write,
};

static const struct device {
	const char *path;
	uint32_t mode;
	const struct file_operations *operations;
} devices[] = {
	{ "/dev/console", 0666, &console_operations },
	{ "/dev/null", 0666, &null_operations },
	{ "/dev/zero", 0666, &zero_operations },
};

void device_init(void)
{
	vfs_mkdir("/dev", 0755, NULL, &vfs_superuser);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		const struct device *device = &devices[i];
		int error =
			vfs_make_device(device->path, device->mode, &vfs_superuser, device->operations, 0);

		if (error)
			kprintf("%s: error %d\n", device->path, -error);
	}
}
