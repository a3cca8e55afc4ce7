/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Configures libipt, and gives it the code to decode: as sections (its image) and by a callback. */
#include "base/grow.h"
#include "pt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decoder.h"

#define FILTER 1u /* value of IA32_RTIT_CTL.ADDRn_CFG: trace only within the address range */

static void set_ranges(struct pt_conf_addr_filter *filter, const struct ktrx_hwt_context *context)
{
	uint64_t *const first[] = { &filter->addr0_a, &filter->addr1_a, &filter->addr2_a, &filter->addr3_a };
	uint64_t *const last[] = { &filter->addr0_b, &filter->addr1_b, &filter->addr2_b, &filter->addr3_b };

	for (uint32_t i = 0; i < context->ranges && i < 4; i++) {
		if (context->range[i].end <= context->range[i].start)
			continue;
		*first[i] = context->range[i].start;
		*last[i] = context->range[i].end - 1;
		filter->config.addr_cfg |= (uint64_t)FILTER << (4 * i);
	}
}

void hwt_pt_configure(struct pt_config *config, const struct hwt_stream *stream,
		      const struct hwt_piece *piece)
{
	pt_config_init(config);
	config->begin = (uint8_t *)(uintptr_t)piece->bytes;
	config->end = config->begin + piece->size;
	config->cpu = pt_newer_cpu(&stream->pt);
	if (config->cpu.vendor == pcv_intel)
		pt_newer_errata(&config->errata, &config->cpu);
	config->decode.callback = pt_newer_read;
	config->mtc_freq = stream->pt.mtc_frequency;
	config->nom_freq = stream->pt.nominal_frequency;
	config->cpuid_0x15_eax = stream->pt.cpuid_15_eax;
	config->cpuid_0x15_ebx = stream->pt.cpuid_15_ebx;
	set_ranges(&config->addr_filter, &stream->context);
}

/* maximum size, in bytes, of the sections (with their block caches) that libipt keeps mapped */
#define MAPPED (UINT64_C(4) << 30)
/* maximum number of unknown bytes between two runs of code in one section */
#define GAP 65536u
/* filler for unknown bytes: a prefix; a sequence of only this prefix is never an instruction */
#define UNKNOWN 0x66

/* Code that does not change, stored in a memory file. */
struct section {
	uint64_t address, size, offset, space;
};

struct pt_sections {
	struct hwt_images *images;
	uint32_t pid;
	uint64_t (*now)(void *decoder);
	void *decoder;
	uint64_t changes; /* value of `changes` in the view when `image` was made */
	struct pt_image *image;
	struct pt_image_section_cache *cache;
	struct hwt_code_runs runs; /* runs of code in the period of the sections */
	bool gathered;		   /* true if the sections of code are complete */
	/* descriptor of the memory file that contains the bytes of the sections; -1: none */
	int code;
	char code_path[32];
	struct section *section;
	size_t sections;
	uint32_t room;
};

/* ---- The callback for code that libipt asks for ---- */

static int ask(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t address, void *context)
{
	struct pt_sections *sections = context;
	const uint64_t space = asid && asid->cr3 != pt_asid_no_cr3 ? asid->cr3 : 0;
	const size_t got = hwt_images_read(sections->images, sections->pid, space,
					   sections->now(sections->decoder), address, buffer, size);

	return got ? (int)got : -pte_nomap;
}

/* ---- Code ---- */

/*
 * Writes the bytes of a section. Bytes that are not in the recorded code come from files, by
 * hwt_images_read().
 */
static int write_section(struct pt_sections *sections, const struct section *section, uint64_t stamp)
{
	unsigned char *bytes = malloc(section->size);
	ssize_t wrote;

	if (!bytes)
		return KTREAD_E_MEMORY;
	memset(bytes, UNKNOWN, section->size);
	for (uint64_t at = 0; at < section->size;) {
		const uint64_t address = section->address + at, left = section->size - at;
		size_t done = hwt_images_read(sections->images, sections->pid, section->space, stamp, address,
					      bytes + at, left);

		if (!done)
			done = hwt_images_unknown(sections->images, sections->pid, section->space, stamp,
						  address, left);
		at += done ? done : 1;
	}
	wrote = pwrite(sections->code, bytes, section->size, (off_t)section->offset);
	free(bytes);
	return wrote == (ssize_t)section->size ? 0 : KTREAD_E_MEMORY;
}

