/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the clients of QMP and of gdb's protocol, with a peer that is slow, hostile, or closes the
 * connection. Also tests registers as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "analyze/note.h"
#include "capture/cpu_state.h"
#include "capture/wait.h"
#include "capture/error.h"
#include "capture/gdb.h"
#include "capture/extract.h"
#include "capture/qmp.h"

#define QUICK_MS   200
#define MUTE_MS	   5000
#define PATIENT_MS 30000
#define GREETING   "{\"QMP\": {\"version\": {}}}\r\n"
#define ENABLED	   "{\"return\": {}, \"id\": \"1\"}\r\n"

/*
 * Behaviour of a peer. The peer sends the first element of `line` immediately, and the next element each time
 * that it has received data. After the last element, it waits for the end (WAITS), sends the last element
 * again each time that it has received data (ANSWERS_ALWAYS), or sends it again and again (SENDS_ALWAYS).
 */
enum manner { WAITS, ANSWERS_ALWAYS, SENDS_ALWAYS };

struct peer {
	char path[64];
	int listener;
	const char *const *line;
	enum manner manner;
	pthread_t thread;
	char received[65536];
	size_t length;
};

/*
 * Receives bytes into the peer's buffer. Returns false if the client has closed the connection, or on an
 * error.
 */
static bool receive(struct peer *peer, int fd)
{
	ssize_t got;

	if (peer->length == sizeof(peer->received))
		peer->length = 0;
	got = recv(fd, peer->received + peer->length, sizeof(peer->received) - peer->length, 0);
	peer->length += got > 0 ? (size_t)got : 0;
	return got > 0;
}

static bool send_text(int fd, const char *line)
{
	return !*line || send(fd, line, strlen(line), MSG_NOSIGNAL) >= 0;
}

/*
 * Sends `line` repeatedly until the connection is closed, in large pieces, so that there are always bytes to
 * read.
 */
static void flood(int fd, const char *line)
{
	char *much = malloc(1 << 16), *at = much;

	while (at + strlen(line) < much + (1 << 16))
		at = stpcpy(at, line);
	while (send_text(fd, much))
		;
	free(much);
}

static void *play(void *context)
{
	struct peer *peer = context;
	int fd = accept(peer->listener, NULL, NULL);
	const char *last = "";

	for (const char *const *line = peer->line; *line; last = *line++) {
		if (line != peer->line && !receive(peer, fd))
			break;
		if (!send_text(fd, *line))
			break;
	}
	if (peer->manner == SENDS_ALWAYS)
		flood(fd, last);
	while (receive(peer, fd))
		if (peer->manner == ANSWERS_ALWAYS)
			send_text(fd, last);
	close(fd);
	return NULL;
}

static void begin_as(struct peer *peer, enum manner manner, const char *const *line)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	peer->manner = manner;
	peer->length = 0;
	snprintf(peer->path, sizeof(peer->path), "/tmp/ktrace-peer-%ld", (long)getpid());
	unlink(peer->path);
	memcpy(address.sun_path, peer->path, sizeof(peer->path));
	peer->line = line;
	peer->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(peer->listener, 1), 0);
	assert_int_equal(pthread_create(&peer->thread, NULL, play, peer), 0);
}

static void begin(struct peer *peer, const char *const *line)
{
	begin_as(peer, WAITS, line);
}

static void end(struct peer *peer)
{
	pthread_join(peer->thread, NULL);
	close(peer->listener);
	unlink(peer->path);
}

static void qmp_answers_are_separated_from_events(void **state)
{
	static const char *const lines[] = {
		GREETING,
		ENABLED,
		"{\"event\": \"STOP\", \"timestamp\": {\"seconds\": 5, \"microseconds\": 7}}\r\n"
		"{\"return\": {\"wrong\": 1}, \"id\": \"1\"}\r\n{\"return\": {\"status\": \"paused\"}, "
		"\"id\": \"2\"}\r\n",
		"{\"id\": \"3\", \"error\": {\"class\": \"GenericError\", \"desc\": \"no such "
		"\\\"thing\\\"\"}}\r\n",
		"{\"id\": \"4\", \"return\": \"CPU#0\\r\\nRIP=12\\r\\n\"}\r\n",
		NULL
	};
	struct capture_monitor monitor;
	const json_t *answer;
	struct peer peer;
	char *text;

	(void)state;
	begin(&peer, lines);
	assert_int_equal(capture_monitor_open(&monitor, peer.path, PATIENT_MS), 0);
	assert_int_equal(capture_monitor_command(&monitor, "query-status", NULL, &answer), 0);
	assert_true(capture_json_is(answer, "status", "paused"));
	assert_int_equal(monitor.stopped, 5000007);
	assert_int_equal(capture_monitor_command(&monitor, "pmemsave", NULL, &answer), CAPTURE_E_FORMAT);
	assert_non_null(strstr(capture_message(), "pmemsave: no such \"thing\""));
	assert_int_equal(capture_monitor_print(&monitor, "info registers -a", &text), 0);
	assert_string_equal(text, "CPU#0\r\nRIP=12\r\n");
	free(text);
	capture_monitor_close(&monitor);
	end(&peer);
}

