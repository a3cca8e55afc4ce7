/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * mapped: to be traced. Runs a copy of its own code, as a program does that loads a library: the segment of text in its file
 * is mapped a second time, at an address that the kernel chooses, and a function of it is called there.
 */
#include <elf.h>
#include <program.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

#define PAGE  4096u
#define PATH  "/bin/mapped"
#define CALLS 10

/* Needs nothing from elsewhere, so it runs wherever it lies. */
static APART unsigned collatz(unsigned n)
{
	unsigned steps = 0;

	for (; n != 1; steps++)
		n = n & 1 ? 3 * n + 1 : n / 2;
	return steps;
}

/* The first segment of the file: its text. */
static bool read_text(int fd, struct elf_segment *text)
{
	struct elf_header header;

	return read_all(fd, &header, sizeof(header)) == sizeof(header) &&
	       lseek(fd, (int64_t)header.segments_offset, SEEK_SET) >= 0 &&
	       read_all(fd, text, sizeof(*text)) == sizeof(*text);
}

int main(int argc, char **argv)
{
	int fd = open(PATH, O_RDONLY, 0);
	struct elf_segment text;
	unsigned (*copy)(unsigned n);
	int64_t at;

	(void)argc, (void)argv;
	check_equal(111, collatz(27), "steps");
	if (!check(fd >= 0 && read_text(fd, &text), PATH))
		finish();
	at = mmap(NULL, text.file_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (int64_t)text.offset);
	if (!check(at > 0 && at % PAGE == 0, "text is mapped"))
		finish();
	copy = (unsigned (*)(unsigned))((uintptr_t)at + ((uintptr_t)collatz - text.address));
	check(copy != collatz, "elsewhere");
	for (unsigned i = 0; i < CALLS; i++)
		check_equal(111, copy(27), "steps of the copy");
	check_equal(0, munmap((void *)(uintptr_t)at, text.file_size), "unmapped");
	finish();
}
