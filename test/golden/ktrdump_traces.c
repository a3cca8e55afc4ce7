/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes the files for ktrdump's tests into the given directory:
 *
 *	ktr.ktrx      the boot ring and two CPUs, callers, a string, an event whose format needs more fields
 *	              than the event has
 *	nothing.core  an ELF core of a machine without ktrace
 *	ktr.ram       the same trace as the RAM of a guest that has ended; the last record of its second CPU is incomplete
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_writer.h"

#define US	1000u	    /* ticks per microsecond: the writer's clock runs at 1 GHz */
#define FAR_CPU 0xfffffff0u /* number of a CPU that is too large for any table */

enum { ACQUIRE = 1, TEST, NAMED, SHORT };

struct acquire {
	struct ktrx_extension head;
	uint64_t caller[2];
	uint64_t token;
	uint32_t count;
} __attribute__((packed));

static void save(const char *directory, const char *name, const void *bytes, size_t size)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

/* Adds the descriptor of an event. `line` is the source line of its declaration. */
static void event(struct writer *writer, uint32_t line, const uint8_t *types, const char *strings,
		  size_t size)
{
	size_t at = writer->events.size + offsetof(struct ktrx_event, line);

	writer_event(writer, types, strings, size);
	memcpy(writer->events.data + at, &line, sizeof(line));
}

static void describe(struct writer *writer)
{
	static const uint8_t acquire[] = { KTRX_TYPE_POINTER, KTRX_TYPE_U32, 0 }, test[] = { 0 },
			     named[] = { KTRX_TYPE_STRING, 0 }, one[] = { KTRX_TYPE_I32, 0 };
	static const char acquire_text[] =
		"tokens\0acquire\0token=%p count=%u\0/usr/src/sys/kern/kern_token.c\0token\0\0count\0";
	static const char test_text[] = "ktr\0test1\0test1\0kern_ktr.c\0";
	static const char named_text[] =
		"namei\0lookup\0path=%s\0a/path/that/is/longer/than/its/column/vfs_cache.c\0"
		"path\0";
	static const char short_text[] = "bad\0short\0%d of %d\0bad.c\0value\0";

	event(writer, 212, acquire, acquire_text, sizeof(acquire_text));
	event(writer, 77, test, test_text, sizeof(test_text));
	event(writer, 1999, named, named_text, sizeof(named_text));
	event(writer, 12345, one, short_text, sizeof(short_text));
}

static void acquire(struct writer *writer, uint32_t ring, uint64_t us, uint64_t caller1, uint64_t caller2,
		    uint32_t count)
{
	const uint8_t parts = (uint8_t)(KTRX_EXT_CALLER1 | (caller2 ? KTRX_EXT_CALLER2 : 0));
	struct acquire record = { { 20, parts, 0 }, { caller1, caller2 }, 0xffff800000123400, count };

	if (caller2) {
		writer_record_extended(writer, ring, us * US, ACQUIRE, 7, &record, sizeof(record));
		return;
	}
	record.head.size = 12;
	memmove(&record.caller[1], &record.token, sizeof(record.token) + sizeof(record.count));
	writer_record_extended(writer, ring, us * US, ACQUIRE, 7, &record, sizeof(record) - sizeof(uint64_t));
}

static void named(struct writer *writer, uint32_t ring, uint64_t us, const char *path)
{
	unsigned char payload[200];
	uint16_t length = (uint16_t)strlen(path);

	memcpy(payload, &length, sizeof(length));
	memcpy(payload + 2, path, length);
	writer_record(writer, ring, us * US, NAMED, 7, payload, length + 2u);
}

static void fill(struct writer *writer)
{
	const uint32_t on_cpu1[] = { 4 | KTRX_EXT_CPU << 8 | 1u << 16 };
	const int32_t value = -1;

	writer_record_extended(writer, 0, 100 * US, TEST, 0, on_cpu1, sizeof(on_cpu1));
	/* Adds more events than ktrdump prints on a page of its table, and more than fit into the ring. */
	for (uint32_t n = 0; n < 35; n++)
		writer_record(writer, 1, (200 + 2 * n) * US + n * 250, TEST, 7, NULL, 0);
	acquire(writer, 1, 300, 0x100010, 0x100080, 1);
	acquire(writer, 2, 301, 0x100044, 0, 2);
	acquire(writer, 1, 302, 0x100010, 0xffffffffdeadbeef, 3);
	named(writer, 2, 303, "/etc/a \033[1mname\033[0m that takes more than one slot of the ring");
	writer_record(writer, 2, 304 * US, SHORT, 7, &value, sizeof(value));
	acquire(writer, 1, 305, 0x100010, 0x100080, 4);
}

static void save_core(const char *directory)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
		unsigned char memory[4096];
	} core = {
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_CORE,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(core.head),
			  .e_ehsize = sizeof(core.head),
			  .e_phentsize = sizeof(core.segment),
			  .e_phnum = 1 },
		.segment = { .p_type = PT_LOAD,
			     .p_offset = sizeof(core.head) + sizeof(core.segment),
			     .p_filesz = sizeof(core.memory),
			     .p_memsz = sizeof(core.memory) },
	};

	save(directory, "nothing.core", &core, sizeof(core));
}

int main(int argc, char **argv)
{
	struct writer writer;
	struct bytes dump = { NULL, 0 };
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);

	if (argc != 2 || !memory) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return EXIT_FAILURE;
	}
	writer_open(&writer, 3, 5);
	describe(&writer);
	fill(&writer);
	writer_dump(&writer, &dump);
	save(argv[1], "ktr.ktrx", dump.data, dump.size);
	bytes_free(&dump);
	writer.ring[2].row.cpu = FAR_CPU;
	writer_dump(&writer, &dump);
	save(argv[1], "far.ktrx", dump.data, dump.size);
	writer.ring[2].row.cpu = 1;
	writer_reserve(&writer, 2, 1);
	writer_memory(&writer, memory, 0);
	save(argv[1], "ktr.ram", memory, WRITER_MEMORY_SIZE);
	save_core(argv[1]);
	free(memory);
	bytes_free(&dump);
	writer_close(&writer);
	return EXIT_SUCCESS;
}