static int add_section(struct pt_sections *sections, const struct hwt_code_run *run)
{
	struct section *last = sections->sections ? &sections->section[sections->sections - 1] : NULL, *grown;

	/* code that changes must not be within a section, not even in a gap between two runs */
	if (last && !run->apart && last->space == run->space && run->address >= last->address + last->size &&
	    run->address - (last->address + last->size) <= GAP) {
		last->size = run->address + run->size - last->address;
		return 0;
	}
	grown = base_grow(sections->section, &sections->room, sections->sections + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	sections->section = grown;
	sections->section[sections->sections++] =
		(struct section){ .address = run->address, .size = run->size, .space = run->space };
	return 0;
}

static int write_sections(struct pt_sections *sections, uint64_t stamp)
{
	uint64_t offset = 0;
	int status = 0;

	sections->code = memfd_create("code", MFD_CLOEXEC);
	if (sections->code < 0)
		return KTREAD_E_SYSTEM;
	snprintf(sections->code_path, sizeof(sections->code_path), "/proc/self/fd/%d", sections->code);
	for (size_t i = 0; i < sections->sections && status == 0; i++) {
		struct section *section = &sections->section[i];

		section->offset = offset;
		status = write_section(sections, section, stamp);
		offset += (section->size + 4095) & ~UINT64_C(4095);
	}
	return status;
}

static void drop_code(struct pt_sections *sections)
{
	if (sections->cache)
		pt_iscache_free(sections->cache);
	if (sections->code >= 0)
		close(sections->code);
	sections->cache = NULL;
	sections->code = -1;
	sections->sections = 0;
	sections->gathered = false;
}

/* Collects the code of the period that contains a timestamp. */
static int gather_code(struct pt_sections *sections, uint64_t stamp)
{
	const struct hwt_code_runs *runs = &sections->runs;
	int status;

	drop_code(sections);
	sections->cache = pt_iscache_alloc(NULL);
	if (!sections->cache || pt_iscache_set_limit(sections->cache, MAPPED) < 0)
		return KTREAD_E_MEMORY;
	status = hwt_codes_runs(sections->images->codes, stamp, &sections->runs);
	for (size_t i = runs->changing; status == 0 && i < runs->count; i++)
		status = add_section(sections, &runs->run[i]);
	if (status == 0 && sections->sections)
		status = write_sections(sections, stamp);
	sections->gathered = status == 0;
	return status;
}

/* Returns true if the sections of code are valid at a timestamp. */
static bool has_code(const struct pt_sections *sections, uint64_t stamp)
{
	const struct hwt_code_runs *runs = &sections->runs;

	return sections->gathered &&
	       (stamp ? stamp >= runs->from && stamp < runs->until : runs->until == UINT64_MAX);
}

/* ---- The image ---- */

static int add(struct pt_sections *sections, struct pt_image *image, const char *path, uint64_t offset,
	       uint64_t size, uint64_t address, const struct pt_asid *asid)
{
	const int number = pt_iscache_add_file(sections->cache, path, offset, size, address);

	if (number == -pte_nomem)
		return KTREAD_E_MEMORY;
	/* if libipt does not accept a section, it asks for that code by the callback instead */
	if (number > 0)
		pt_image_add_cached(image, sections->cache, number, asid);
	return 0;
}

/* Adds a range of a file to the image, without the parts that were replaced by code that changes. */
static int add_span(struct pt_sections *sections, struct pt_image *image, const struct hwt_span *span,
		    size_t *run_at)
{
	const uint64_t last = span->address + (span->size - 1);
	const struct hwt_code_runs *runs = &sections->runs;
	uint64_t address = span->address;
	int status = 0;

	for (; *run_at < runs->changing && runs->run[*run_at].address <= last && status == 0; ++*run_at) {
		const struct hwt_code_run *run = &runs->run[*run_at];

		if (run->address + run->size <= address)
			continue;
		if (run->address > address)
			status = add(sections, image, span->binary->path,
				     span->offset + (address - span->address), run->address - address,
				     address, NULL);
		address = run->address + run->size;
		if (address == 0 || address > last)
			return status;
	}
	return status < 0 ? status
			  : add(sections, image, span->binary->path, span->offset + (address - span->address),
				last - address + 1, address, NULL);
}

static int add_code(struct pt_sections *sections, struct pt_image *image)
{
	int status = 0;

	for (size_t i = 0; i < sections->sections && status == 0; i++) {
		const struct section *section = &sections->section[i];
		struct pt_asid asid;

		pt_asid_init(&asid);
		asid.cr3 = section->space;
		status = add(sections, image, sections->code_path, section->offset, section->size,
			     section->address, section->space ? &asid : NULL);
	}
	return status;
}

static int fill(struct pt_sections *sections, struct pt_image *image, const struct hwt_view *view)
{
	size_t run = 0;
	int status = 0;

	for (size_t i = 0; i < view->spans && status == 0; i++)
		status = add_span(sections, image, &view->span[i], &run);
	return status < 0 ? status : add_code(sections, image);
}

struct pt_image *pt_sections_at(struct pt_sections *sections, uint64_t stamp, uint64_t *until)
{
	const bool has = has_code(sections, stamp);
	const struct hwt_view *view;
	struct pt_image *image;

	if (!has && gather_code(sections, stamp) < 0)
		return NULL;
	view = hwt_images_view(sections->images, sections->pid, stamp);
	if (!view)
		return NULL;
	*until = view->until < sections->runs.until ? view->until : sections->runs.until;
	if (has && sections->image && sections->changes == view->changes)
		return sections->image;
	image = pt_image_alloc(NULL);
	if (!image)
		return NULL;
	pt_image_set_callback(image, ask, sections);
	if (fill(sections, image, view) < 0) {
		pt_image_free(image);
		return NULL;
	}
	pt_image_free(sections->image);
	sections->image = image;
	sections->changes = view->changes;
	return image;
}

struct pt_sections *pt_sections_open(struct hwt_images *images, uint32_t pid, uint64_t (*now)(void *decoder),
				     void *decoder)
{
	struct pt_sections *sections = calloc(1, sizeof(*sections));

	if (!sections)
		return NULL;
	sections->images = images;
	sections->pid = pid;
	sections->now = now;
	sections->decoder = decoder;
	sections->code = -1;
	return sections;
}

void pt_sections_close(struct pt_sections *sections)
{
	if (!sections)
		return;
	if (sections->image)
		pt_image_free(sections->image);
	drop_code(sections);
	free(sections->runs.run);
	free(sections->section);
	free(sections);
}
