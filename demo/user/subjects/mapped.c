/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * mapped: a program for tests of hardware trace. It maps the text segment of its own file a second time, at
 * an address that the kernel chooses, and calls a function in this copy. So it runs code like a program that
 * has loaded a library.
 *
 * "mapped late [-OPTION...]" starts a child that calls the copied function, and then `hwt -OPTION... -P PID`
 * to trace the child. So the trace starts when the copy is already mapped.
 */
#include <elf.h>
#include <hwt.h>
#include <program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

#define PAGE  4096u
#define PATH  "/bin/mapped"
#define CALLS 10

#define IDENTS	 8    /* number of contexts that may have been created since boot */
#define ATTEMPTS 3000 /* maximum number of attempts, one every 10 ms */
#define ENOUGH	 4096 /* number of bytes of trace data after which the trace has recorded the function */
#define WORDS	 12

typedef unsigned function(unsigned n);

/* The function that is copied. It refers to nothing outside of itself, so it can run at any address. */
static APART unsigned collatz(unsigned n)
{
	unsigned steps = 0;

	for (; n != 1; steps++)
		n = n & 1 ? 3 * n + 1 : n / 2;
	return steps;
}

/* Reads the file's first program header, which describes the segment with the code. */
static bool read_text(int fd, struct elf_segment *text)
{
	struct elf_header header;

	return read_all(fd, &header, sizeof(header)) == sizeof(header) &&
	       lseek(fd, (int64_t)header.segments_offset, SEEK_SET) >= 0 &&
	       read_all(fd, text, sizeof(*text)) == sizeof(*text);
}

/*
 * Maps the copy. Returns the address of the function in it. If that fails, prints a message and returns NULL.
 */
static function *map_copy(struct elf_segment *text)
{
	int fd = open(PATH, O_RDONLY, 0);
	function *copy;
	int64_t at;

	if (!check(fd >= 0 && read_text(fd, text), PATH))
		return NULL;
	at = mmap(NULL, text->file_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (int64_t)text->offset);
	close(fd);
	if (!check(at > 0 && at % PAGE == 0, "text is mapped"))
		return NULL;
	copy = (function *)((uintptr_t)at + ((uintptr_t)collatz - text->address));
	check(copy != collatz, "elsewhere");
	return copy;
}

static void unmap_copy(const struct elf_segment *text, function *copy)
{
	uintptr_t at = (uintptr_t)copy - ((uintptr_t)collatz - text->address);

	check_equal(0, munmap((void *)at, text->file_size), "unmapped");
}

/* ---- A trace that starts later ----------------------------------------------------------------- */

/*
 * The child of "mapped late". Writes a byte to the pipe `ready`, and calls the copied function until the pipe
 * `end` is closed.
 */
static void run_until(int ready, int end)
{
	struct abi_pollfd fds = { .fd = end, .events = POLLIN };
	struct elf_segment text;
	function *copy = map_copy(&text);

	write(ready, "r", 1);
	while (copy && poll(&fds, 1, 0) == 0)
		check_equal(111, copy(27), "steps of the copy");
	finish();
}

/*
 * Opens the file of the context that traces a process, by trying all possible numbers of contexts. Returns
 * the descriptor, or a negative number if there is no context yet.
 */
static int find_context(int pid)
{
	char path[32];
	int fd = -1;

	for (unsigned ident = 1; ident <= IDENTS && fd < 0; ident++) {
		format(path, sizeof(path), HWT_PATH "_%u_%d", ident, pid);
		fd = open(path, O_RDWR | O_CLOEXEC, 0);
	}
	return fd;
}

static void await_trace(int pid)
{
	struct abi_hwt_place place = { 0 };
	int fd = -1;

	for (unsigned i = 0; i < ATTEMPTS && place.position < ENOUGH; i++) {
		if (fd < 0)
			fd = find_context(pid);
		if (fd >= 0)
			ioctl(fd, HWT_IOC_BUFPTR_GET, &place);
		sleep_ms(10);
	}
	check(place.position >= ENOUGH, "the process is traced");
	close(fd);
}

static void be_traced_late(char **options)
{
	char pid[12], *words[WORDS] = { (char[]){ "hwt" } }, *environment[] = { NULL };
	int ready[2], end[2], target, tracer, n = 1;
	char byte;

	check(pipe(ready) == 0 && pipe(end) == 0, "pipes");
	target = fork();
	if (target == 0) {
		close(end[1]);
		run_until(ready[1], end[0]);
	}
	check_equal(1, read(ready[0], &byte, 1), "the copy is mapped");
	format(pid, sizeof(pid), "%d", target);
	while (*options && n < WORDS - 3)
		words[n++] = *options++;
	words[n++] = (char[]){ "-P" };
	words[n++] = pid;
	tracer = fork();
	if (tracer == 0) {
		close(end[1]);
		execve("/bin/hwt", words, environment);
		exit(127);
	}
	await_trace(target);
	close(end[1]);
	check_equal(0, wait_for(target), "status of the traced process");
	check_equal(0, wait_for(tracer), "status of the tracer");
	finish();
}

int main(int argc, char **argv)
{
	struct elf_segment text;
	function *copy;

	if (argc > 1 && strcmp(argv[1], "late") == 0)
		be_traced_late(argv + 2);
	check_equal(111, collatz(27), "steps");
	copy = map_copy(&text);
	if (!copy)
		finish();
	check_equal(0, setname("copied"), "a name");
	for (unsigned i = 0; i < CALLS; i++)
		check_equal(111, copy(27), "steps of the copy");
	unmap_copy(&text, copy);
	finish();
}
