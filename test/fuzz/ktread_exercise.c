/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktread/memory.h"
#include "ktread_exercise.h"

#define RECORDS_MAX 1000000u

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "ktread: %s\n", what);
	abort();
}

static void use_event(const struct ktread_event *event)
{
	struct ktread_value value;
	char text[300], little[7];

	check(event->type && event->type->name && event->type->group && event->type->text,
	      "event without type");
	check(ktread_format(event, text, sizeof(text)) < sizeof(text), "text too long");
	check(ktread_format(event, little, sizeof(little)) < sizeof(little), "text too long");
	for (size_t i = 0; text[i]; i++)
		check(text[i] >= 0x20 && text[i] < 0x7f, "unescaped byte");
	for (uint32_t n = 0; n <= event->type->fields; n++)
		if (ktread_value(event, n, &value) == 0 && value.string)
			check((const unsigned char *)value.string + value.length <=
				      event->payload + event->payload_size,
			      "string past the payload");
}

static void check_accounts(const struct ktread *trace)
{
	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		check(ring->head == ring->overwritten + ring->decoded + ring->invalid,
		      "slots unaccounted for");
	}
}

static void read_all(struct ktread *trace)
{
	const struct ktread_event *event;
	uint64_t count = 0;
	int status;

	while ((status = ktread_next(trace, &event)) > 0 && count++ < RECORDS_MAX)
		use_event(event);
	if (status == 0)
		check_accounts(trace);
	else if (status < 0)
		check(ktread_message(trace)[0] != '\0', "error without a message");
}

static void read_settings(struct ktread *trace)
{
	struct ktread_setting setting;

	for (uint32_t n = 0; ktread_setting(trace, n, &setting); n++)
		check(strnlen(setting.name, 48) < 48, "a name of a setting without a NUL");
}

static void read_as(const char *path, enum ktread_form form)
{
	const struct ktread_options options = { .size = sizeof(options), .form = form, .frequency = 1000 };
	struct ktread *trace;

	if (ktread_open(&trace, path, &options) < 0) {
		check(ktread_message(NULL)[0] != '\0', "error without a message");
		return;
	}
	read_all(trace);
	for (uint32_t id = 0; id <= 4096; id++)
		ktread_type(trace, id);
	read_settings(trace);
	ktread_thread_name(trace, 7);
	ktread_syscall_name(trace, 1);
	if (ktread_rewind(trace) == 0)
		read_all(trace);
	while (ktread_warning(trace))
		;
	ktread_close(trace);
}

static void dump_image(struct ktread_memory *memory)
{
	struct ktread_image *image;
	struct ktread_pulse pulse;
	int fd;

	if (ktread_image_find_boot(&image, memory, 0) < 0)
		return;
	fd = memfd_create("dump", MFD_CLOEXEC);
	ktread_image_pulse(image, &pulse);
	ktread_image_write(image, fd, "note", 1);
	close(fd);
	ktread_image_close(image);
}

void ktread_exercise(const char *path)
{
	for (int form = KTREAD_FORM_AUTO; form <= KTREAD_FORM_STREAM; form++)
		if (form != KTREAD_FORM_RAM)
			read_as(path, (enum ktread_form)form);
	ktread_exercise_ram(path);
}

void ktread_exercise_ram(const char *path)
{
	struct ktread_memory *memory;

	read_as(path, KTREAD_FORM_RAM);
	if (ktread_memory_open_ram(&memory, path, "x86_64") == 0) {
		dump_image(memory);
		ktread_memory_close(memory);
	}
}

void ktread_exercise_bytes(const void *bytes, size_t size)
{
	char path[64];
	int fd = memfd_create("input", MFD_CLOEXEC);

	check(fd >= 0 && (size == 0 || write(fd, bytes, size) == (ssize_t)size), "no memory for the input");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ktread_exercise(path);
	close(fd);
}
