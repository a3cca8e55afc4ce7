/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Makes devices act at the same virtual times in each run. */
#include "parts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu.h"

/* ---- Disks ---- */

static bool has_ports;

/*
 * Called outside of the guest's code, where interrupts may be raised. A completed request may start the next
 * request.
 */
static void complete_requests(void)
{
	struct AioContext *context = qemu_get_aio_context();

	do
		bdrv_drain_all();
	while (aio_poll(context, false));
}

static void access_device(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	const struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(info, address);

	(void)cpu;
	(void)data;
	if (place != NULL && qemu_plugin_hwaddr_is_io(place))
		cpus_call(complete_requests);
}

static void access_port(unsigned cpu, void *data)
{
	(void)cpu;
	(void)data;
	cpus_call(complete_requests);
}

/*
 * Returns true for the accesses to x86 ports that can begin a request: outs, ins, `out` to the port in dx,
 * and `in` from this port if it reads more than one byte. An `in` of one byte, as from a status register,
 * begins no request, nor does an access to a port below 256.
 */
static bool begins_request(const struct qemu_plugin_insn *insn)
{
	unsigned char bytes[API_INSTRUCTION_MOST];
	size_t size = api_bytes(insn, bytes), at = 0;

	while (at + 1 < size &&
	       (bytes[at] == 0x66 || bytes[at] == 0x67 || bytes[at] == 0xf2 || bytes[at] == 0xf3))
		at++;
	return size == 0 || (bytes[at] >= 0x6c && bytes[at] <= 0x6f) ||
	       (bytes[at] >= 0xed && bytes[at] <= 0xef);
}

static void look(struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);

	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);

		if (has_ports && begins_request(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, access_port, QEMU_PLUGIN_CB_NO_REGS,
							       NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, access_device, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
	}
}

const char *disks_open(const char *target)
{
	if (qemu_get_aio_context == NULL || aio_poll == NULL || bdrv_drain_all == NULL)
		return "this QEMU does not export the functions of its disks";
	has_ports = strcmp(target, "x86_64") == 0 || strcmp(target, "i386") == 0;
	blocks_add(look);
	return NULL;
}

/* ---- Input ---- */

/* time in ns between two bytes, about that of a serial line with 115,200 bits per second */
#define BYTE_NS	    INT64_C(100000)
#define NANOSECONDS 1e9

static FILE *script;
static char *line; /* the line of the script that is typed next, with a carriage return */
static size_t room;
static const char *next; /* the next byte of the line to be typed */
static int64_t begin;	 /* virtual time in ns at which this line of the script is typed */

static struct {
	_Alignas(16) unsigned char bytes[QEMU_TIMER_BYTES];
} timer;

static struct QEMUTimer *its_timer(void)
{
	return (void *)&timer;
}

/* Reads the next line. Returns false at the end of the script, or if the line has no valid time. */
static bool read_line(void)
{
	ssize_t length = getline(&line, &room, script);
	char *text;
	double seconds;

	if (length <= 0)
		return false;
	if (line[length - 1] == '\n')
		line[length - 1] = '\r';
	seconds = strtod(line, &text);
	if (text == line || seconds < 0 || seconds > 1e9)
		return false;
	next = text + (*text == ' ');
	begin = (int64_t)(seconds * NANOSECONDS);
	return true;
}

/*
 * If the serial line shares the terminal with the monitor, its own device is "serial0-base". Bytes are typed
 * on that device.
 */
static struct Chardev *serial_line(void)
{
	struct Chardev *base = qemu_chr_find("serial0-base");

	return base != NULL ? base : qemu_chr_find("serial0");
}

/* Types a byte if the serial line can take one, and sets the timer again. */
static void type_byte(void *data)
{
	struct Chardev *serial = serial_line();
	int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

	(void)data;
	if (serial == NULL)
		return;
	if (*next != '\0' && qemu_chr_be_can_write(serial) > 0)
		qemu_chr_be_write(serial, (uint8_t *)next++, 1);
	if (*next == '\0' && !read_line())
		return;
	timer_mod_ns(its_timer(), begin > now + BYTE_NS ? begin : now + BYTE_NS);
}

const char *input_open(const char *path)
{
	script = fopen(path, "re");
	if (script == NULL)
		return strerror(errno);
	if (qemu_chr_find == NULL || qemu_chr_be_can_write == NULL || qemu_chr_be_write == NULL)
		return "this QEMU does not export the functions of its serial lines";
	if (!read_line())
		return "expected lines \"SECONDS TEXT\"";
	timer_init_full(its_timer(), NULL, QEMU_CLOCK_VIRTUAL, QEMU_SCALE_NS, 0, type_byte, NULL);
	timer_mod_ns(its_timer(), begin);
	return NULL;
}
