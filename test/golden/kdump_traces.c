/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes the process traces for kdump's tests, in addition to those of test/golden/proc, into the given
 * directory:
 *
 *	linux.ktrace      a Linux program with two threads whose calls overlap; values of many types
 *	utrace.ktrace     records of FreeBSD's runtime linker and malloc; also utrace-i386, utrace-dragonfly
 *	hostile.ktrace    names, paths, data and a table that contain control characters
 *	values.ktrace     a table with every kind of type, a struct with every kind of field
 *	wide.ktrace       as many names as a table can have, each as long as possible
 *	unknown.ktrace    records of an unknown type: a long one, an empty one
 *	abi.ktrace        processes of different ABIs on FreeBSD
 *	fast.ktrace       a clock of an impossible frequency
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/proc.h"
#include "proc/put.h"

#define ADDRESS UINT64_C(0x7ffc12345678)

/* ---- Linux, x86_64 ---- */

enum {
	LINUX_READ = 0,
	LINUX_WRITE = 1,
	LINUX_CLOSE = 3,
	LINUX_MMAP = 9,
	LINUX_SIGACTION = 13,
	LINUX_IOCTL = 16,
	LINUX_SOCKET = 41,
	LINUX_CONNECT = 42,
	LINUX_SETSOCKOPT = 54,
	LINUX_CLONE = 56,
	LINUX_KILL = 62,
	LINUX_FCNTL = 72,
	LINUX_MKDIR = 83,
	LINUX_UMASK = 95,
	LINUX_FUTEX = 202,
	LINUX_EXIT_GROUP = 231,
	LINUX_OPENAT = 257,
	LINUX_FSTATAT = 262,
};

static void put_whole(struct put *put, unsigned number, const uint64_t *arg, int error, int64_t result)
{
	put_call(put, number, 6, arg);
	put_ret(put, number, error, result);
}

static void make_linux_values(struct put *put)
{
	static const unsigned char address[16] = { 2, 0, 0x1f, 0x90, 127, 0, 0, 1 };
	static const unsigned char path[12] = { 1, 0, '/', 't', 'm', 'p', '/', '\x1b', 'x' };
	unsigned char stat[144] = { 0 };

	put_call(put, LINUX_OPENAT, 6, (uint64_t[]){ (uint32_t)-100, ADDRESS, 0x80241, 0644, 0, 0 });
	put_line(put, 3, "/tmp/a \"b\"");
	put_ret(put, LINUX_OPENAT, 0, 3);
	put_call(put, LINUX_OPENAT, 6, (uint64_t[]){ 5, ADDRESS, 0x98000, 0644, 0, 0 });
	put_ret(put, LINUX_OPENAT, 2, -1);
	put_whole(put, LINUX_MMAP, (uint64_t[]){ 0, 8192, 3, 0x22, (uint32_t)-1, 0 }, 0, 0x7f0000001000);
	put_whole(put, LINUX_MMAP, (uint64_t[]){ 0x1000, 1, 0, 0x80000011, 3, 4096 }, 22, -1);
	put_whole(put, LINUX_IOCTL, (uint64_t[]){ 0, 0x5401, ADDRESS, 0, 0, 0 }, 25, -1);
	put_whole(put, LINUX_IOCTL, (uint64_t[]){ 0, 0x12345, 0, 0, 0, 0 }, 0, 0);
	put_whole(put, LINUX_SOCKET, (uint64_t[]){ 2, 0x80001, 6, 0, 0, 0 }, 0, 4);
	put_whole(put, LINUX_SETSOCKOPT, (uint64_t[]){ 4, 1, 2, ADDRESS, 4, 0 }, 0, 0);
	put_whole(put, LINUX_SETSOCKOPT, (uint64_t[]){ 4, 6, 1, ADDRESS, 4, 0 }, 0, 0);
	put_whole(put, LINUX_SETSOCKOPT, (uint64_t[]){ 4, 77, 1, ADDRESS, 4, 0 }, 92, -1);
	put_call(put, LINUX_CONNECT, 6, (uint64_t[]){ 4, ADDRESS, 16, 0, 0, 0 });
	put_struct(put, "sockaddr", address, sizeof(address));
	put_ret(put, LINUX_CONNECT, 115, -1);
	put_call(put, LINUX_CONNECT, 6, (uint64_t[]){ 4, ADDRESS, 12, 0, 0, 0 });
	put_struct(put, "sockaddr", path, sizeof(path));
	put_ret(put, LINUX_CONNECT, 0, 0);
	put_whole(put, LINUX_FCNTL, (uint64_t[]){ 4, 4, 0x802, 0, 0, 0 }, 0, 0);
	put_whole(put, LINUX_FCNTL, (uint64_t[]){ 4, 2, 1, 0, 0, 0 }, 0, 0);
	put_whole(put, LINUX_FCNTL, (uint64_t[]){ 4, 0, 10, 0, 0, 0 }, 0, 10);
	put_whole(put, LINUX_FCNTL, (uint64_t[]){ 4, 6, ADDRESS, 0, 0, 0 }, 11, -1);
	put_whole(put, LINUX_MKDIR, (uint64_t[]){ ADDRESS, 02755, 0, 0, 0, 0 }, 13, -1);
	put_whole(put, LINUX_UMASK, (uint64_t[]){ 022, 0, 0, 0, 0, 0 }, 0, 077);
	put_whole(put, LINUX_SIGACTION, (uint64_t[]){ 11, ADDRESS, 0, 8, 0, 0 }, 0, 0);
	put_whole(put, LINUX_KILL, (uint64_t[]){ (uint64_t)-1, 9, 0, 0, 0, 0 }, 1, -1);
	put_call(put, LINUX_FSTATAT, 6, (uint64_t[]){ (uint64_t)-100, ADDRESS, ADDRESS, 0x100, 0, 0 });
	put_line(put, 3, ".");
	stat[25] = 0x41; /* 0040755 */
	stat[24] = 0xed;
	stat[16] = 2;
	stat[72] = 10; /* seconds */
	stat[80] = 7;  /* nanoseconds */
	put_struct(put, "stat", stat, sizeof(stat));
	put_ret(put, LINUX_FSTATAT, 0, 0);
}

