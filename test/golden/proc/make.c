/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes the process traces that tests read into the given directories. There is one trace for each
 * format. In each trace, the program `ls` reads a file, fails to find another file, is denied access, and
 * receives signals. Another process has a name of the maximum length:
 *
 *	ktrx.ktrace  dragonfly.ktrace  freebsd0.ktrace  freebsd0-i386.ktrace  freebsd1.ktrace
 *
 * The traces have all types of records of their format, one of an unknown type, and a loss. Also writes the
 * traces of make_bad.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make_bad.h"
#include "put.h"

/* Numbers of system calls and errors in the kernel that writes the format. */
struct numbers {
	unsigned exit, read, write, open, close, connect, stat, sysctl, execve;
	int missing, refused; /* errors */
	unsigned unknown;     /* a record type that no format has */
};

static const struct numbers of_ktrx = { 0, 32, 33, 30, 31, 62, 36, 70, 2, 2, 111, 77 };
static const struct numbers of_dragonfly = { 1, 3, 4, 5, 6, 98, 476, 202, 59, 2, 61, 8 };
static const struct numbers of_freebsd = { 1, 3, 4, 5, 6, 98, 551, 202, 59, 2, 61, 30 };
static const struct numbers of_freebsd_11 = { 1, 3, 4, 5, 6, 98, 189, 202, 59, 2, 61, 30 };

static const char table[] = "# the calls of a kernel that is nowhere\n"
			    "0 exit void, int status\n"
			    "2 execve int, path path, ptr words, ptr environment\n"
			    "30 open fd, path path, open_flags flags, mode mode\n"
			    "31 close int, fd fd\n"
			    "32 read size, fd fd, buffer data, size size\n"
			    "33 write size, fd fd, buffer data, size size\n"
			    "36 fstat int, fd fd, stat about\n"
			    "62 connect int, fd fd, sockaddr address, size size\n"
			    "70 setting_name size, int number, buffer name, size size\n"
			    "error 2 ENOENT\n"
			    "error 111 ECONNREFUSED\n"
			    "signal 2 SIGINT\n"
			    "signal 11 SIGSEGV\n"
			    "enum open_flags 0 O_RDONLY\n"
			    "enum open_flags 1 O_WRONLY\n"
			    "enum open_flags 2 O_RDWR\n"
			    "field open_flags 3\n"
			    "flags open_flags 0x40 O_CREAT\n"
			    "flags open_flags 0x80000 O_CLOEXEC\n"
			    "flags rights 1 R\n"
			    "flags rights 2 W\n";
static const char rest_of_table[] =
	"struct stat 32, ulong ino 0, mode mode 8, uint links 12, uid uid 16, gid gid 20, size size 24\n"
	"struct sockaddr 16, uint family 0, port_be port 2, ipv4_be addr 4\n"
	"struct pollfd 8, fd fd 0, hex asked 4\n";

static const char greeting[] = "Welcome\tto \"us\"\\\x1b[0m\x00\xff\nbye\n";

static void make_ktrx_begin(struct put *put)
{
	put_line(put, 33, table);
	put_line(put, 33, rest_of_table);
	put_name(put, "sh");
	put_begin(put, 10);
	put32(put, 1);
	put32(put, 1);
	put_text(put, "ls");
	put_end(put);
}

static void make_begin(struct put *put)
{
	if (put->format == PUT_KTRX)
		make_ktrx_begin(put);
	if (put->format != PUT_FREEBSD1)
		return;
	put_begin(put, 10);
	put32(put, 0x00010009); /* flags of the ABI: FreeBSD, words of 64 bits */
	put_end(put);
}

/* Adds the result of stat(), in the layout of each format's kernel. */
static void make_stat(struct put *put)
{
	static const unsigned sizes[] = { 32, 0, 120, 96, 224 };
	unsigned char bytes[224] = { 0 };
	const unsigned size = sizes[put->format];

	if (put->format == PUT_KTRX) {
		bytes[0] = 17;	 /* inode */
		bytes[8] = 0xa4; /* mode: a regular file, 0644 */
		bytes[9] = 0x81;
		bytes[12] = 1;
		bytes[16] = bytes[20] = 0;
		bytes[24] = 31;
	} else if (put->format == PUT_FREEBSD1) {
		bytes[0] = 99; /* device */
		bytes[8] = 17;
		bytes[16] = 1;
		bytes[24] = 0xa4;
		bytes[25] = 0x81;
		bytes[112] = 31;
	} else {
		bytes[0] = 99;
		bytes[4] = 17;
		bytes[8] = 0xa4;
		bytes[9] = 0x81;
		bytes[10] = 1;
		bytes[put->format == PUT_FREEBSD0 ? 72 : 48] = 31;
	}
	if (size)
		put_struct(put, "stat", bytes, size);
}

