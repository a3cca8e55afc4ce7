/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * badness: checks how the kernel reacts to mistakes of programs. A system call with a bad pointer must return
 * an error. A process that accesses forbidden memory must get a signal. A system call that needs an exhausted
 * resource must return an error, and the resource must be available again later.
 */
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE	   4096u
#define FILE_PATH  "/tmp/badness"
#define HUGE	   (UINT64_C(1) << 30) /* a size in bytes that exceeds the machine's memory */
#define PIECE	   (UINT64_C(16) << 20)
#define KERNEL	   0x200000 /* an address that only the kernel may access */
#define FORKS_MAX  200
#define FILES_MOST 64
#define FRAME_MOST 64 /* number of 64-bit words to overwrite: more than any machine has registers */

/* ---- System calls with bad pointers ------------------------------------------------------------- */

static void *const bad_pointers[] = {
	(void *)8,     (void *)KERNEL, (void *)(USER_END - 1), (void *)(UINT64_C(1) << 63),
	(void *)-PAGE, (void *)-1
};

static void bad_pointers_in_calls(void)
{
	int fd = open(FILE_PATH, O_RDWR | O_CREAT, 0600), ends[2];

	check(fd >= 0 && pipe(ends) == 0, "a file and a pipe");
	for (unsigned i = 0; i < sizeof(bad_pointers) / sizeof(bad_pointers[0]); i++) {
		void *bad = bad_pointers[i];

		check_equal(-EFAULT, write(fd, bad, 100), "write to a file");
		check_equal(-EFAULT, write(ends[1], bad, 100), "write to a pipe");
		check_equal(-EFAULT, open(bad, O_RDONLY, 0), "open");
		check_equal(-EFAULT, stat("/", bad), "stat");
		check_equal(-EFAULT, pipe(bad), "pipe");
		check_equal(-EFAULT, execve(bad, bad, bad), "execve");
		check_equal(-EFAULT, nanosleep(bad), "nanosleep");
		check_equal(-EFAULT, clock_gettime(CLOCK_MONOTONIC, bad), "clock_gettime");
		check_equal(-EFAULT, poll(bad, 3, 0), "poll");
		check_equal(-EFAULT, sigaction(SIGUSR1, bad, NULL), "sigaction");
	}
	check_equal(1, write(ends[1], ".", 1), "a byte for the pipe");
	check_equal(-EFAULT, read(ends[0], (void *)KERNEL, 1), "read to kernel memory");
	check_equal(-EBADF, write(1000, "", 1), "no such descriptor");
	check_equal(-EBADF, close(-1), "no such descriptor");
	check_equal(0, unlink(FILE_PATH), "the file is removed");
}

/* ---- Processes that a signal ends --------------------------------------------------------------- */

/* volatile, so that the compiler does not detect that the address is bad */
static volatile uintptr_t address;

static void write_there(void)
{
	*(volatile char *)address = 1;
}

static void read_there(void)
{
	(void)*(volatile char *)address;
}

static void jump_there(void)
{
	((void (*)(void))address)();
}

static void call_nothing(void)
{
	__builtin_trap();
}

/* Recurses endlessly, because `address` is 0. The compiler cannot know that. */
static unsigned __attribute__((noinline)) recurse(unsigned depth)
{
	volatile unsigned char frame[PAGE / 4];

	frame[0] = (unsigned char)depth;
	return depth == address ? 0 : recurse(depth + 1) + frame[0];
}

static void run_away(void)
{
	recurse(1);
}

static void handle_there(void)
{
	struct abi_sigaction action = { .handler = address, .restorer = address };

	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
}

/*
 * A signal handler that overwrites the saved registers, which sigreturn will restore. They are in memory
 * above the handler's stack frame.
 */
static void spoil_registers(int signal)
{
	volatile uint64_t *frame = __builtin_frame_address(0);

	(void)signal;
	for (unsigned i = 2; i < FRAME_MOST; i++)
		frame[i] = address;
}

static void return_there(void)
{
	handle_signal(SIGUSR1, spoil_registers);
	kill(getpid(), SIGUSR1);
}

/* Runs `violation` in a child, with `address` set to `at`. Checks that one of two signals ends the child. */
static void check_death(void (*violation)(void), uintptr_t at, int signal, int or_signal, const char *text)
{
	int status;

	address = at;
	status = wait_for(start_child(violation));
	check(status > 0 && (WTERMSIG(status) == signal || WTERMSIG(status) == or_signal), text);
}

static void deaths(void)
{
	static unsigned char data[16];

	check_death(write_there, 0, SIGSEGV, 0, "a null pointer");
	check_death(read_there, KERNEL, SIGSEGV, 0, "kernel memory");
	check_death(write_there, (uintptr_t)&deaths, SIGSEGV, 0, "code cannot be written");
	check_death(write_there, (uintptr_t) "text", SIGSEGV, 0, "constants cannot be written");
	check_death(jump_there, (uintptr_t)data, SIGSEGV, 0, "data cannot be executed");
	check_death(jump_there, KERNEL, SIGSEGV, 0, "kernel code cannot be executed");
	check_death(read_there, (uintptr_t)-PAGE, SIGSEGV, SIGBUS, "the end of the address space");
	check_death(call_nothing, 0, SIGILL, SIGTRAP, "an invalid instruction");
	check_death(run_away, 0, SIGSEGV, 0, "the stack overflows");
	for (unsigned i = 0; i < sizeof(bad_pointers) / sizeof(bad_pointers[0]); i++) {
		check_death(handle_there, (uintptr_t)bad_pointers[i], SIGSEGV, SIGBUS,
			    "a handler at a bad address");
		check_death(return_there, (uintptr_t)bad_pointers[i], SIGSEGV, SIGBUS,
			    "saved registers are overwritten");
	}
}