/*
 * The peer sends no greeting, garbage, no answer, or an answer that is neither a result nor an error. Each
 * case is reported within a limited time.
 */
/* Each value of a message takes about 80 bytes of memory, far more than its text. */
static void message_with_too_many_values_is_refused(void **state)
{
	static char text[4 << 20];
	json_t *json;

	(void)state;
	memset(text, ',', sizeof(text));
	for (size_t n = 1; n < sizeof(text); n += 2)
		text[n] = '1';
	text[0] = '[';
	text[sizeof(text) - 2] = ']';
	assert_null(capture_json_parse(text, sizeof(text) - 1));
	text[200000] = ']';
	json = capture_json_parse(text, 200001);
	assert_int_equal(json_array_size(json), 100000);
	json_decref(json);
}

static void peer_without_qmp_is_reported(void **state)
{
	static const char *const silent[] = { "", NULL };
	static const char *const rubbish[] = { "SSH-2.0-OpenSSH_9.2\r\n{\"a\":\r\n\r\n]}\r\n", NULL };
	static const char *const mute[] = { GREETING, "", NULL };
	static const char *const odd[] = { GREETING, "{\"id\": \"1\", \"neither\": 1}\n", NULL };
	/*
	 * The timeout is long if the peer sends a greeting, because the peer may be slow on a busy machine.
	 */
	static const struct {
		const char *const *lines;
		int ms;
		const char *message;
	} peers[] = { { silent, QUICK_MS, "no greeting" },
		      { rubbish, QUICK_MS, "no greeting" },
		      { mute, MUTE_MS, "QMP does not answer" },
		      { odd, PATIENT_MS, "neither result nor error" } };
	struct capture_monitor monitor;
	struct peer peer;

	(void)state;
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		begin(&peer, peers[i].lines);
		assert_true(capture_monitor_open(&monitor, peer.path, peers[i].ms) < 0);
		assert_non_null(strstr(capture_message(), peers[i].message));
		end(&peer);
	}
	assert_true(capture_monitor_open(&monitor, "/nowhere/qmp", QUICK_MS) < 0);
	assert_true(capture_monitor_open(&monitor, "localhost:1", QUICK_MS) < 0);
}

/*
 * Opens a QMP peer whose guest has its RAM in the file `ram`. The caller closes
 * *opened and ends `peer`.
 */
static int open_with_ram_file(struct peer *peer, struct capture_peer **opened, const char *ram)
{
	static char mem_path[128];
	static const char *const lines[] = {
		GREETING,
		ENABLED,
		"{\"return\": {\"status\": \"running\"}, \"id\": \"2\"}\r\n",
		"{\"return\": \"/objects/ram\", \"id\": \"3\"}\r\n",
		"{\"return\": true, \"id\": \"4\"}\r\n",
		mem_path,
		"{\"return\": \"FlatView #0\\n AS \\\"memory\\\", root: system\\n"
		"  0000000000000000-0000000000000fff (prio 0, ram): ram\\n\", \"id\": \"6\"}\r\n",
		"{\"return\": \"no address\", \"id\": \"7\"}\r\n",
		NULL
	};

	snprintf(mem_path, sizeof(mem_path), "{\"return\": \"%s\", \"id\": \"5\"}\r\n", ram);
	begin(peer, lines);
	alarm(300); /* ends this program if a test waits for a FIFO */
	return capture_peer_open_qmp(opened, peer->path, PATIENT_MS);
}

static void ram_file_is_read(void **state)
{
	char path[] = "/tmp/ktrace-ram-XXXXXX", page[4096] = { 7 }, read[4096];
	struct capture_peer *opened = NULL;
	struct peer peer;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	assert_int_equal(open_with_ram_file(&peer, &opened, path), 0);
	assert_int_equal(ktread_memory_read(opened->memory, 0, read, sizeof(read)), 0);
	assert_memory_equal(read, page, sizeof(page));
	capture_peer_close(opened);
	end(&peer);
	unlink(path);
}