static void make_reading(struct put *put, const struct numbers *n)
{
	const uint64_t motd = put->format == PUT_FREEBSD0_I386 ? 0x80481f0 : 0x7fffffffe3c0;

	put_call(put, n->open, 3, (uint64_t[]){ motd, put->format == PUT_KTRX ? 0x80000 : 0x100000, 0 });
	put_line(put, 3, "/etc/motd");
	put_ret(put, n->open, 0, 3);
	put_call(put, n->stat, 2, (uint64_t[]){ 3, motd - 0x100 });
	make_stat(put);
	put_ret(put, n->stat, 0, 0);
	put_call(put, n->read, 3, (uint64_t[]){ 3, motd + 0x40, 1024 });
	put_io(put, 3, 0, greeting, sizeof(greeting) - 1);
	put_ret(put, n->read, 0, sizeof(greeting) - 1);
	put_call(put, n->write, 3, (uint64_t[]){ 1, motd + 0x40, 6 });
	put_switch(put, 1, 1, put->format == PUT_KTRX || put->format == PUT_FREEBSD1 ? "ttyout" : NULL);
	put_switch(put, 0, 1, put->format == PUT_KTRX || put->format == PUT_FREEBSD1 ? "ttyout" : NULL);
	put_io(put, 1, 1, "motd\r\n", 6);
	put_ret(put, n->write, 0, 6);
	put_call(put, n->close, 1, (uint64_t[]){ 3 });
	put_ret(put, n->close, 0, 0);
}

static void make_failing(struct put *put, const struct numbers *n)
{
	static const unsigned char address_bsd[16] = { 16, 2, 0, 80, 127, 0, 0, 1 };
	static const unsigned char address_ktrx[16] = { 2, 0, 0, 80, 127, 0, 0, 1 };

	put_call(put, n->open, 3, (uint64_t[]){ 0, 2, UINT64_MAX });
	put_line(put, 3, "/no such\ndirectory");
	put_ret(put, n->open, n->missing, put->format == PUT_KTRX ? -1 : 0);
	put_call(put, n->connect, 3, (uint64_t[]){ 4, 0x1000, 16 });
	if (put->format != PUT_DRAGONFLY)
		put_struct(put, "sockaddr", put->format == PUT_KTRX ? address_ktrx : address_bsd, 16);
	put->cpu = 3;
	put_ret(put, n->connect, n->refused, put->format == PUT_KTRX ? -1 : 0);
	put_call(put, n->sysctl, 4, (uint64_t[]){ 2, 3, 4, 5 });
	put_line(put, 9, "kern.ostype");
	put_ret(put, n->sysctl, 0, 0);
	put_sig(put, 2, 0x4016d0, 1, 0x4002);
	put_line(put, 7, "said by ls");
	put_begin(put, n->unknown);
	put_text(put, "twelve bytes");
	put_end(put);
}

/*
 * Adds FreeBSD's record of an access that Capsicum denied. Before FreeBSD 14 the record has two sets of
 * rights; since then it has the denied object.
 */
static void put_denied(struct put *put, bool later, unsigned reason, const char *path)
{
	put_begin(put, 12);
	put32(put, reason);
	if (later) {
		put16(put, 5);
		put16(put, 0);
		put32(put, 0x00010009);
		put32(put, 0);
	} else if (put->format != PUT_FREEBSD0_I386) {
		put32(put, 0);
	}
	if (path) {
		put_text(put, path);
		put_zeroes(put, 1024 - strlen(path));
	} else {
		put64(put, 0x0200000000000001); /* rights that are needed: to read */
		put64(put, 0x0400000000000000);
		put64(put, 0x0200000000000002); /* rights that the descriptor has: to write */
		put64(put, 0x0400000000000000);
		put_zeroes(put, later ? 1024 - 32 : 0);
	}
	put_end(put);
}