/* The main thread is in read(2) while the other thread is created, waits and writes. */
static void make_linux_overlap(struct put *put)
{
	put_call(put, LINUX_CLONE, 6, (uint64_t[]){ 0x3d0f00, ADDRESS, ADDRESS, ADDRESS, 0x1234, 0 });
	put_ret(put, LINUX_CLONE, 0, 43);
	put_call(put, LINUX_READ, 6, (uint64_t[]){ 0, ADDRESS, 100, 0, 0, 0 });
	put->tid = 43;
	put_call(put, LINUX_FUTEX, 6, (uint64_t[]){ ADDRESS, 0x80, 2, 0, 0, 0 });
	put->tid = 42;
	put_io(put, 0, 0, "typed\n", 6);
	put_ret(put, LINUX_READ, 0, 6);
	put->tid = 43;
	put_ret(put, LINUX_FUTEX, 0, 0);
	put_call(put, LINUX_WRITE, 6, (uint64_t[]){ 1, ADDRESS, 3000, 0, 0, 0 });
	put->flags = 1;
	put_begin(put, 4);
	put32(put, 1);
	put32(put, 1);
	put64(put, 3000);
	put_text(put, "of three thousand bytes these here were recorded, and no more");
	put_end(put);
	put_ret(put, LINUX_WRITE, 0, 3000);
	put_sig(put, 17, 0x401000, 1, 0x10000);
	put_sig(put, 10, 1, 0, 0);
	put_sig(put, 11, 0, 1, 0);
	put_call(put, LINUX_FUTEX, 6, (uint64_t[]){ ADDRESS, 0x181, 1, 0, 0, 0 });
	put->tid = 42;
	put->lost = 3;
	put_call(put, LINUX_CLOSE, 6, (uint64_t[]){ 3, 0, 0, 0, 0, 0 });
	put_ret(put, LINUX_CLOSE, 0, 0);
	put->tid = 43;
	put_ret(put, LINUX_FUTEX, 512, -1);
	put->tid = 42;
	put_ret(put, LINUX_WRITE, 0, 1);
	put_call(put, LINUX_READ, 6, (uint64_t[]){ 0, 0, 0, 0, 0, 0 });
	put_call(put, LINUX_EXIT_GROUP, 6, (uint64_t[]){ 7, 0, 0, 0, 0, 0 });
	put->tid = 43;
	put_call(put, 5000, 6, (uint64_t[]){ 1, 2, 3, 4, 5, 6 });
}

