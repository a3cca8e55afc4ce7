/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes files of hardware trace for tests: records from their structures, Intel PT packets with libipt's
 * encoder, and a small program that is traced.
 */
#ifndef HWT_WRITE_H
#define HWT_WRITE_H

#include <intel-pt.h>
#include <stddef.h>
#include <stdint.h>

#include "ktrx/hwt.h"

/* ---- Packets ---- */

#define HWT_PACKETS_MOST 65536u

struct hwt_packets_writer {
	uint8_t bytes[HWT_PACKETS_MOST];
	struct pt_encoder *encoder;
};

void packets_begin(struct hwt_packets_writer *writer);
/* Completes the packet stream. Returns its size in bytes. */
size_t packets_end(struct hwt_packets_writer *writer);
size_t packets_size(const struct hwt_packets_writer *writer);
void packet_put(struct hwt_packets_writer *writer, const struct pt_packet *packet);
void packet_plain(struct hwt_packets_writer *writer, enum pt_packet_type type);
/* Writes TIP, FUP, TIP.PGE or TIP.PGD with the whole address, or without an address if it is 0. */
void packet_address(struct hwt_packets_writer *writer, enum pt_packet_type type, uint64_t address);
/* Writes branches. For example, "TNT" means taken, not taken, taken. */
void packet_branches(struct hwt_packets_writer *writer, const char *branches);
void packet_tsc(struct hwt_packets_writer *writer, uint64_t time);
void packet_pip(struct hwt_packets_writer *writer, uint64_t cr3);
/*
 * Writes a PSB and the packets after it, with the mode, the time (0: without time), the address space (0:
 * without), and the address (0: tracing is disabled).
 */
void packets_sync(struct hwt_packets_writer *writer, uint64_t time, uint64_t cr3, uint64_t address);

/* ---- Files ---- */

struct hwt_file_writer {
	uint8_t *bytes;
	size_t size, room;
	uint64_t stamp; /* timestamp for the records that are written next */
	uint32_t pid, tid;
	uint16_t cpu;
};

void file_begin(struct hwt_file_writer *writer);
/* Writes a record whose payload consists of two parts, in this order. */
void file_record(struct hwt_file_writer *writer, unsigned type, unsigned flags, const void *head,
		 size_t head_size, const void *bytes, size_t size);
/* Writes a context: in thread mode for process `target`, or if `target` is 0, in CPU mode. */
void file_context(struct hwt_file_writer *writer, uint32_t ident, uint32_t target);
void file_data(struct hwt_file_writer *writer, uint32_t ident, uint32_t unit, uint64_t position,
	       const void *bytes, size_t size);
void file_code(struct hwt_file_writer *writer, uint64_t address, uint64_t space, const void *bytes,
	       size_t size);
void file_clock(struct hwt_file_writer *writer, uint64_t unit_time, uint64_t stamp, uint64_t frequency);
void file_image(struct hwt_file_writer *writer, unsigned type, uint64_t address, uint64_t size,
		uint64_t offset, const char *path);
/*
 * Writes all bytes to a file, and frees them. Stores the file's path in `path`, which has room for 64 bytes.
 */
void file_end(struct hwt_file_writer *writer, char *path);

/* ---- A program ---- */

/* A program in which main, in an endless loop, calls leaf, and then jumps over two NOPs or executes them. */
#define PROGRAM_AT   UINT64_C(0x401000)
#define PROGRAM_JNE  UINT64_C(0x401005)
#define PROGRAM_NOPS UINT64_C(0x401007)
#define PROGRAM_JMP  UINT64_C(0x401009)
#define PROGRAM_LEAF UINT64_C(0x401010)
#define PROGRAM_SIZE 19u
extern const uint8_t program[PROGRAM_SIZE];
/*
 * Writes the program as an ELF file with the names of its functions, linked at PROGRAM_AT. Stores the file's
 * path in `path`, which has room for 64 bytes.
 */
void program_write(char *path, const uint8_t *code);

#endif