/* Memory is then read with the command pmemsave, which this peer does not answer. */
static void ram_that_is_no_regular_file_is_not_opened(void **state)
{
	char folder[] = "/tmp/ktrace-ram-XXXXXX", fifo[64];
	const char *const named[] = { fifo, folder, "/dev/zero", "/nowhere" };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct capture_peer *opened = NULL;
		struct peer peer;

		assert_int_equal(open_with_ram_file(&peer, &opened, named[i]), 0);
		assert_null(strstr(peer.received, "pmemsave"));
		assert_non_null(strstr(peer.received, "gpa2hva"));
		capture_peer_close(opened);
		end(&peer);
	}
	unlink(fifo);
	rmdir(folder);
}

/*
 * The peer sends the first element before a request, as QEMU does: each new connection halts the guest, which
 * QEMU reports.
 */
static void gdb_packets_are_read(void **state)
{
	static const char *const lines[] = { "$T02thread:01;#04", "+$T05#b9", "+$PacketSize=1000;x#a4",
					     /*
					      * an encoded repetition: the character 0 and three more of them
					      */
					     "+$0* 12#dd", "+$EF00aa#ad", "+$E14#aa", NULL };
	unsigned char bytes[3] = { 1, 1, 1 };
	struct peer peer;
	struct gdb gdb;

	(void)state;
	begin(&peer, lines);
	assert_int_equal(gdb_open(&gdb, peer.path, PATIENT_MS), 0);
	assert_int_equal(gdb_await_halt(&gdb), 0);
	assert_int_equal(gdb.most, (0x1000 - 4) / 2);
	assert_int_equal(gdb_read_memory(&gdb, 0x1000, bytes, 3), 0);
	assert_memory_equal(bytes, "\0\0\x12", 3);
	assert_int_equal(gdb_read_memory(&gdb, 0x1000, bytes, 3), 0);
	assert_memory_equal(bytes, "\xef\0\xaa", 3);
	assert_true(gdb_read_memory(&gdb, 0x1000, bytes, 3) < 0);
	assert_non_null(strstr(capture_message(), "E14"));
	gdb_close(&gdb);
	end(&peer);
}

static void hostile_gdb_replies_are_refused(void **state)
{
	static const char *const replies[] = { "",	 "$#00",   "$*~#a8",  "$1#00$1#00$1#00$1#00",
					       "$zz#f4", "$12#63", "$1* #7b", "$12345678#a4" };
	unsigned char bytes[3];

	(void)state;
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		const char *const lines[] = { replies[i], NULL };
		struct peer peer;
		struct gdb gdb;

		begin(&peer, lines);
		assert_int_equal(gdb_open(&gdb, peer.path, QUICK_MS), 0);
		assert_true(gdb_read_memory(&gdb, 0, bytes, sizeof(bytes)) < 0);
		gdb_close(&gdb);
		end(&peer);
	}
}

/* The reply uses repetitions. When they are expanded, it exceeds the maximum length of a reply. */
static void endless_gdb_reply_is_refused(void **state)
{
	char *flood = malloc(4001);
	const char *const lines[] = { flood, NULL };
	const char *reply;
	struct peer peer;
	struct gdb gdb;

	(void)state;
	flood[0] = '$';
	for (unsigned i = 1; i < 3999; i += 3)
		memcpy(flood + i, "0*~", 3);
	flood[4000] = '\0';
	flood[3997] = flood[3998] = flood[3999] = '0';
	begin(&peer, lines);
	assert_int_equal(gdb_open(&gdb, peer.path, PATIENT_MS), 0);
	assert_int_equal(gdb_command(&gdb, "g", &reply), CAPTURE_E_FORMAT);
	gdb_close(&gdb);
	end(&peer);
	free(flood);
}

/* The port belongs to a serial console, or to a QEMU that sends events all the time. */
static void reading_from_an_endless_sender_ends(void **state)
{
	static const char *const console[] = { "login: ", NULL };
	static const char *const events[] = { GREETING, "{\"event\": \"RTC_CHANGE\"}\r\n", NULL };
	struct capture_monitor monitor;
	const char *reply;
	struct peer peer;
	struct gdb gdb;

	(void)state;
	begin_as(&peer, SENDS_ALWAYS, console);
	assert_int_equal(gdb_open(&gdb, peer.path, QUICK_MS), 0);
	assert_int_equal(gdb_command(&gdb, "g", &reply), CAPTURE_E_ABSENT);
	gdb_close(&gdb);
	end(&peer);
	begin_as(&peer, SENDS_ALWAYS, console);
	assert_int_equal(capture_monitor_open(&monitor, peer.path, QUICK_MS), CAPTURE_E_ABSENT);
	end(&peer);
	begin_as(&peer, SENDS_ALWAYS, events);
	assert_int_equal(capture_monitor_open(&monitor, peer.path, QUICK_MS), CAPTURE_E_ABSENT);
	end(&peer);
}

