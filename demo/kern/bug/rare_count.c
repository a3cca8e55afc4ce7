/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An image is shared by a loader and a viewer. A reference count decides when it is freed.
 * The mistake: the loader decrements the count by a load and a store. If the viewer changes the count in
 * between, this change is lost: the image is freed while it is used, or is never freed. The viewer uses the
 * image long after the loader has released it, so that happens only if something delays the loader's CPU.
 */
#include "panic.h"
#include "bug/bug.h"
#include "bug/rounds.h"

#define IMAGES 80

static struct {
	uint32_t references; /* accessed atomically */
	bool is_loaded;
} image;

static void get(void)
{
	__atomic_add_fetch(&image.references, 1, __ATOMIC_RELAXED);
}

static void free_if(bool last)
{
	if (last)
		__atomic_store_n(&image.is_loaded, false, __ATOMIC_RELEASE);
}

static void put(void)
{
	free_if(__atomic_sub_fetch(&image.references, 1, __ATOMIC_ACQ_REL) == 0);
}

static void put_fast(void)
{
	uint32_t references = __atomic_load_n(&image.references, __ATOMIC_RELAXED) - 1;

	__atomic_store_n(&image.references, references, __ATOMIC_RELAXED);
	free_if(references == 0);
}

/* The image gets two references: one of the loader, one of the viewer. */
static void load_image(void)
{
	if (image.is_loaded)
		panic("image never freed: its reference count is %u, but it has no user", image.references);
	image.is_loaded = true;
	__atomic_store_n(&image.references, 2, __ATOMIC_RELAXED);
	rounds_hand_over();
}

static void load(void)
{
	load_image();
	put_fast();
}

static void load_safely(void)
{
	load_image();
	put();
}

static void show(void)
{
	if (!__atomic_load_n(&image.is_loaded, __ATOMIC_ACQUIRE))
		panic("image freed while it is used: its reference count is %u", image.references);
}

/* The image has a further reference while it is on the screen. */
static void view(void)
{
	get();
	show();
	put();
	show();
	put();
}

void bug_rare_count(uint64_t until_ns)
{
	rounds_run(&(struct rounds){ "image", IMAGES, load, view }, until_ns);
}

void bug_no_rare_count(uint64_t until_ns)
{
	rounds_run(&(struct rounds){ "image", IMAGES, load_safely, view }, until_ns);
}
