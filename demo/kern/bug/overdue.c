/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Four waits that never end while the machine looks idle: for a sensor whose FIFO stays full; for a disk that
 * stops answering while its reader holds a lock; for a job that is queued without a wakeup; for a signal that
 * is given before a thread waits for it. Each wait has a variant without the mistake.
 */
#include <stddef.h>

#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "interrupt.h"
#include "mutex.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"
#include "bug/bug.h"

/* ---- A sensor ------------------------------------------------------------------------------------ */

#define SAMPLE_EVERY (50 * NS_PER_MS)
#define FIFO	     40u

static struct {
	struct wait_queue queue;
	unsigned used;	/* number of FIFO entries in use */
	unsigned count; /* number of samples in the FIFO that have not been read yet */
	bool gives_back;
} sensor = { .queue = WAIT_QUEUE("sensor") };

/* Interrupt handler: adds a sample. If the FIFO is full, the sample is lost. */
static void take_sample(void)
{
	bool irq_on = spin_lock(&sensor.queue.lock);

	if (sensor.used < FIFO) {
		sensor.used++;
		sensor.count++;
		wait_wake_one(&sensor.queue);
	}
	spin_unlock(&sensor.queue.lock, irq_on);
	doorbell_end();
}

/* The mistake: after reading a sample, does not free the sample's place in the FIFO. */
static void sampler(void *unused)
{
	(void)unused;
	for (;;) {
		bool irq_on = spin_lock(&sensor.queue.lock);

		while (sensor.count == 0)
			wait_sleep(&sensor.queue);
		sensor.count--;
		if (sensor.gives_back)
			sensor.used--;
		spin_unlock(&sensor.queue.lock, irq_on);
	}
}

static void run_sensor(bool gives_back, uint64_t until_ns)
{
	sensor.gives_back = gives_back;
	doorbell_handler = take_sample;
	thread_create("sampler", sampler, NULL, 0);
	while (!work_over(until_ns)) {
		timer_sleep(SAMPLE_EVERY);
		arch_doorbell_ring(&cpus[cpu_count - 1]);
	}
}

void bug_sensor(uint64_t until_ns)
{
	run_sensor(false, until_ns);
}

void bug_no_sensor(uint64_t until_ns)
{
	run_sensor(true, until_ns);
}

/* ---- A disk -------------------------------------------------------------------------------------- */

#define GOOD_READS 16u

static struct mutex cache = { .queue = WAIT_QUEUE("block cache") };

static struct {
	struct wait_queue answers;
	unsigned asked, answered; /* both fields are guarded by the lock of `answers` */
	uint64_t answer_ns;
	unsigned good; /* number of reads that the disk answers before it stops answering */
} disk = { .answers = DEVICE_QUEUE("disk") };

static void disk_main(void *unused)
{
	(void)unused;
	for (unsigned n = 0; n < disk.good; n++) {
		bool irq_on = spin_lock(&disk.answers.lock);

		while (disk.asked == disk.answered) {
			spin_unlock(&disk.answers.lock, irq_on);
			timer_sleep(NS_PER_MS);
			irq_on = spin_lock(&disk.answers.lock);
		}
		spin_unlock(&disk.answers.lock, irq_on);
		timer_sleep(disk.answer_ns);
		irq_on = spin_lock(&disk.answers.lock);
		disk.answered++;
		wait_wake_all(&disk.answers);
		spin_unlock(&disk.answers.lock, irq_on);
	}
}

static void read_block(void)
{
	bool irq_on;

	mutex_lock(&cache);
	irq_on = spin_lock(&disk.answers.lock);
	disk.asked++;
	while (disk.asked != disk.answered)
		wait_sleep(&disk.answers);
	spin_unlock(&disk.answers.lock, irq_on);
	mutex_unlock(&cache);
}

static void reader(unsigned n, uint64_t until_ns)
{
	while (!work_over(until_ns)) {
		read_block();
		timer_sleep((n + 1) * NS_PER_MS);
	}
}

