/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <stdbool.h>
#include <string.h>

#include "qemu.h"

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