static void make_linux(const char *directory)
{
	struct put put = put_trace(PUT_KTRX);

	put.tid = put.pid;
	put_name(&put, "threads");
	make_linux_values(&put);
	make_linux_overlap(&put);
	put_save(&put, directory, "linux");
}

/* ---- records of utrace(2) ---- */

static void put_linked(struct put *put, unsigned event, uint64_t handle, uint64_t base, uint64_t size,
		       unsigned count, const char *name)
{
	put_begin(put, 7);
	put_text(put, "RTLD");
	put32(put, event);
	put_word(put, handle);
	put_word(put, base);
	put_word(put, size);
	put32(put, count);
	put_text(put, name);
	put8(put, 0);
	put_end(put);
}

static void put_malloc(struct put *put, uint64_t pointer, uint64_t size, uint64_t result)
{
	put_begin(put, 7);
	put_word(put, pointer);
	put_word(put, size);
	put_word(put, result);
	put_end(put);
}

static void make_utrace(const char *directory, const char *name, enum put_format format)
{
	struct put put = put_trace(format);

	for (unsigned event = 0; event <= 14; event++)
		put_linked(&put, event, 0x1000, 0x2000, 0x3000, event == 1 ? 0x102 : 2, "lib\x1b[mc.so.7");
	put_linked(&put, 1, 0, 0, 0, 0x1201, "");
	put_line(&put, 7, "RTLD\1\2\3\4cut");
	put_line(&put, 7, "RTLD");
	put_malloc(&put, UINT64_MAX, 0, 0);
	put_malloc(&put, 0, 0, 0);
	put_malloc(&put, 0, 10, 0x8000);
	put_malloc(&put, 0x8000, 20, 0x9000);
	put_malloc(&put, 0x9000, 0, 0);
	put_line(&put, 7, format == PUT_FREEBSD0_I386 ? "only a text." : "this is not of malloc's.");
	put_line(&put, 7, "");
	put_save(&put, directory, name);
}

/* ---- names and data with control characters ---- */

#define EVIL "\x1b]0;evil\a\r\n\xff\\\"\x9b"

static void make_hostile(const char *directory)
{
	struct put put = put_trace(PUT_KTRX);
	const uint64_t arg[8] = { UINT64_MAX, 0, 1, 2, 3, 4, 5, 6 };
	unsigned char address[16] = { 1, 0, '\x1b', '[', 'm', '"', '\\' };

	put_line(&put, 33,
		 "1 \x1b[31mopen\xff\"\\ fd, path \x1b[0m, bits b\a, sockaddr *, e e\n"
		 "2 a_name_that_is_longer_than_any_name_that_a_table_may_have_anywhere_in_it int\n"
		 "3\n4\n5 five int, int a, int b, int c, int d, int e, int f, int g, int h, int i\n"
		 "99999 far int\n-1 below int\nerror 0 EZERO\nerror 2 E\x1b[mTWO\nerror 99999 EFAR\n"
		 "signal 1 SIG\x1b[mHUP\nsignal 999 SIGFAR\n"
		 "flags bits 0 NONE\nflags bits 1 A\x1b[m\nflags bits 0xfffffffffffffffe ALL\nflags bits x "
		 "Y\nflags bits\n"
		 "enum e -1 MINUS\nenum e 99999999999999999999 OVER\nfield e zero\nfield\n"
		 "struct s 8, int a 4, int b 9, int c 4+5, int\x1b d\x1b 0+3\nstruct s 0\nstruct\nstruct t "
		 "99999999\n"
		 "struct sockaddr 16, af family 0+2, str path 2\nenum af 1 AF_UNIX\n"
		 "on\non nowhere 6 six int\non x86_64 7 seven int\nwhat is this\n\n#\n");
	put_name(&put, EVIL);
	put_call(&put, 1, 8, arg);
	put_line(&put, 3, EVIL);
	put_struct(&put, "sockaddr", address, sizeof(address));
	put_ret(&put, 1, 2, -1);
	put_call(&put, 5, 8, arg);
	put_io(&put, -1, 1, EVIL "\0007\0" EVIL, 2 * strlen(EVIL) + 3);
	put_io(&put, 0, 0, "", 0);
	put_io(&put, 0, 0, "a", 1);
	put_ret(&put, 5, -5, INT64_MIN);
	put_call(&put, 7, 0, arg);
	put_call(&put, 6, 1, arg);
	put_call(&put, 2, 0, arg);
	put_call(&put, UINT32_MAX, 1, arg);
	put_ret(&put, 8, 99, 0);
	put_sig(&put, 1, 0, -1, 0);
	put_sig(&put, 0xffffffff, 1, 0, 0);
	put_struct(&put, EVIL, EVIL, strlen(EVIL));
	put_struct(&put, "s", "12345678", 8);
	put_struct(&put, "s", "1", 1);
	put_struct(&put, "s", "", 0);
	/* an array whose elements have size 0, so the record has room for any number of elements */
	put_begin(&put, 15);
	put32(&put, 0);
	put32(&put, UINT32_MAX);
	put_bytes(&put, "s", 2);
	put_end(&put);
	put_array(&put, "s", 3, "12345678", 8);
	put_line(&put, 7, EVIL);
	put_line(&put, 9, EVIL);
	put_switch(&put, 1, 0, EVIL);
	put_fault(&put, UINT64_MAX, 0xff);
	put_fault_end(&put, -1);
	put_fault_end(&put, 2);
	put_save(&put, directory, "hostile");
}

