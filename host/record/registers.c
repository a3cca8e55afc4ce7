/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/registers.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/machine.h"

/*
 * Layouts of these register sets: struct user_regs_struct of x86_64, struct user_pt_regs of AArch64, struct
 * user_regs_struct of RISC-V.
 */
static const struct record_machine machines[] = {
	{ EM_X86_64, 27, 15, 10, { 14, 13, 12, 7, 9, 8 } },
	{ EM_AARCH64, 34, 8, 0, { 0, 1, 2, 3, 4, 5 } },
	{ EM_RISCV, 32, 17, 10, { 10, 11, 12, 13, 14, 15 } },
};

const struct record_machine *record_machine_find(uint16_t elf)
{
	for (size_t n = 0; n < sizeof(machines) / sizeof(machines[0]); n++)
		if (machines[n].elf == elf)
			return &machines[n];
	return NULL;
}

static uint16_t find_own(void)
{
	struct utsname machine;

	return uname(&machine) == 0 ? base_machine_number(machine.machine) : EM_NONE;
}

/* the result is cached, because it is needed at each stop */
uint16_t record_machine_own(void)
{
	static uint16_t own;

	if (own == EM_NONE)
		own = find_own();
	return own;
}

static int is_whole(const struct record_machine *machine, const struct record_registers *registers)
{
	return registers->size == machine->words * sizeof(registers->word[0]);
}

int record_registers_call(const struct record_machine *machine, const struct record_registers *registers,
			  uint64_t *number, uint64_t argument[static 6])
{
	if (!is_whole(machine, registers))
		return -1;
	*number = registers->word[machine->number];
	for (unsigned n = 0; n < 6; n++)
		argument[n] = registers->word[machine->argument[n]];
	return 0;
}

int record_registers_result(const struct record_machine *machine, const struct record_registers *registers,
			    int64_t *result)
{
	if (!is_whole(machine, registers))
		return -1;
	*result = (int64_t)registers->word[machine->result];
	return 0;
}

int record_registers_set_result(const struct record_machine *machine, struct record_registers *registers,
				int64_t result)
{
	if (!is_whole(machine, registers))
		return -1;
	registers->word[machine->result] = (uint64_t)result;
	return 0;
}

/*
 * page size in bytes; memory is read in pieces that end at page boundaries, because the next page may not be
 * mapped
 */
#define PAGE 4096u

static unsigned long denied;

unsigned long record_memory_denied(void)
{
	return denied;
}

size_t record_memory_read(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote[3];
	unsigned pieces = 0;
	ssize_t read;

	/*
	 * Reads in pieces that end at page boundaries. If a page is not mapped, the bytes before it can still
	 * be read.
	 */
	for (size_t at = 0; at < size && pieces < 3; pieces++) {
		size_t rest = PAGE - (address + at) % PAGE;

		if (rest > size - at || pieces == 2)
			rest = size - at;
		remote[pieces] = (struct iovec){ (void *)(uintptr_t)(address + at), rest };
		at += rest;
	}
	read = process_vm_readv(tid, &local, 1, remote, pieces, 0);
	denied += read < 0 && errno == EPERM;
	return read > 0 ? (size_t)read : 0;
}

ssize_t record_memory_string(pid_t tid, uint64_t address, char *to, size_t room)
{
	size_t length = 0;

	while (length < room) {
		size_t piece = PAGE - (address + length) % PAGE;
		const char *end;
		size_t read;

		if (piece > 256)
			piece = 256;
		if (piece > room - length)
			piece = room - length;
		read = record_memory_read(tid, address + length, to + length, piece);
		end = memchr(to + length, '\0', read);
		if (end)
			return end - to;
		length += read;
		if (read < piece)
			return -1;
	}
	return (ssize_t)length;
}

#define VECTORS 16u

size_t record_memory_words(pid_t tid, uint64_t address, unsigned width, uint64_t *word, size_t count)
{
	size_t had = record_memory_read(tid, address, word, count * width) / width;
	uint32_t narrow;

	/*
	 * Converts narrow words to wide words in the same buffer. Begins with the last word, because a wide
	 * word overwrites the narrow words after it.
	 */
	for (size_t n = had; width == sizeof(narrow) && n-- > 0;) {
		memcpy(&narrow, (const char *)word + n * sizeof(narrow), sizeof(narrow));
		word[n] = narrow;
	}
	return had;
}