static void make_denied(struct put *put)
{
	static const unsigned char kevent[64] = { 3, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1 };

	put_fault(put, put->format == PUT_FREEBSD0_I386 ? 0x8049000 : 0x800a00000, 2);
	put_fault_end(put, 0);
	put_denied(put, false, 0, NULL);
	put_denied(put, false, 3, NULL);
	if (put->format == PUT_FREEBSD1) {
		put_denied(put, true, 0, NULL);
		put_denied(put, true, 6, "/etc/passwd");
		put_array(put, "kevent", 64, kevent, 64);
	}
}

static void make_ktrx_denied(struct put *put)
{
	put_fault(put, 0x800a00000, 2);
	put_fault_end(put, 0);
	put_begin(put, 12);
	put32(put, 1);
	put32(put, 30);
	put64(put, 2);
	put64(put, 1);
	put_text(put, "/etc/passwd");
	put_end(put);
	put_array(put, "pollfd", 8, "\3\0\0\0\1\0\0\0\4\0\0\0\4\0\0\0", 16);
}

/*
 * Adds the records of another process. Its name fills the whole field for names. One of the process's
 * calls is restarted, and another call does not return.
 */
static void make_other(struct put *put, const struct numbers *n)
{
	const uint64_t arg[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	put->pid = 43;
	put->tid = 100043;
	put_name(put, "name-without-any-end");
	if (put->format != PUT_DRAGONFLY && put->format != PUT_KTRX)
		put->lost = 1;
	if (put->format == PUT_KTRX)
		put->lost = 7;
	put_call(put, n->read, 3, arg);
	put_ret(put, n->read, put->format == PUT_KTRX ? 4 : -1, 0);
	put_call(put, n->execve, 3, arg);
	put_ret(put, n->execve, put->format == PUT_KTRX ? 0 : -2, 0);
	put_call(put, 177, 8, arg);
	put_switch(put, 1, 0, NULL);
	put_sig(put, 11, 0, 0x10001, 0);
}

static void make_end(struct put *put, const struct numbers *n)
{
	put->pid = 42;
	put->tid = 100042;
	put->name = "ls";
	put_call(put, n->exit, 1, (uint64_t[]){ 0 });
	if (put->format == PUT_KTRX) {
		put_begin(put, 11);
		put_zeroes(put, 8);
		put_end(put);
		put->pid = put->tid = 0;
		put_begin(put, 34);
		put32(put, 0);
		put32(put, 0);
		put64(put, 46);
		put64(put, 7);
		put64(put, put->record);
		put_end(put);
	} else if (put->format != PUT_DRAGONFLY) {
		put_begin(put, 11);
		put_end(put);
	}
}

static struct put make_story(enum put_format format, const struct numbers *n)
{
	struct put put = put_trace(format);

	make_begin(&put);
	make_reading(&put, n);
	make_failing(&put, n);
	if (format == PUT_KTRX)
		make_ktrx_denied(&put);
	else if (format != PUT_DRAGONFLY)
		make_denied(&put);
	make_other(&put, n);
	if (format == PUT_FREEBSD1) { /* adds a record that an older kernel wrote into the same file */
		put.format = PUT_FREEBSD0;
		put_ret(&put, 177, 0, 8);
		put.format = PUT_FREEBSD1;
	}
	make_end(&put, n);
	return put;
}

static void save(const char *directory, const char *name, enum put_format format, const struct numbers *n)
{
	struct put put = make_story(format, n);

	put_save(&put, directory, name);
}

int main(int count, char **argument)
{
	if (count != 3) {
		fprintf(stderr, "usage: %s DIRECTORY DIRECTORY-OF-BAD-ONES\n", argument[0]);
		return EXIT_FAILURE;
	}
	save(argument[1], "ktrx", PUT_KTRX, &of_ktrx);
	save(argument[1], "dragonfly", PUT_DRAGONFLY, &of_dragonfly);
	save(argument[1], "freebsd0", PUT_FREEBSD0, &of_freebsd_11);
	save(argument[1], "freebsd0-i386", PUT_FREEBSD0_I386, &of_freebsd_11);
	save(argument[1], "freebsd1", PUT_FREEBSD1, &of_freebsd);
	make_bad(argument[2]);
	return EXIT_SUCCESS;
}