/* ---- values of all types ---- */

static void make_values(const char *directory)
{
	static const unsigned char bytes[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,				/* int, uint */
		0xa4, 0x81, 0x01, 0x00,							/* mode, bits */
		1,    0,    0,	  0,	2,    0,    0,	  0,				/* uid, gid */
		0x1f, 0x90, 0x7f, 0,	0,    1,    9,	  0,				/* port, address */
		5,    0,    0,	  0,	0,    0,    0,	  0,	6, 0, 0, 0, 0, 0, 0, 0, /* time */
		5,    0,    0,	  0,	0,    0,    0,	  0,	7, 0, 0, 0, 0, 0, 0, 0, /* utime */
		't',  'e',  'x',  't',	0,    0,    0,	  0,	3, 0, 0, 0, 0, 0, 0, 0
	}; /* inner */
	struct put put = put_trace(PUT_KTRX);
	const uint64_t arg[8] = { UINT64_MAX, UINT32_MAX, 5, 0x1000, 0644, 2, 1500, 0x8000000000000001 };

	put_line(&put, 33,
		 "1 numbers long, int a, uint b, long c, ulong d, size e, off f, hex g, odd h\n"
		 "2 addresses ptr, ptr a, path b, str c, data d, buffer e, whole f\n"
		 "3 others mode, fd a, pid b, uid c, gid d, mode e, sig f, ms g, bits h\n"
		 "4 nameless int, int, uint\n5 none void\n6 untyped\n"
		 "error 2 ENOENT\nerror 9 EMYOWN\nsignal 2 SIGINT\n"
		 "field bits 3\nenum bits 0 ZERO\nenum bits 1 ONE\nflags bits 4 FOUR\nflags bits 0x18 "
		 "BOTH\nflags bits 8 EIGHT\n"
		 "struct whole 68, int a 0, uint b 4, mode c 8+2, bits d 10, uid e 12, gid f 16, port_be g "
		 "20+2, "
		 "ipv4_be h 22, time j 28, utime k 44, inner m 60\n"
		 "struct inner 8, int n 0, str s 4\n");
	put_name(&put, "types");
	for (unsigned number = 1; number <= 4; number++)
		put_call(&put, number, 8, arg);
	put_call(&put, 5, 0, arg);
	put_call(&put, 6, 2, arg);
	put_call(&put, 3, 8, (uint64_t[]){ 0, 0, UINT32_MAX, UINT32_MAX, 0, 0, 0, 0x5d });
	put_call(&put, 3, 8, (uint64_t[]){ 0, 0, 0, 0, 0, 77, 0, 3 });
	put_call(&put, 2, 6, (uint64_t[]){ 0, 0, 0, 0, 0, 0 });
	put_struct(&put, "whole", bytes, 68);
	put_array(&put, "inner", 8, bytes + sizeof(bytes) - 16, 16);
	put_ret(&put, 3, 0, 0644);
	put_ret(&put, 5, 0, 0);
	put_ret(&put, 1, 9, -1);
	put_ret(&put, 1, 77, -1);
	put_ret(&put, 1, 0, -5);
	put_save(&put, directory, "values");
}