/*
 * QEMU accepts no packet while the machine runs. So the machine must be halted before the client can detach
 * from it.
 */
static void running_machine_is_halted_again_after_errors(void **state)
{
	static const char *const lines[] = { "", "", "+$T02#b6", NULL };
	struct peer peer;
	struct gdb gdb;
	sigset_t before;

	(void)state;
	begin(&peer, lines);
	assert_int_equal(gdb_open(&gdb, peer.path, PATIENT_MS), 0);
	capture_hold_signals(&before);
	raise(SIGTERM);
	assert_true(gdb_run_for(&gdb, 5000) < 0);
	assert_int_equal(capture_take_signal(), SIGTERM);
	assert_int_equal(capture_take_signal(), 0);
	capture_release_signals(&before, 0);
	gdb_close(&gdb);
	end(&peer);
	assert_non_null(memchr(peer.received, 3, peer.length));
}

#define HALTED "$T05#b9", "+$PacketSize=1000;x#a4", "+$OK#9a"

static struct capture_peer *open_gdb(struct peer *peer, const char *const *lines)
{
	const struct capture_ranges ranges = { .range = { { 0, 4096 } }, .count = 1 };
	struct capture_peer *opened = NULL;

	begin_as(peer, ANSWERS_ALWAYS, lines);
	assert_int_equal(capture_peer_open_gdb(&opened, peer->path, &ranges, PATIENT_MS), 0);
	return opened;
}

/* The list of threads contains no thread and never ends. */
static void threads_without_names_are_refused(void **state)
{
	static const char *const lines[] = { "", HALTED, "+$m#6d", NULL };
	struct capture_peer *opened;
	struct peer peer;
	char *text = NULL;

	(void)state;
	opened = open_gdb(&peer, lines);
	assert_int_equal(opened->ops->registers(opened, EM_X86_64, &text), CAPTURE_E_FORMAT);
	assert_null(text);
	capture_peer_close(opened);
	end(&peer);
}

/* The number of requests is limited, even if answers arrive very fast. */
static void reading_can_be_interrupted(void **state)
{
	static const char *const lines[] = { "", HALTED, "+$000000#20", NULL };
	struct capture_peer *opened;
	unsigned char bytes[3];
	struct peer peer;
	sigset_t before;

	(void)state;
	opened = open_gdb(&peer, lines);
	capture_hold_signals(&before);
	raise(SIGTERM);
	assert_int_equal(ktread_memory_read(opened->memory, 0, bytes, 3), KTREAD_E_SYSTEM);
	assert_non_null(strstr(ktread_image_message(), ": interrupted"));
	assert_int_equal(capture_take_signal(), SIGTERM);
	assert_int_equal(ktread_memory_read(opened->memory, 0, bytes, 3), 0);
	capture_release_signals(&before, 0);
	capture_peer_close(opened);
	end(&peer);
}

