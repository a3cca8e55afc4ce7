/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "walk.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_NS 20000000L /* maximum time, in ns, to wait for the end of a step */

/* While a step runs, only its thread uses the members without a comment. */
struct capture_walk {
	pthread_mutex_t lock; /* for `running` and `abandoned` */
	pthread_cond_t ended;
	bool running;	/* a step runs */
	bool abandoned; /* the owner has closed the walk while a step ran; this step frees the walk */
	struct capture_stack_kernel kernel;
	char *registers, *elf;
	struct capture_stacks *stacks;
	struct capture_stack_page page;
};

static void free_walk(struct capture_walk *walk)
{
	capture_stacks_close(walk->stacks);
	pthread_cond_destroy(&walk->ended);
	pthread_mutex_destroy(&walk->lock);
	free(walk->registers);
	free(walk->elf);
	free(walk);
}

static void *run_step(void *context)
{
	struct capture_walk *walk = context;
	bool abandoned;

	if (walk->stacks)
		capture_stacks_put(walk->stacks, &walk->page);
	else if (capture_stacks_open(&walk->stacks, walk->registers, &walk->kernel) != 0)
		walk->stacks = NULL;
	pthread_mutex_lock(&walk->lock);
	walk->running = false;
	abandoned = walk->abandoned;
	pthread_cond_signal(&walk->ended);
	pthread_mutex_unlock(&walk->lock);
	if (abandoned)
		free_walk(walk);
	return NULL;
}

/* Starts a step. The thread gets no signals that are meant for the program. */
static void start_step(struct capture_walk *walk)
{
	sigset_t all, before;
	pthread_t thread;
	int error;

	walk->running = true;
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* base/changed.h */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, run_step, walk);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		run_step(walk);
	else
		pthread_detach(thread);
}

struct capture_walk *capture_walk_open(const char *registers, const struct capture_stack_kernel *kernel)
{
	struct capture_walk *walk = calloc(1, sizeof(*walk));
	pthread_condattr_t attributes;

	if (!walk)
		return NULL;
	pthread_mutex_init(&walk->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&walk->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	walk->kernel = *kernel;
	walk->registers = strdup(registers);
	walk->elf = strdup(kernel->elf ? kernel->elf : "");
	walk->kernel.elf = walk->elf;
	if (!walk->registers || !walk->elf) {
		free_walk(walk);
		return NULL;
	}
	start_step(walk);
	return walk;
}

bool capture_walk_is_ready(struct capture_walk *walk)
{
	struct timespec end;
	int error = 0;
	bool ready;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += WAIT_NS;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_nsec -= 1000000000L;
		end.tv_sec++;
	}
	pthread_mutex_lock(&walk->lock);
	while (walk->running && !error)
		error = pthread_cond_timedwait(&walk->ended, &walk->lock, &end);
	ready = !walk->running;
	pthread_mutex_unlock(&walk->lock);
	return ready;
}

struct capture_stacks *capture_walk_stacks(struct capture_walk *walk)
{
	return walk->stacks;
}

void capture_walk_put(struct capture_walk *walk, const struct capture_stack_page *page)
{
	walk->page = *page;
	start_step(walk);
}

void capture_walk_close(struct capture_walk *walk)
{
	bool running;

	if (!walk)
		return;
	pthread_mutex_lock(&walk->lock);
	running = walk->running;
	walk->abandoned = true;
	pthread_mutex_unlock(&walk->lock);
	if (!running)
		free_walk(walk);
}