/* ---- a table with the longest possible output ---- */

#define LONG_NAME "a_name_that_is_as_long_as_a_name_may_be_in_it"

static void put_wide_table(struct put *put)
{
	char text[256];

	put_begin(put, 33);
	for (unsigned n = 0; n < 64; n++) {
		snprintf(text, sizeof(text), "flags wide 0x%llx " LONG_NAME "%u\n", 1ull << n, n);
		put_text(put, text);
	}
	put_text(put, "flags rights 0xffff " LONG_NAME "\nstruct inner 256, ");
	for (unsigned n = 0; n < 32; n++) {
		snprintf(text, sizeof(text), "%s " LONG_NAME "%u %u+8,", n % 8 ? "wide" : "str", n, 8 * n);
		put_text(put, text);
	}
	put_text(put, "\nstruct outer 8192, ");
	for (unsigned n = 0; n < 32; n++) {
		snprintf(text, sizeof(text), "%s " LONG_NAME "%u %u,", n % 2 ? "inner" : "outer", n, 256 * n);
		put_text(put, text);
	}
	put_text(put, "\nstruct sockaddr 300, wide family 0+8, ipv4 address 8+2, int port 10+1\n1 " LONG_NAME
		      " wide");
	for (unsigned n = 0; n < 8; n++) {
		snprintf(text, sizeof(text), ", wide " LONG_NAME "%u", n);
		put_text(put, text);
	}
	put_text(put, "\n2 paths wide, outer one, path two, data three, sockaddr four\n");
	put_end(put);
}

static void make_wide(const char *directory)
{
	static const uint64_t arg[8] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
					 UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	static unsigned char bytes[8192];
	struct put put = put_trace(PUT_KTRX);

	memset(bytes, 0xfe, sizeof(bytes));
	put_wide_table(&put);
	put_name(&put, "\1\2\3\4\5\6\7\x8\x9\1\2\3\4\5\6\7\x8\x9\1\2\3\4\5\6\7\x8\x9\1\2\3\4\5");
	put_call(&put, 1, 8, arg);
	put_ret(&put, 1, 0, -1);
	put_call(&put, 2, 8, arg);
	put_struct(&put, "outer", bytes, sizeof(bytes));
	put_begin(&put, 3);
	put_bytes(&put, bytes, sizeof(bytes));
	put_end(&put);
	put_io(&put, 1, 1, bytes, sizeof(bytes));
	put_struct(&put, "sockaddr", bytes, sizeof(bytes));
	put_ret(&put, 2, 0, -1);
	put_array(&put, "outer", sizeof(bytes), bytes, sizeof(bytes));
	put_array(&put, "inner", 1, bytes, sizeof(bytes));
	put_struct(&put, "sockaddr", bytes, 10);
	for (unsigned type = 7; type <= 12; type += 5) {
		put_begin(&put, type);
		put_bytes(&put, bytes, sizeof(bytes));
		put_end(&put);
	}
	put_save(&put, directory, "wide");
}

/* ---- records of unknown types ---- */

static void make_unknown(const char *directory)
{
	unsigned char bytes[5000];
	struct put put = put_trace(PUT_KTRX);

	for (size_t n = 0; n < sizeof(bytes); n++)
		bytes[n] = (unsigned char)n;
	put_begin(&put, 77);
	put_bytes(&put, bytes, sizeof(bytes));
	put_end(&put);
	put_begin(&put, 78);
	put_end(&put);
	put_save(&put, directory, "unknown");
}

/* ---- clocks with an impossible frequency ---- */