static void check_registers(const char *printed, const char *expected)
{
	char *text = capture_registers_of_qemu(printed);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

/* A peer that is no QEMU may send any number of registers. */
static void registers_of_a_cpu_are_bounded(void **state)
{
	const unsigned count = 500000;
	char *printed = malloc(count * (size_t)16), *at = printed, *text;

	(void)state;
	assert_non_null(printed);
	at += sprintf(at, "CPU#0\n");
	for (unsigned n = 0; n < count; n++)
		at += sprintf(at, "q%u=1 ", n);
	sprintf(at, "\nCPU#1\nRIP=2\n");
	text = capture_registers_of_qemu(printed);
	assert_non_null(text);
	assert_true(strlen(text) < 10000);
	assert_non_null(strstr(text, "\ncpu 1 pc=2\n"));
	free(text);
	free(printed);
}

static void registers_of_qemu_become_lines(void **state)
{
	(void)state;
	check_registers(
		"CPU#0\r\nRAX=0000000000000001 RBP=00ff RSP=10\r\nRIP=ffffffff80001234 RFL=00000246 "
		"[---Z-P-] CPL=0 II=0 A20=1 HLT=1\r\nES =0010 0000000000000000 ffffffff 00cf9300 DPL=0 DS "
		"  [-WA]\r\nXMM00=0000000000000000 0000000000000000\r\n\r\nCPU#1\r\nRIP=2\r\n",
		"cpu 0 sp=10 pc=ffffffff80001234 rax=1 rbp=ff flags=246 cpl=0 hlt=1 es=10\ncpu 1 pc=2\n");
	check_registers(
		"\nCPU#0\n PC=0000000040221df8 X00=00000000000000ff X01=0\n SP=1 PSTATE=600003c5 -ZC- EL1h\n",
		"cpu 0 pc=40221df8 sp=1 x00=ff x01=0 pstate=600003c5\n");
	check_registers(
		"\nCPU#2\n V      =   0\n pc       0000000080000000\n x0/zero  0000000000000000 x1/ra    "
		"00000000800000ff\n f0/ft0   0000000000000001\n",
		"cpu 2 pc=80000000 zero=0 ra=800000ff\n");
	check_registers("", "");
	check_registers("CPU#", "cpu 0\n");
}

static void registers_of_gdb_become_lines(void **state)
{
	unsigned char bytes[33 * 8] = { 0 };
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);

	(void)state;
	assert_non_null(lines);
	bytes[8] = 0x34;
	bytes[9] = 0x12;
	bytes[32 * 8 + 7] = 0x80;
	capture_registers_of_gdb(lines, 0, EM_RISCV, bytes, sizeof(bytes));
	capture_registers_of_gdb(lines, 1, EM_X86_64, bytes, 20);
	capture_registers_of_gdb(lines, 2, 0, bytes, 20);
	assert_int_equal(capture_registers_finish(lines, &text), 0);
	assert_non_null(strstr(text, "cpu 0 sp=0 pc=8000000000000000 zero=0 ra=1234 "));
	assert_non_null(strstr(text, "\ncpu 1 rax=0 rbx=1234\ncpu 2\n"));
	free(text);
	lines = open_memstream(&text, &size);
	assert_non_null(lines);
	assert_int_equal(capture_registers_finish(lines, &text), 0);
	assert_null(text);
}

/* Returns the line of a CPU, which the caller frees. */
static char *line_of(uint16_t machine, const unsigned char *bytes, size_t length)
{
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);

	assert_non_null(lines);
	capture_registers_of_gdb(lines, 0, machine, bytes, length);
	assert_int_equal(capture_registers_finish(lines, &text), 0);
	return text;
}

/*
 * In a packet, the registers that show the mode have 4 bytes each and follow the general registers. A packet
 * may end after any byte.
 */
static void registers_of_gdb_include_the_mode(void **state)
{
	unsigned char bytes[33 * 8 + 4] = { 0 };
	char *text;

	(void)state;
	bytes[17 * 8] = 0x46;
	bytes[17 * 8 + 4] = 0x33;
	text = line_of(EM_X86_64, bytes, 17 * 8 + 12);
	assert_non_null(strstr(text, " r15=0 flags=46 cs=33 ss=0\n"));
	assert_int_equal(privilege_of(text), PRIVILEGE_USER);
	free(text);
	text = line_of(EM_X86_64, bytes, 17 * 8 + 6);
	assert_non_null(strstr(text, " r15=0 flags=46\n"));
	assert_int_equal(privilege_of(text), PRIVILEGE_UNKNOWN);
	free(text);
	bytes[33 * 8] = 0xc5;
	text = line_of(EM_AARCH64, bytes, sizeof(bytes));
	assert_non_null(strstr(text, " pstate=c5\n"));
	assert_int_equal(privilege_of(text), PRIVILEGE_KERNEL);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qmp_answers_are_separated_from_events),
		cmocka_unit_test(message_with_too_many_values_is_refused),
		cmocka_unit_test(peer_without_qmp_is_reported),
		cmocka_unit_test(ram_file_is_read),
		cmocka_unit_test(registers_of_a_cpu_are_bounded),
		cmocka_unit_test(ram_that_is_no_regular_file_is_not_opened),
		cmocka_unit_test(gdb_packets_are_read),
		cmocka_unit_test(hostile_gdb_replies_are_refused),
		cmocka_unit_test(endless_gdb_reply_is_refused),
		cmocka_unit_test(reading_from_an_endless_sender_ends),
		cmocka_unit_test(running_machine_is_halted_again_after_errors),
		cmocka_unit_test(threads_without_names_are_refused),
		cmocka_unit_test(reading_can_be_interrupted),
		cmocka_unit_test(registers_of_qemu_become_lines),
		cmocka_unit_test(registers_of_gdb_become_lines),
		cmocka_unit_test(registers_of_gdb_include_the_mode),
	};

	return cmocka_run_group_tests_name("capture_peer", tests, NULL, NULL);
}
