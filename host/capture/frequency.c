/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frequency.h"

#define FIRST_GAP 0.05 /* s; doubles, so that a run takes few samples */
#define LEAST_GAP 0.04 /* s; a shorter one tells nothing */

void capture_frequency_reset(struct capture_frequency *frequency)
{
	*frequency = (struct capture_frequency){ 0 };
}

/* Stamp of the newest event in a snapshot of the image, 0 if there is none. */
static uint64_t newest_stamp(struct ktread_image *image)
{
	int fd = memfd_create("ktrace-snapshot", MFD_CLOEXEC);
	const struct ktread_event *event;
	struct ktread *trace = NULL;
	uint64_t newest = 0;
	char path[32];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ktread_image_write(image, fd, NULL, 0) == 0 && ktread_open(&trace, path, NULL) == 0)
		while (ktread_next(trace, &event) > 0)
			newest = event->stamp > newest ? event->stamp : newest;
	ktread_close(trace);
	close(fd);
	return newest;
}

void capture_frequency_sample(struct capture_frequency *frequency, struct ktread_image *image,
			      double (*now)(void))
{
	double time = now();
	uint64_t stamp;

	if (frequency->samples && time < frequency->next)
		return;
	stamp = newest_stamp(image);
	if (stamp == 0 || stamp < frequency->last_stamp)
		return;
	if (frequency->samples++ == 0) {
		frequency->first_time = time;
		frequency->first_stamp = stamp;
	}
	frequency->last_time = time;
	frequency->last_stamp = stamp;
	frequency->next = time + FIRST_GAP + (time - frequency->first_time);
}

uint64_t capture_frequency_get(const struct capture_frequency *frequency)
{
	double gap = frequency->last_time - frequency->first_time;

	if (gap < LEAST_GAP || frequency->last_stamp <= frequency->first_stamp)
		return 0;
	return (uint64_t)((double)(frequency->last_stamp - frequency->first_stamp) / gap + 0.5);
}
