/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the reader of hardware trace: the bytes are read as a whole file. They are also read as the
 * output of a unit, in each encoding, in an otherwise valid file. Linked with replay.c, it replays files and
 * directories without a fuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hwt/hwt.h"

#define STEPS_MOST 200000u /* maximum number of steps read from a stream */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "hardware trace: %s\n", what);
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

static void take_line(void *to, uint64_t offset, const char *name, const char *text)
{
	(void)to, (void)offset;
	touch(name);
	touch(text);
}

static void check_step(struct hwt_images *images, const struct hwt_step *step)
{
	struct hwt_place place;

	touch(step->text);
	check(step->kind <= HWT_NOTE, "a step of an unknown kind");
	check(step->kind != HWT_GAP || step->text, "a gap without a text");
	if (step->kind != HWT_RUN)
		return;
	check(step->branch <= HWT_BRANCH_LEAVE_KERNEL, "a branch of an unknown kind");
	if (hwt_images_place(images, step->pid, step->stamp, step->address, 0, &place)) {
		touch(place.image);
		touch(place.symbol);
	}
}

static void decode(const struct hwt_file *file, size_t stream, struct hwt_images *images)
{
	const struct hwt_step *step;
	struct hwt_decoder *decoder;
	unsigned steps = 0;

	if (hwt_decoder_open(&decoder, file, stream, images) < 0) {
		check(hwt_decoder_message(NULL)[0] != '\0', "an error without a message");
		return;
	}
	while (hwt_decoder_next(decoder, &step) > 0 && ++steps < STEPS_MOST)
		check_step(images, step);
	if (hwt_decoder_seek(decoder, hwt_file_stream(file, stream)->bytes / 2) >= 0)
		for (steps = 0; steps < 100 && hwt_decoder_next(decoder, &step) > 0; steps++)
			check_step(images, step);
	hwt_decoder_close(decoder);
	hwt_packets(file, stream, take_line, NULL);
}

static void read_file(const char *path)
{
	struct hwt_images *images;
	struct hwt_file *file;

	if (hwt_file_open(&file, path) < 0) {
		check(hwt_file_message(NULL)[0] != '\0', "an error without a message");
		return;
	}
	for (size_t i = 0; hwt_file_warning(file, i); i++)
		touch(hwt_file_warning(file, i));
	if (hwt_images_new(&images, file, "/nonexistent") == 0) {
		for (size_t i = 0; i < hwt_file_streams(file); i++)
			decode(file, i, images);
		hwt_images_free(images);
	}
	hwt_file_close(file);
}

/* ---- Files made of the fuzzer's bytes ---- */

static int begin_memory(char *path, size_t size)
{
	const int file = memfd_create("fuzz", 0);

	check(file >= 0, "no memory");
	snprintf(path, size, "/proc/self/fd/%d", file);
	return file;
}

static void put(int file, const void *bytes, size_t size)
{
	check(write(file, bytes, size) == (ssize_t)size, "no room");
}

static void put_record(int file, unsigned type, const void *head, size_t head_size, const void *bytes,
		       size_t size)
{
	const struct ktrx_proc_record record = { .size = (uint32_t)(head_size + size),
						 .type = (uint16_t)type,
						 .stamp = 1,
						 .cpu = KTRX_PROC_NO_CPU,
						 .mark = KTRX_PROC_MARK };

	put(file, &record, sizeof(record));
	put(file, head, head_size);
	put(file, bytes, size);
	put(file, "\0\0\0\0\0\0\0", -(head_size + size) % 8);
}

/* Code for the decoder to follow: a call, a return, and forward and backward jumps, conditional and not. */
static const uint8_t code[] = { 0xe8, 0x0b, 0,	  0,	0,    0x75, 0x02, 0x90, 0x90, 0xeb,
				0xf5, 0xeb, 0xfe, 0xff, 0xe0, 0x90, 0x31, 0xc0, 0xc3 };

static void put_stream(int file, unsigned encoding, const uint8_t *bytes, size_t size)
{
	struct {
		struct ktrx_hwt_context context;
		struct ktrx_hwt_etm4 etm4;
	} head = { .context = { .ident = 1, .mode = KTRX_HWT_MODE_CPU, .encoding = (uint8_t)encoding } };
	const struct ktrx_hwt_code place = { .address = 0x401000 };
	struct ktrx_hwt_data data = { .context = 1 };

	head.etm4.idr0 = 0x28000ea1;
	head.etm4.idr1 = 0x4100f403;
	head.etm4.idr2 = 0x488;
	head.etm4.traceidr = 0x10;
	put_record(file, KTRX_HWT_CONTEXT, &head, sizeof(head), "", 0);
	put_record(file, KTRX_HWT_CODE, &place, sizeof(place), code, sizeof(code));
	for (size_t at = 0; at < size; at += 4096) {
		data.position = at;
		put_record(file, KTRX_HWT_DATA, &data, sizeof(data), bytes + at,
			   size - at < 4096 ? size - at : 4096);
	}
}

static void read_as(unsigned encoding, const uint8_t *bytes, size_t size)
{
	struct ktrx_proc_head head = { .version = KTRX_PROC_VERSION,
				       .frequency = 1000000000,
				       .head_size = sizeof(head),
				       .record_head = sizeof(struct ktrx_proc_record) };
	char path[64];
	const int file = begin_memory(path, sizeof(path));

	memcpy(head.magic, KTRX_PROC_MAGIC, 4);
	head.check = ktrx_proc_check(&head);
	put(file, &head, sizeof(head));
	put_stream(file, encoding, bytes, size);
	read_file(path);
	close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	const int file = begin_memory(path, sizeof(path));

	put(file, bytes, size);
	read_file(path);
	close(file);
	for (unsigned encoding = KTRX_HWT_ENCODING_PT; encoding <= KTRX_HWT_ENCODING_SPE; encoding++)
		read_as(encoding, bytes, size);
	return 0;
}
