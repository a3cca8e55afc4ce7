/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "qemu_line.h"
#include "transport.h"

#define IVSHMEM_SIZE "64M"

static const char *const names[] = {
	[CAPTURE_RAM] = "ram",	       [CAPTURE_DEBUGCON] = "debugcon", [CAPTURE_SEMIHOSTING] = "semihosting",
	[CAPTURE_IVSHMEM] = "ivshmem", [CAPTURE_VIRTIO] = "virtio",
};

int capture_transport_named(enum capture_transport *transport, const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0) {
			*transport = (enum capture_transport)i;
			return 0;
		}
	}
	return capture_fail(CAPTURE_E_USAGE,
			    "there is no transport '%s': ram, debugcon, semihosting, ivshmem or virtio",
			    name);
}

const char *capture_transport_name(enum capture_transport transport)
{
	return names[transport];
}

int capture_double_commas(const char *path, char *quoted, size_t size)
{
	size_t used = 0;

	for (; *path; path++) {
		if (used + 3 > size)
			return capture_fail(CAPTURE_E_USAGE, "path too long");
		if (*path == ',')
			quoted[used++] = ',';
		quoted[used++] = *path;
	}
	quoted[used] = '\0';
	return 0;
}

static void add_memory(struct capture_words *words, const char *id, const char *path, const char *size)
{
	capture_words_add(words, "-object");
	capture_words_format(words, "memory-backend-file,id=%s,size=%s,mem-path=%s,share=on", id, size, path);
}

static void add_file(struct capture_words *words, const char *path)
{
	capture_words_add(words, "-chardev");
	capture_words_format(words, "file,id=ktrace-out,path=%s", path);
}

static void add_virtio(struct capture_words *words, const char *architecture, const char *machine)
{
	bool pci = capture_qemu_is_x86(architecture) && strcmp(machine, "microvm") != 0;

	capture_words_add(words, "-device");
	capture_words_format(words, "virtio-serial-%s,id=ktrace-serial,max_ports=1", pci ? "pci" : "device");
	capture_words_add(words, "-device");
	capture_words_add(words, "virtconsole,chardev=ktrace-out,bus=ktrace-serial.0");
}

int capture_transport_add(enum capture_transport transport, struct capture_words *words,
			  const char *architecture, const char *machine, const char *path, uint64_t ram_bytes)
{
	char quoted[PATH_MAX * 2];
	char size[32];

	if (capture_double_commas(path, quoted, sizeof(quoted)) != 0)
		return CAPTURE_E_USAGE;
	if ((transport == CAPTURE_DEBUGCON && !capture_qemu_is_x86(architecture)) ||
	    (transport == CAPTURE_SEMIHOSTING && capture_qemu_is_x86(architecture)))
		return capture_fail(CAPTURE_E_USAGE,
				    "%s has no %s; --transport %s, virtio, ivshmem or ram work", architecture,
				    names[transport],
				    capture_qemu_is_x86(architecture) ? "debugcon" : "semihosting");
	switch (transport) {
	case CAPTURE_RAM:
		snprintf(size, sizeof(size), "%" PRIu64, ram_bytes);
		add_memory(words, CAPTURE_RAM_ID, quoted, size);
		capture_words_add(words, "-machine");
		capture_words_add(words, "memory-backend=" CAPTURE_RAM_ID);
		break;
	case CAPTURE_DEBUGCON:
		add_file(words, quoted);
		capture_words_add(words, "-device");
		capture_words_add(words, "isa-debugcon,chardev=ktrace-out,iobase=0xe9");
		break;
	case CAPTURE_SEMIHOSTING:
		add_file(words, quoted);
		capture_words_add(words, "-semihosting-config");
		/* The kernel asks for its command line and opens the file; without one it has the console. */
		capture_words_format(words, "enable=on,target=native,chardev=ktrace-out,arg=ktrace-file=%s",
				     quoted);
		break;
	case CAPTURE_IVSHMEM:
		add_memory(words, "ktrace-shared", quoted, IVSHMEM_SIZE);
		capture_words_add(words, "-device");
		capture_words_add(words, "ivshmem-plain,memdev=ktrace-shared");
		break;
	case CAPTURE_VIRTIO:
		add_file(words, quoted);
		add_virtio(words, architecture, machine);
		break;
	}
	return 0;
}
