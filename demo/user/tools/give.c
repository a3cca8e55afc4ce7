/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * give FILE…: prints files on the console as text, so that `ktrace take` on the host can make files from it:
 *
 *   ktrace-file NAME
 *   ~BASE64               lines of up to 90 bytes of the file
 *   ktrace-file-end SIZE CHECK
 *
 * CHECK is the 32-bit FNV-1a hash of the whole file in hexadecimal. Each line is written by one system call,
 * so other output appears only between lines.
 */
#include <error.h>
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Maximum number of bytes of the file in one line. They are encoded as 120 letters, so that the line fits
 * into one write to the console.
 */
#define LINE_BYTES 90
#define READ_BYTES (LINE_BYTES * 32) /* number of bytes to read at a time */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint32_t check_bytes(uint32_t value, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		value = (value ^ bytes[i]) * 16777619u;
	return value;
}

/* Encodes up to three bytes as four characters. If there are fewer than three bytes, '=' comes last. */
static void encode(char *to, const unsigned char *from, size_t size)
{
	uint32_t bits = (uint32_t)from[0] << 16;

	if (size > 1)
		bits |= (uint32_t)from[1] << 8;
	if (size > 2)
		bits |= from[2];
	for (unsigned i = 0; i < 4; i++)
		to[i] = i > size ? '=' : letters[bits >> (18 - 6 * i) & 63];
}

static void give_line(const unsigned char *bytes, size_t size)
{
	char line[LINE_BYTES / 3 * 4 + 2] = "~";
	size_t length = 1;

	for (size_t at = 0; at < size; at += 3, length += 4)
		encode(line + length, bytes + at, size - at < 3 ? size - at : 3);
	line[length++] = '\n';
	write_all(STDOUT, line, length);
}

static void give_lines(const unsigned char *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += LINE_BYTES)
		give_line(bytes + at, size - at < LINE_BYTES ? size - at : LINE_BYTES);
}

static int give(const char *path)
{
	unsigned char bytes[READ_BYTES];
	const char *name = path;
	uint32_t value = 2166136261u;
	uint64_t size = 0;
	int fd = open(path, O_RDONLY, 0);
	int64_t n = fd;

	for (const char *at = path; *at; at++)
		if (*at == '/')
			name = at + 1;
	if (fd >= 0) {
		printf("ktrace-file %s\n", name);
		while ((n = read_all(fd, bytes, sizeof(bytes))) > 0) {
			give_lines(bytes, (size_t)n);
			value = check_bytes(value, bytes, (size_t)n);
			size += (uint64_t)n;
		}
		close(fd);
	}
	if (n < 0) {
		dprintf(STDERR, "give: %s: %s\n", path, error_text(n));
		return 1;
	}
	printf("ktrace-file-end %lu %08x\n", size, value);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	if (argc < 2)
		dprintf(STDERR, "usage: give FILE...\n");
	for (int i = 1; i < argc; i++)
		failed |= give(argv[i]);
	return failed;
}