static void make_fast(const char *directory)
{
	struct put put = put_trace(PUT_KTRX);
	struct ktrx_proc_head head;

	memcpy(&head, put.bytes.data, sizeof(head));
	head.frequency = UINT64_C(1000000000001);
	head.check = ktrx_proc_check(&head);
	memcpy(put.bytes.data, &head, sizeof(head));
	put_call(&put, LINUX_CLOSE, 1, (uint64_t[]){ 3 });
	put_ret(&put, LINUX_CLOSE, 0, 0);
	put_save(&put, directory, "fast");
}

/* ---- processes of several ABIs ---- */

/* FreeBSD runs its own programs and Linux programs, both of 32 and 64 bits. */
static void make_abi(const char *directory)
{
	static const uint32_t flags[] = { 0x10209, 0x10109, 0x10203, 0x10103, 0x10207 };
	struct put put = put_trace(PUT_FREEBSD1);

	for (unsigned n = 0; n < sizeof(flags) / sizeof(flags[0]); n++) {
		put.pid = 50 + n;
		put_begin(&put, 10);
		put32(&put, flags[n]);
		put_end(&put);
		put_call(&put, 3, 3, (uint64_t[]){ 5, ADDRESS, 10 });
		put_ret(&put, 3, 35, -1);
		/* lseek() to 0x100000010, which is passed in two 32-bit registers */
		put_call(&put, 478, 4, (uint64_t[]){ 5, 0x10, 1, 2 });
	}
	put.pid = 60;
	put_call(&put, 3, 3, (uint64_t[]){ 5, ADDRESS, 10 });
	put_save(&put, directory, "abi");
}

/*
 * A 32-bit and a 64-bit program run on Linux. Both make a call with the same number, which has a different
 * name in each ABI.
 */
static void make_linux32(const char *directory)
{
	struct put put = put_trace(PUT_KTRX);

	put.tid = put.pid;
	put_name(&put, "wide");
	put_call(&put, 5, 2, (uint64_t[]){ 3, 4096 });
	put.pid++;
	put.tid = put.pid;
	put_name(&put, "narrow");
	put_call(&put, 5, 2, (uint64_t[]){ 4096, 0 });
	put_over(&put, 32 + 6, 3, 2); /* the ABI of the process: i386 */
	put_ret(&put, 5, 0, 3);
	put.pid--;
	put.tid = put.pid;
	put_ret(&put, 5, 0, 0);
	put_save(&put, directory, "linux32");
}

/* ---- many sessions ---- */

#define SESSIONS 40000
#define GROWTHS	 20000

/*
 * One session has its own table, many sessions have none, and one session has a table that grows with each
 * record. Printing this trace takes minutes if kdump builds the whole table again for each record.
 */
static void make_sessions(const char *directory)
{
	struct put put = put_trace(PUT_KTRX);

	put_line(&put, 33, "1 own int");
	put_call(&put, 1, 0, NULL);
	for (int n = 0; n < SESSIONS; n++) {
		put_head(&put);
		put_call(&put, 1, 0, NULL);
	}
	put_head(&put);
	put_line(&put, 33, "1 first int\n");
	for (int n = 0; n < GROWTHS; n++) {
		put_call(&put, 1, 0, NULL);
		put_line(&put, 33,
			 n == 0 ? "2 second int\n"
				: "# nothing, at length: 0123456789 0123456789 0123456789\n");
	}
	put_call(&put, 2, 0, NULL);
	put_save(&put, directory, "sessions");
}

int main(int count, char **argument)
{
	if (count != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argument[0]);
		return EXIT_FAILURE;
	}
	make_linux(argument[1]);
	make_utrace(argument[1], "utrace", PUT_FREEBSD1);
	make_utrace(argument[1], "utrace-i386", PUT_FREEBSD0_I386);
	make_utrace(argument[1], "utrace-dragonfly", PUT_DRAGONFLY);
	make_hostile(argument[1]);
	make_values(argument[1]);
	make_wide(argument[1]);
	make_unknown(argument[1]);
	make_abi(argument[1]);
	make_fast(argument[1]);
	make_linux32(argument[1]);
	make_sessions(argument[1]);
	return EXIT_SUCCESS;
}
