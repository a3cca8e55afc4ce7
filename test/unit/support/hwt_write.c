/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_write.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "hwt_write: %s\n", what);
	abort();
}

/* ---- Packets ---- */

void packets_begin(struct hwt_packets_writer *writer)
{
	struct pt_config config;

	pt_config_init(&config);
	config.begin = writer->bytes;
	config.end = writer->bytes + sizeof(writer->bytes);
	writer->encoder = pt_alloc_encoder(&config);
	need(writer->encoder != NULL, "encoder");
}

size_t packets_size(const struct hwt_packets_writer *writer)
{
	uint64_t size = 0;

	need(pt_enc_get_offset(writer->encoder, &size) == 0, "offset");
	return (size_t)size;
}

size_t packets_end(struct hwt_packets_writer *writer)
{
	const size_t size = packets_size(writer);

	pt_free_encoder(writer->encoder);
	writer->encoder = NULL;
	return size;
}

void packet_put(struct hwt_packets_writer *writer, const struct pt_packet *packet)
{
	need(pt_enc_next(writer->encoder, packet) > 0, "packet");
}

void packet_plain(struct hwt_packets_writer *writer, enum pt_packet_type type)
{
	packet_put(writer, &(struct pt_packet){ .type = type });
}

void packet_address(struct hwt_packets_writer *writer, enum pt_packet_type type, uint64_t address)
{
	packet_put(writer,
		   &(struct pt_packet){ .type = type,
					.payload.ip = { .ipc = address ? pt_ipc_full : pt_ipc_suppressed,
							.ip = address } });
}

void packet_branches(struct hwt_packets_writer *writer, const char *branches)
{
	struct pt_packet packet = { .type = strlen(branches) > 6 ? ppt_tnt_64 : ppt_tnt_8 };

	for (; *branches; branches++) {
		packet.payload.tnt.payload = packet.payload.tnt.payload << 1 | (*branches == 'T');
		packet.payload.tnt.bit_size++;
	}
	packet_put(writer, &packet);
}

void packet_tsc(struct hwt_packets_writer *writer, uint64_t time)
{
	packet_put(writer, &(struct pt_packet){ .type = ppt_tsc, .payload.tsc.tsc = time });
}

void packet_pip(struct hwt_packets_writer *writer, uint64_t cr3)
{
	packet_put(writer, &(struct pt_packet){ .type = ppt_pip, .payload.pip.cr3 = cr3 });
}

void packets_sync(struct hwt_packets_writer *writer, uint64_t time, uint64_t cr3, uint64_t address)
{
	packet_plain(writer, ppt_psb);
	if (time)
		packet_tsc(writer, time);
	if (cr3)
		packet_pip(writer, cr3);
	packet_put(writer,
		   &(struct pt_packet){ .type = ppt_mode,
					.payload.mode = { .leaf = pt_mol_exec,
							  .bits.exec = pt_set_exec_mode(ptem_64bit) } });
	if (address)
		packet_address(writer, ppt_fup, address);
	packet_plain(writer, ppt_psbend);
}

/* ---- Files ---- */