/* ---- Files that are not programs ---------------------------------------------------------------- */

static void check_no_program(const void *bytes, size_t size, const char *text)
{
	int fd = open(FILE_PATH, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	char *words[] = { "badness", NULL };

	check_equal((int64_t)size, write_all(fd, bytes, size), "a program is written");
	close(fd);
	check_equal(-ENOEXEC, execve(FILE_PATH, words, words + 1), text);
	unlink(FILE_PATH);
}

/*
 * Each test of a bad program copies this program's file and changes one field in it. These numbers are
 * offsets of fields in an ELF-64 file.
 */
#define PROGRAM_MAX  (16 * PAGE)
#define ELF_CLASS    4
#define ELF_MACHINE  18
#define ELF_ENTRY    24
#define ELF_SEGMENTS 32 /* field with the offset of the program header table */
#define ELF_COUNT    56
#define SEGMENT	     64 /* the first entry of the program header table */
#define SEGMENT_AT   (SEGMENT + 16)
#define SEGMENT_SIZE (SEGMENT + 32)

static void bad_programs(void)
{
	static const struct {
		const char *text;
		unsigned at;
		uint64_t value;
		unsigned size;
	} changes[] = {
		{ "no ELF", 0, 0x464c457e, 4 },
		{ "32 bits", ELF_CLASS, 1, 1 },
		{ "an unknown machine", ELF_MACHINE, 0x1234, 2 },
		{ "segments far after the end of the file", ELF_SEGMENTS, UINT64_MAX - 8, 8 },
		{ "very many segments", ELF_COUNT, 0xffff, 2 },
		{ "a segment over the kernel", SEGMENT_AT, KERNEL, 8 },
		{ "a segment at the end of the address space", SEGMENT_AT, UINT64_MAX - PAGE + 1, 8 },
		{ "a segment longer than the file", SEGMENT_SIZE, HUGE, 8 },
	};
	static unsigned char good[PROGRAM_MAX], bad[PROGRAM_MAX];
	int fd = open("/bin/badness", O_RDONLY, 0);
	int64_t size = read_all(fd, good, sizeof(good));

	close(fd);
	if (!check(size > 64 && size < PROGRAM_MAX, "this program fits into the buffer"))
		return;
	check_no_program("#!/bin/sh\n", 10, "text");
	check_no_program("", 0, "nothing");
	check_no_program(good, 40, "half a header");
	check_no_program(good, 64, "a header alone");
	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		memcpy(bad, good, (size_t)size);
		memcpy(bad + changes[i].at, &changes[i].value, changes[i].size);
		check_no_program(bad, (size_t)size, changes[i].text);
	}
	check_equal(-ENOENT, execve("/bin/nothing", (char *[]){ "", NULL }, (char *[]){ NULL }), "no file");
	check_equal(-EACCES, execve("/etc/hosts", (char *[]){ "", NULL }, (char *[]){ NULL }),
		    "not executable");
}

/* ---- Exhausting resources ----------------------------------------------------------------------- */

static int64_t fill_disk(void)
{
	static char block[16 * PAGE];
	int fd = open(FILE_PATH, O_WRONLY | O_CREAT, 0600);
	int64_t n;

	do
		n = write(fd, block, sizeof(block));
	while (n > 0);
	close(fd);
	return n;
}

static void full_disk(void)
{
	int64_t error = fill_disk();

	check(error == -ENOSPC || error == -EFBIG, "the disk or the file is full");
	check_equal(0, unlink(FILE_PATH), "the file is removed");
	check_equal(-ENOENT, unlink(FILE_PATH), "a removed file does not exist");
}

/* Accesses more and more memory, until the kernel ends the process. */
static void use_memory(void)
{
	for (;;) {
		int64_t memory =
			mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (!check(memory > 0, "more memory is reserved than exists"))
			finish();
		for (uint64_t at = 0; at < PIECE; at += PAGE)
			*(volatile char *)(uintptr_t)((uint64_t)memory + at) = 1;
	}
}

static void out_of_memory(void)
{
	int status = wait_for(start_child(use_memory));

	check(status > 0 && WTERMSIG(status) != 0, "the kernel kills a process when memory is used up");
	check_equal(0, wait_for(start_child(finish)), "memory is available again");
}

static void wait_to_be_killed(void)
{
	for (;;)
		pause();
}

static void out_of_processes(void)
{
	int children[FORKS_MAX], count = 0;

	while (count < FORKS_MAX && (children[count] = fork()) > 0)
		count++;
	if (count < FORKS_MAX && children[count] == 0)
		wait_to_be_killed();
	check(count > 0 && count < FORKS_MAX, "the process table becomes full");
	for (int i = 0; i < count; i++) {
		check_equal(0, kill(children[i], SIGKILL), "a process is killed");
		check_equal(SIGKILL, wait_for(children[i]), "the signal ended the process");
	}
}

static void out_of_files(void)
{
	int fd = 0, least = dup(STDOUT), most = least;

	while (fd >= 0 && most < FILES_MOST) {
		fd = dup(STDOUT);
		most = fd > most ? fd : most;
	}
	check_equal(-EMFILE, fd, "the descriptor table becomes full");
	for (; most >= least; most--)
		close(most);
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	bad_pointers_in_calls();
	deaths();
	bad_programs();
	full_disk();
	out_of_files();
	out_of_processes();
	out_of_memory();
	finish();
}
