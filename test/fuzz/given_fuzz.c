/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the readers of files that a user gives with a recording: the bytes are read as an ELF file,
 * a list of symbols and a memory image. The recording contains code taken from these bytes, so that the files
 * match the recording, and code with calls.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/support/hwt_write.h"
#include "hwt/hwt.h"

#define PROGRAM UINT64_C(0x7f1200000000)
#define KERNEL	UINT64_C(0xffffffff81000000)
#define BLOCK	32u
#define BLOCKS	64u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "given files: %s\n", what);
	abort();
}

/*
 * Sum of all bytes of the results. Because every byte is read, the sanitizer detects results in invalid
 * memory.
 */
static volatile size_t touched;

static void touch(const char *text)
{
	touched += text ? strlen(text) : 0;
}

static void write_calls(struct hwt_file_writer *writer)
{
	uint8_t call[5] = { 0xe8 };

	for (unsigned n = 0; n < BLOCKS; n++) {
		const int32_t far = (int32_t)(n * 16);

		memcpy(call + 1, &far, sizeof(far));
		file_code(writer, KERNEL + n * 8, 0, call, sizeof(call));
	}
}

/* Writes a recording in which the bytes are executed as code, at addresses of a program and of a kernel. */
static void write_recording(char *path, const uint8_t *bytes, size_t size)
{
	struct hwt_file_writer writer;

	file_begin(&writer);
	file_context(&writer, 1, 0);
	for (size_t at = 0; at + BLOCK <= size && at < BLOCK * BLOCKS; at += BLOCK) {
		file_code(&writer, PROGRAM + at, 0, bytes + at, BLOCK);
		file_code(&writer, KERNEL + 0x10000 + at, 0, bytes + at, BLOCK);
	}
	write_calls(&writer);
	file_end(&writer, path);
}

static void look(struct hwt_images *images, uint64_t address)
{
	struct hwt_place place;
	uint8_t bytes[64];
	uint64_t size;

	if (hwt_images_place(images, 0, 0, address, 1, &place)) {
		touch(place.image);
		touch(place.path);
		touch(place.symbol);
		touch(place.source);
	}
	hwt_images_read(images, 0, 0, 0, address, bytes, sizeof(bytes));
	for (size_t n = 0; n < 4 && hwt_images_find(images, NULL, "leaf", n, &address, &size) == 0; n++)
		touched += address;
}

static void look_around(struct hwt_images *images)
{
	for (uint64_t at = 0; at < 4096; at += 61) {
		look(images, PROGRAM + at);
		look(images, KERNEL + at);
		look(images, PROGRAM_AT + at);
	}
	for (size_t n = 0; hwt_images_warning(images, n); n++)
		touch(hwt_images_warning(images, n));
}

static void give(const struct hwt_file *file, const char *path, unsigned kind)
{
	struct hwt_images *images;
	int status;

	check(hwt_images_new(&images, file, NULL) == 0, "no images");
	if (kind == 0)
		status = hwt_images_add_elf(images, path, 0, NULL);
	else if (kind == 1)
		status = hwt_images_add_symbols(images, path, NULL);
	else
		status = hwt_images_add_snapshot(images, path);
	check(status == 0 || hwt_images_message(images)[0] != '\0', "an error without a message");
	look_around(images);
	hwt_images_free(images);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const int given = memfd_create("fuzz", 0);
	char path[64], recording[64];
	struct hwt_file *file;

	check(given >= 0 && write(given, bytes, size) == (ssize_t)size, "no memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", given);
	write_recording(recording, bytes, size);
	check(hwt_file_open(&file, recording) == 0, "the recording cannot be read");
	for (unsigned kind = 0; kind < 3; kind++)
		give(file, path, kind);
	hwt_file_close(file);
	unlink(recording);
	close(given);
	return 0;
}
