// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A kernel in C++20 with ktrace: RISC-V 64, `qemu-system-riscv64 -M virt -bios none -kernel kernel.elf`. Every hart
// fills and empties queues, and the last one to finish powers off.
#include "queue.h"

namespace
{
constexpr uint32_t harts = 2;

volatile bool ready;
uint32_t finished;

struct job {
	uint16_t number;
	uint8_t priority;
};

KTRACE_EVENT(kernel, hello, "from hart %u", (uint32_t, hart));
KTRACE_EVENT(kernel, job, "%u of priority %u", (uint16_t, number), (uint8_t, priority));
KTRACE_EVENT(kernel, error, "ktrace error %d", (int, error));

class worker
{
      public:
	explicit worker(uint32_t number) : hart(number)
	{
	}

	void run()
	{
		auto report = [this](const job &done) {
			KTRACE(kernel, job, done.number, done.priority);
			sum += done.number;
		};
		job next;

		for (uint16_t n = 0; n < 9; n++)
			jobs.push({ .number = n, .priority = 1 });
		while (jobs.pop(next))
			report(next);
		note_sum("jobs", sum);
		drain_words(hart);
	}

      private:
	uint32_t hart;
	unsigned long long sum = 0;
	queue<job, 8> jobs;
};

// Records an error of ktrace. The kernel need not panic: recording continues in the static boot ring.
void trace_check(int error)
{
	if (error)
		KTRACE(kernel, error, error);
}
} // namespace

// Each hart starts here, with its own stack.
extern "C" [[noreturn]] void kernel_main(uint32_t hart)
{
	KTRACE(kernel, hello, hart); // the boot ring works without any initialization
	if (hart == 0) {
		trace_check(KTRACE_INIT(512 << 10, .cpus = harts, .kernel = "cplusplus"));
		__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		;
	trace_check(ktrace_cpu_online(hart));
	worker(hart).run();
	if (__atomic_add_fetch(&finished, 1, __ATOMIC_ACQ_REL) == harts) {
		ktrace_exit(0);
		*reinterpret_cast<volatile uint32_t *>(0x100000) = 0x5555; // QEMU's test device
	}
	for (;;)
		__asm__ volatile("wfi");
}

__asm__(".pushsection .text.start, \"ax\"\n"
	".globl _start\n"
	"_start:\n"
	"	csrr	tp, mhartid\n"
	"	la	sp, stacks\n"
	"	addi	t0, tp, 1\n"
	"	slli	t0, t0, 13\n" // 8 KiB each
	"	add	sp, sp, t0\n"
	"	mv	a0, tp\n"
	"	call	kernel_main\n"
	".section .bss\n"
	".balign 16\n"
	"stacks: .space 8192 * 2\n"
	".popsection\n");