bool record_memory_message(pid_t tid, uint64_t address, unsigned width, struct record_message *message)
{
	uint64_t word[6];

	if (record_memory_words(tid, address, width, word, 6) != 6)
		return false;
	*message = (struct record_message){ .name = word[0],
					    .name_size = (uint32_t)word[1],
					    .iovec = word[2],
					    .iovecs = word[3],
					    .control = word[4],
					    .control_size = (uint32_t)word[5] };
	return true;
}

size_t record_memory_gather(pid_t tid, uint64_t iovec, unsigned width, uint64_t count, void *to, size_t size)
{
	/* two machine words for each struct iovec: address and size of the data */
	uint64_t word[2 * VECTORS];
	size_t read = 0, had;

	if (count > VECTORS)
		count = VECTORS;
	had = record_memory_words(tid, iovec, width, word, (size_t)count * 2) / 2;
	for (size_t n = 0; n < had && read < size; n++) {
		size_t piece = word[2 * n + 1] < size - read ? word[2 * n + 1] : size - read;
		size_t got = record_memory_read(tid, word[2 * n], (char *)to + read, piece);

		read += got;
		if (got < piece)
			break;
	}
	return read;
}

/* ---- Programs that get other rights when they are executed -------------------------------------- */

#define INTERPRETERS 5 /* number of nested script interpreters that the kernel follows */

/*
 * Makes a path by which the recorder can open the file that the thread calls `name`. If /proc cannot be used,
 * assumes that the thread has the same root and current directory as the recorder.
 */
static bool make_path(const struct record_thread *thread, const char *name, char *path, size_t room)
{
	const char *part = name[0] == '/' ? "root" : "cwd/";
	int written = record_proc_is_usable()
			      ? snprintf(path, room, "/proc/%d/%s%s", (int)thread->tid, part, name)
			      : snprintf(path, room, "%s", name);

	return written > 0 && (size_t)written < room;
}

/*
 * Finds the path of the program that the thread is about to execute. A relative path is relative to the
 * thread's current directory or, for execveat(), to the directory of one of the thread's descriptors.
 */
static bool find_path(const struct record_thread *thread, char *path, size_t room)
{
	bool at = record_is_execveat(thread);
	char name[PATH_MAX];
	ssize_t length = record_memory_string(thread->tid, thread->argument[at], name, sizeof(name) - 1);
	int written;

	if (length < 0)
		return false;
	name[length] = '\0';
	if (name[0] == '/' || !at || (int)thread->argument[0] == AT_FDCWD)
		return make_path(thread, name, path, room);
	if (!record_proc_is_usable())
		return false;
	written = snprintf(path, room, "/proc/%d/fd/%d%s%s", (int)thread->tid, (int)thread->argument[0],
			   *name ? "/" : "", name);
	return written > 0 && (size_t)written < room;
}

/*
 * Replaces the path of a script by the path of its interpreter, because the kernel uses the rights of the
 * interpreter's file. Returns false if the file is not a script.
 */
static bool follow_script(const struct record_thread *thread, char *path, size_t room)
{
	char line[PATH_MAX] = "", *name;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	line[length > 0 ? length : 0] = '\0';
	if (strncmp(line, "#!", 2) != 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t")] = '\0';
	return *name && make_path(thread, name, path, room);
}

static bool has_rights(const char *path, const struct stat *file)
{
	struct statvfs system;

	if (statvfs(path, &system) != 0 || (system.f_flag & ST_NOSUID))
		return false;
	return ((file->st_mode & S_ISUID) && file->st_uid != geteuid()) ||
	       ((file->st_mode & S_ISGID) && (file->st_mode & S_IXGRP) && file->st_gid != getegid()) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

bool record_is_privileged_exec(const struct record_thread *thread)
{
	char path[PATH_MAX + 64];
	struct stat file;
	int level = 0;

	if (geteuid() == 0 || record_proc_gains_nothing(thread->tid) ||
	    !find_path(thread, path, sizeof(path)))
		return false;
	do
		if (stat(path, &file) != 0 || !S_ISREG(file.st_mode) ||
		    faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
			return false;
	while (level++ < INTERPRETERS && follow_script(thread, path, sizeof(path)));
	return has_rights(path, &file);
}