static void put(struct hwt_file_writer *writer, const void *bytes, size_t size)
{
	if (writer->room - writer->size < size) {
		writer->room = (writer->size + size) * 2;
		writer->bytes = realloc(writer->bytes, writer->room);
		need(writer->bytes != NULL, "memory");
	}
	if (size)
		memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

void file_begin(struct hwt_file_writer *writer)
{
	struct ktrx_proc_head head = { .version = KTRX_PROC_VERSION,
				       .frequency = 1000000000,
				       .machine = EM_X86_64,
				       .head_size = sizeof(head),
				       .record_head = sizeof(struct ktrx_proc_record) };

	*writer = (struct hwt_file_writer){ .stamp = 1000, .cpu = KTRX_PROC_NO_CPU };
	memcpy(head.magic, KTRX_PROC_MAGIC, 4);
	head.check = ktrx_proc_check(&head);
	put(writer, &head, sizeof(head));
}

void file_record(struct hwt_file_writer *writer, unsigned type, unsigned flags, const void *head,
		 size_t head_size, const void *bytes, size_t size)
{
	const struct ktrx_proc_record record = { .size = (uint32_t)(head_size + size),
						 .type = (uint16_t)type,
						 .flags = (uint16_t)flags,
						 .stamp = writer->stamp,
						 .pid = writer->pid,
						 .tid = writer->tid,
						 .cpu = writer->cpu,
						 .mark = KTRX_PROC_MARK };

	put(writer, &record, sizeof(record));
	put(writer, head, head_size);
	put(writer, bytes, size);
	put(writer, "\0\0\0\0\0\0\0", -(head_size + size) % 8);
}

void file_context(struct hwt_file_writer *writer, uint32_t ident, uint32_t target)
{
	const struct ktrx_hwt_context context = { .ident = ident,
						  .mode = target ? KTRX_HWT_MODE_THREAD : KTRX_HWT_MODE_CPU,
						  .encoding = KTRX_HWT_ENCODING_PT,
						  .backend = KTRX_HWT_BACKEND_MOCK,
						  .level = KTRX_HWT_USER,
						  .target = target };
	const struct ktrx_hwt_pt pt = { .flags = KTRX_HWT_PT_SOFTWARE };

	file_record(writer, KTRX_HWT_CONTEXT, 0, &context, sizeof(context), &pt, sizeof(pt));
}

void file_data(struct hwt_file_writer *writer, uint32_t ident, uint32_t unit, uint64_t position,
	       const void *bytes, size_t size)
{
	const struct ktrx_hwt_data data = { .context = ident, .unit = unit, .position = position };

	file_record(writer, KTRX_HWT_DATA, 0, &data, sizeof(data), bytes, size);
}

void file_code(struct hwt_file_writer *writer, uint64_t address, uint64_t space, const void *bytes,
	       size_t size)
{
	const struct ktrx_hwt_code code = { .address = address, .space = space };

	file_record(writer, KTRX_HWT_CODE, 0, &code, sizeof(code), bytes, size);
}

void file_clock(struct hwt_file_writer *writer, uint64_t unit_time, uint64_t stamp, uint64_t frequency)
{
	const struct ktrx_hwt_clock clock = {
		.unit_time = unit_time, .stamp = stamp, .unit_frequency = frequency, .unit = UINT32_MAX
	};

	file_record(writer, KTRX_HWT_CLOCK, 0, &clock, sizeof(clock), NULL, 0);
}

void file_image(struct hwt_file_writer *writer, unsigned type, uint64_t address, uint64_t size,
		uint64_t offset, const char *path)
{
	const struct ktrx_hwt_image image = {
		.address = address, .size = size, .offset = offset, .access = 5, .context = 1
	};
	const struct ktrx_hwt_unmap unmap = { .address = address, .size = size, .context = 1 };

	if (type == KTRX_HWT_MUNMAP)
		file_record(writer, type, 0, &unmap, sizeof(unmap), NULL, 0);
	else
		file_record(writer, type, 0, &image, sizeof(image), path, strlen(path));
}

static void save(const void *bytes, size_t size, char *path)
{
	int file;

	strcpy(path, "/tmp/hwt-test-XXXXXX");
	file = mkstemp(path);
	need(file >= 0 && write(file, bytes, size) == (ssize_t)size, "file");
	close(file);
}

void file_end(struct hwt_file_writer *writer, char *path)
{
	save(writer->bytes, writer->size, path);
	free(writer->bytes);
}

/* ---- A program ---- */

const uint8_t program[PROGRAM_SIZE] = {
	0xe8, 0x0b, 0,	  0,	0,    /* main: call leaf */
	0x75, 0x02,		      /* jne: jumps over the two NOPs */
	0x90, 0x90,		      /* nop, nop */
	0xeb, 0xf5,		      /* jmp main */
	0x90, 0x90, 0x90, 0x90, 0x90, /* */
	0x31, 0xc0,		      /* leaf: xor %eax,%eax */
	0xc3,			      /* ret */
};

/* The ELF file that program_write() makes: only the parts that are needed to find its two names. */
struct program_file {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	uint8_t code[PROGRAM_SIZE];
	char names[16];
	char sections[32];
	Elf64_Sym symbol[3];
	Elf64_Shdr section[5];
};

#define CODE_AT	    offsetof(struct program_file, code)
#define NAMES	    "\0main\0leaf"
#define SECTIONS    "\0.text\0.symtab\0.strtab\0.shstrtab"
#define SYMBOL_INFO ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

static void describe(struct program_file *file)
{
	file->section[1] = (Elf64_Shdr){ .sh_name = 1,
					 .sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					 .sh_addr = PROGRAM_AT,
					 .sh_offset = CODE_AT,
					 .sh_size = PROGRAM_SIZE,
					 .sh_addralign = 1 };
	file->section[2] = (Elf64_Shdr){ .sh_name = 7,
					 .sh_type = SHT_SYMTAB,
					 .sh_offset = offsetof(struct program_file, symbol),
					 .sh_size = sizeof(file->symbol),
					 .sh_link = 3,
					 .sh_info = 1,
					 .sh_addralign = 8,
					 .sh_entsize = sizeof(Elf64_Sym) };
	file->section[3] = (Elf64_Shdr){ .sh_name = 15,
					 .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct program_file, names),
					 .sh_size = sizeof(file->names),
					 .sh_addralign = 1 };
	file->section[4] = (Elf64_Shdr){ .sh_name = 23,
					 .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct program_file, sections),
					 .sh_size = sizeof(file->sections),
					 .sh_addralign = 1 };
	file->symbol[1] = (Elf64_Sym){
		.st_name = 1, .st_info = SYMBOL_INFO, .st_shndx = 1, .st_value = PROGRAM_AT, .st_size = 11
	};
	file->symbol[2] = (Elf64_Sym){
		.st_name = 6, .st_info = SYMBOL_INFO, .st_shndx = 1, .st_value = PROGRAM_LEAF, .st_size = 3
	};
}

void program_write(char *path, const uint8_t *code)
{
	struct program_file file = { 0 };

	file.head = (Elf64_Ehdr){ .e_type = ET_EXEC,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_entry = PROGRAM_AT,
				  .e_phoff = offsetof(struct program_file, segment),
				  .e_shoff = offsetof(struct program_file, section),
				  .e_ehsize = sizeof(Elf64_Ehdr),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 1,
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = 5,
				  .e_shstrndx = 4 };
	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_ident[EI_DATA] = ELFDATA2LSB;
	file.head.e_ident[EI_VERSION] = EV_CURRENT;
	file.segment = (Elf64_Phdr){ .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_offset = CODE_AT,
				     .p_vaddr = PROGRAM_AT,
				     .p_filesz = PROGRAM_SIZE,
				     .p_memsz = PROGRAM_SIZE,
				     .p_align = 1 };
	memcpy(file.code, code, PROGRAM_SIZE);
	memcpy(file.names, NAMES, sizeof(NAMES));
	memcpy(file.sections, SECTIONS,
	       sizeof(SECTIONS) < sizeof(file.sections) ? sizeof(SECTIONS) : sizeof(file.sections));
	describe(&file);
	save(&file, sizeof(file), path);
}
