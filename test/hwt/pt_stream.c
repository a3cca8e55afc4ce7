/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes a hardware trace of one CPU from a file of Intel PT packets and files with flat code:
 *
 *   pt_stream [-c FAMILY/MODEL[/STEPPING]] [-m MTC] [-n NOMINAL] [-a EAX] [-b EBX] [-r FIRST:LAST]...
 *             [-i FILE:ADDRESS | -i FILE:OFFSET:ADDRESS]... PACKETS OUTPUT
 *
 * -m, -n, -a and -b describe the CPU's clocks for the decoder (struct ktrx_hwt_pt). -r is an address range to
 * which tracing was limited.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/hwt_write.h"

#define CODE_MOST 64u

struct bytes {
	unsigned char *at;
	size_t size;
};

struct stream {
	struct ktrx_hwt_context context;
	struct ktrx_hwt_pt pt;
	char *code[CODE_MOST];
	size_t codes;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "pt_stream: %s: %s\n", what, why);
	exit(2);
}

static struct bytes read_file(const char *path)
{
	struct bytes bytes = { NULL, 0 };
	FILE *file = fopen(path, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
		fail(path, "cannot be read");
	rewind(file);
	bytes.size = (size_t)size;
	bytes.at = malloc(bytes.size + 1);
	if (!bytes.at || fread(bytes.at, 1, bytes.size, file) != bytes.size)
		fail(path, "cannot be read");
	fclose(file);
	return bytes;
}

/*
 * Reads a number, and skips it and the `separator` after it. If `separator` is 0, the number must be the
 * end of the text.
 */
static uint64_t take_number(char **text, char separator)
{
	char *end;
	const uint64_t number = strtoull(*text, &end, 0);

	if (end == *text || *end != separator)
		fail(*text, "not a number as expected here");
	*text = end + (separator != '\0');
	return number;
}

static void set_cpu(struct stream *stream, char *text)
{
	const char *slash = strchr(text, '/');

	stream->pt.family = (uint16_t)take_number(&text, '/');
	stream->pt.model = (uint8_t)take_number(&text, slash && strchr(slash + 1, '/') ? '/' : '\0');
	stream->pt.stepping = *text ? (uint8_t)take_number(&text, '\0') : 0;
}

static void add_range(struct stream *stream, char *text)
{
	const uint32_t n = stream->context.ranges++;

	if (n == 4)
		fail(text, "a fifth range");
	stream->context.range[n].start = take_number(&text, ':');
	stream->context.range[n].end = take_number(&text, '\0') + 1;
}

static void read_options(struct stream *stream, int argc, char **argv)
{
	for (int option; (option = getopt(argc, argv, "c:m:n:a:b:r:i:")) != -1;)
		switch (option) {
		case 'c':
			set_cpu(stream, optarg);
			break;
		case 'm':
			stream->pt.mtc_frequency = (uint8_t)take_number(&optarg, '\0');
			break;
		case 'n':
			stream->pt.nominal_frequency = (uint8_t)take_number(&optarg, '\0');
			break;
		case 'a':
			stream->pt.cpuid_15_eax = (uint32_t)take_number(&optarg, '\0');
			break;
		case 'b':
			stream->pt.cpuid_15_ebx = (uint32_t)take_number(&optarg, '\0');
			break;
		case 'r':
			add_range(stream, optarg);
			break;
		case 'i':
			if (stream->codes == CODE_MOST)
				fail(optarg, "one file of code too many");
			stream->code[stream->codes++] = optarg;
			break;
		default:
			exit(2);
		}
	if (argc - optind != 2)
		fail("usage", "PACKETS OUTPUT");
}

static void put_code(struct hwt_file_writer *writer, char *text)
{
	char *numbers = strchr(text, ':');
	uint64_t offset = 0, address;
	struct bytes bytes;

	if (!numbers)
		fail(text, "no address");
	*numbers++ = '\0';
	bytes = read_file(text);
	if (strchr(numbers, ':'))
		offset = take_number(&numbers, ':');
	address = take_number(&numbers, '\0');
	if (offset < bytes.size)
		file_code(writer, address, 0, bytes.at + offset, bytes.size - offset);
	free(bytes.at);
}

int main(int argc, char **argv)
{
	struct stream stream = { .context = { .ident = 1,
					      .mode = KTRX_HWT_MODE_CPU,
					      .encoding = KTRX_HWT_ENCODING_PT,
					      .backend = KTRX_HWT_BACKEND_PT,
					      .level = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL } };
	struct hwt_file_writer writer;
	struct bytes packets;
	FILE *output;

	read_options(&stream, argc, argv);
	packets = read_file(argv[optind]);
	file_begin(&writer);
	file_record(&writer, KTRX_HWT_CONTEXT, 0, &stream.context, sizeof(stream.context), &stream.pt,
		    sizeof(stream.pt));
	for (size_t n = 0; n < stream.codes; n++)
		put_code(&writer, stream.code[n]);
	file_data(&writer, 1, 0, 0, packets.at, packets.size);
	output = fopen(argv[optind + 1], "wb");
	if (!output || fwrite(writer.bytes, 1, writer.size, output) != writer.size || fclose(output) != 0)
		fail(argv[optind + 1], "cannot be written");
	free(packets.at);
	free(writer.bytes);
	return 0;
}