static void run_disk(unsigned good, uint64_t answer_ns, uint64_t until_ns)
{
	disk.good = good;
	disk.answer_ns = answer_ns;
	thread_create("disk", disk_main, NULL, CPU_ANY);
	work_crew("reader", 2, reader, until_ns);
}

/* The mistake is in the disk: after GOOD_READS answers it answers no more requests. */
void bug_stuck_disk(uint64_t until_ns)
{
	run_disk(GOOD_READS, NS_PER_MS, until_ns);
}

/* Variant without the mistake: the disk is slow, but answers every request. */
void bug_no_stuck_disk(uint64_t until_ns)
{
	run_disk(UINT32_MAX, 400 * NS_PER_MS, until_ns);
}

/* ---- Jobs ---------------------------------------------------------------------------------------- */

#define JOB_EVERY (20 * NS_PER_MS)
#define JOBS	  80u

static struct {
	struct wait_queue queue;
	unsigned count;
} jobs = { .queue = WAIT_QUEUE("jobs") };

static void consumer(void *unused)
{
	(void)unused;
	for (;;) {
		bool irq_on = spin_lock(&jobs.queue.lock);

		while (jobs.count == 0)
			wait_sleep(&jobs.queue);
		jobs.count--;
		spin_unlock(&jobs.queue.lock, irq_on);
	}
}

static void put_job(bool wake)
{
	bool irq_on = spin_lock(&jobs.queue.lock);

	jobs.count++;
	if (wake)
		wait_wake_one(&jobs.queue);
	spin_unlock(&jobs.queue.lock, irq_on);
}

/* The mistake: the producer wakes the consumer for the first JOBS jobs only. */
static void producer(void *argument)
{
	const bool forgets = argument;

	for (unsigned n = 0; n < JOBS || forgets; n++) {
		timer_sleep(JOB_EVERY);
		put_job(n < JOBS);
	}
}

static void run_jobs(bool forgets, uint64_t until_ns)
{
	thread_create("consumer", consumer, NULL, 0);
	thread_create("producer", producer, forgets ? &jobs : NULL, 0);
	while (!work_over(until_ns))
		timer_sleep(NS_PER_S);
}

void bug_unwoken(uint64_t until_ns)
{
	run_jobs(true, until_ns);
}

/* Variant without the mistake: the producer ends after its last job. */
void bug_no_unwoken(uint64_t until_ns)
{
	run_jobs(false, until_ns);
}

/* ---- A signal ------------------------------------------------------------------------------------ */

static struct {
	struct wait_queue queue;
	bool given;
} start = { .queue = WAIT_QUEUE("start signal") };

/*
 * The mistake: the signal is checked before the lock is taken, and not checked again while the lock is held.
 */
static void starter(void *argument)
{
	bool there = __atomic_load_n(&start.given, __ATOMIC_ACQUIRE), irq_on;

	timer_sleep(20 * NS_PER_MS);
	irq_on = spin_lock(&start.queue.lock);
	while (argument ? !start.given : !there) {
		wait_sleep(&start.queue);
		there = true;
	}
	spin_unlock(&start.queue.lock, irq_on);
}

static void run_start(bool looks_again, uint64_t until_ns)
{
	bool irq_on;

	thread_create("starter", starter, looks_again ? &start : NULL, 0);
	timer_sleep(10 * NS_PER_MS);
	irq_on = spin_lock(&start.queue.lock);
	start.given = true;
	wait_wake_all(&start.queue);
	spin_unlock(&start.queue.lock, irq_on);
	while (!work_over(until_ns))
		timer_sleep(NS_PER_S);
}

void bug_early_signal(uint64_t until_ns)
{
	run_start(false, until_ns);
}

void bug_no_early_signal(uint64_t until_ns)
{
	run_start(true, until_ns);
}
