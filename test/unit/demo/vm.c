/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the memory of the demo kernel's processes: demand paging, copy-on-write, the stack's limit, and
 * running out of memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "arch.h"
#include "memory.h"
#include "share.h"
#include "vm.h"

#define AREA   USER_BASE
#define STACK  USER_STACK
#define SECRET 0x5ec2e7

static unsigned pages_before; /* number of pages that are in use after share_init() */

static int start(void **state)
{
	(void)state;
	fake_memory_reset();
	share_init();
	pages_before = fake_memory.pages_used;
	return 0;
}

static void assert_all_memory_is_freed(void)
{
	assert_int_equal(fake_memory.pages_used, pages_before);
	assert_int_equal(fake_memory.file.references, 0);
}

static void make_vm(struct vm *vm)
{
	const struct vm_area data = { .start = AREA,
				      .end = AREA + 4 * PAGE_SIZE,
				      .access = ACCESS_READ | ACCESS_WRITE };
	const struct vm_area stack = { .start = STACK - PAGE_SIZE,
				       .end = STACK,
				       .access = ACCESS_READ | ACCESS_WRITE,
				       .grows_down = true };

	assert_true(vm_init(vm));
	assert_int_equal(vm_map(vm, &data), 0);
	assert_int_equal(vm_map(vm, &stack), 0);
}

static uint64_t peek(struct vm *vm, uintptr_t address)
{
	uint64_t value;

	assert_int_equal(vm_copy_in(vm, &value, address, sizeof(value)), 0);
	return value;
}

static void poke(struct vm *vm, uintptr_t address, uint64_t value)
{
	assert_int_equal(vm_copy_out(vm, address, &value, sizeof(value)), 0);
}

static void pages_are_allocated_at_the_first_access(void **state)
{
	struct vm vm;

	(void)state;
	make_vm(&vm);
	assert_int_equal(fake_memory.pages_used, pages_before + 1);
	assert_int_equal(vm_fault(&vm, AREA + 5, ACCESS_READ), VM_ZERO);
	assert_int_equal(vm_fault(&vm, AREA + 6, ACCESS_WRITE), VM_SPURIOUS);
	assert_int_equal(fake_memory.pages_used, pages_before + 2);
	assert_int_equal(vm_fault(&vm, AREA, ACCESS_EXECUTE), VM_BAD_ACCESS);
	assert_int_equal(vm_fault(&vm, AREA + 4 * PAGE_SIZE, ACCESS_READ), VM_BAD_ADDRESS);
	assert_int_equal(vm_fault(&vm, 0, ACCESS_READ), VM_BAD_ADDRESS);
	vm_free(&vm);
	assert_all_memory_is_freed();
}

static void shared_pages_are_copied_by_the_first_writer(void **state)
{
	struct vm parent, child;

	(void)state;
	make_vm(&parent);
	poke(&parent, AREA, SECRET);
	assert_true(vm_fork(&child, &parent));
	assert_int_equal(peek(&child, AREA), SECRET);
	assert_int_equal(vm_fault(&child, AREA, ACCESS_WRITE), VM_COPY);
	poke(&child, AREA, 1);
	assert_int_equal(peek(&parent, AREA), SECRET);
	assert_int_equal(vm_fault(&parent, AREA, ACCESS_WRITE), VM_REUSE);
	assert_int_equal(vm_fault(&parent, AREA, ACCESS_WRITE), VM_SPURIOUS);
	vm_free(&parent);
	assert_int_equal(peek(&child, AREA), 1);
	vm_free(&child);
	assert_all_memory_is_freed();
}

static void the_stack_grows_to_its_limit(void **state)
{
	struct vm vm;

	(void)state;
	make_vm(&vm);
	assert_int_equal(vm_fault(&vm, STACK - 10 * PAGE_SIZE, ACCESS_WRITE), VM_ZERO);
	assert_int_equal(vm_fault(&vm, STACK - USER_STACK_MAX, ACCESS_WRITE), VM_ZERO);
	assert_int_equal(vm_fault(&vm, STACK - USER_STACK_MAX - 1, ACCESS_WRITE), VM_BAD_ADDRESS);
	vm_free(&vm);
	assert_all_memory_is_freed();
}

static void the_stack_stops_at_an_area(void **state)
{
	const struct vm_area below = { .start = STACK - 8 * PAGE_SIZE,
				       .end = STACK - 7 * PAGE_SIZE,
				       .access = ACCESS_READ };
	struct vm vm;

	(void)state;
	make_vm(&vm);
	assert_int_equal(vm_map(&vm, &below), 0);
	assert_int_equal(vm_fault(&vm, STACK - 9 * PAGE_SIZE, ACCESS_WRITE), VM_BAD_ADDRESS);
	assert_int_equal(vm_fault(&vm, STACK - 7 * PAGE_SIZE, ACCESS_WRITE), VM_ZERO);
	vm_free(&vm);
	assert_all_memory_is_freed();
}

static void parts_of_an_area_can_be_unmapped(void **state)
{
	struct vm vm;

	(void)state;
	make_vm(&vm);
	for (unsigned i = 0; i < 4; i++)
		poke(&vm, AREA + i * PAGE_SIZE, i);
	assert_int_equal(vm_unmap(&vm, AREA + PAGE_SIZE, AREA + 2 * PAGE_SIZE), 0);
	assert_int_equal(vm_fault(&vm, AREA + PAGE_SIZE, ACCESS_READ), VM_BAD_ADDRESS);
	assert_int_equal(peek(&vm, AREA), 0);
	assert_int_equal(peek(&vm, AREA + 3 * PAGE_SIZE), 3);
	assert_int_equal(vm_unmap(&vm, AREA + 1, AREA + 2 * PAGE_SIZE), -EINVAL);
	assert_int_equal(vm_unmap(&vm, 0, PAGE_SIZE), -EINVAL);
	assert_int_equal(vm_unmap(&vm, AREA, AREA + 4 * PAGE_SIZE), 0);
	vm_free(&vm);
	assert_all_memory_is_freed();
}

static void the_heap_grows_and_shrinks(void **state)
{
	struct vm vm;
	uintptr_t heap = AREA + 4 * PAGE_SIZE;

	(void)state;
	make_vm(&vm);
	vm.brk_start = vm.brk = vm.area[VM_HEAP].start = vm.area[VM_HEAP].end = heap;
	vm.area[VM_HEAP].access = ACCESS_READ | ACCESS_WRITE;
	assert_int_equal(vm_brk(&vm, 0), heap);
	assert_int_equal(vm_brk(&vm, heap + 100), heap + 100);
	poke(&vm, heap + 50, SECRET);
	assert_int_equal(vm_brk(&vm, STACK), -ENOMEM);
	assert_int_equal(vm_brk(&vm, heap), heap);
	assert_int_equal(vm_fault(&vm, heap, ACCESS_READ), VM_BAD_ADDRESS);
	assert_int_equal(vm_brk(&vm, heap + 100), heap + 100);
	assert_int_equal(peek(&vm, heap + 50), 0);
	vm_free(&vm);
	assert_all_memory_is_freed();
}

static void mmap_chooses_a_free_address(void **state)
{
	struct vm vm;
	int64_t first, second;

	(void)state;
	make_vm(&vm);
	first = vm_mmap(&vm, 0, 1, ACCESS_READ | ACCESS_WRITE, NULL, 0);
	second = vm_mmap(&vm, (uintptr_t)first, 3 * PAGE_SIZE, ACCESS_READ, NULL, 0);
	assert_true(first >= (int64_t)USER_BASE && second + 3 * PAGE_SIZE <= first);
	poke(&vm, (uintptr_t)first, SECRET);
	assert_int_equal(vm_fault(&vm, (uintptr_t)second, ACCESS_WRITE), VM_BAD_ACCESS);
	assert_int_equal(vm_mmap(&vm, 0, VM_BYTES_MAX, ACCESS_READ, NULL, 0), -ENOMEM);
	assert_int_equal(vm_mmap(&vm, 0, SIZE_MAX, ACCESS_READ, NULL, 0), -ENOMEM);
	assert_int_equal(vm_mmap(&vm, 0, 0, ACCESS_READ, NULL, 0), -EINVAL);
	vm_free(&vm);
	assert_all_memory_is_freed();
}

static void invalid_addresses_are_errors(void **state)
{
	char text[8];
	struct vm vm;

	(void)state;
	make_vm(&vm);
	assert_int_equal(vm_copy_in(&vm, text, AREA + 4 * PAGE_SIZE - 4, sizeof(text)), -EFAULT);
	assert_int_equal(vm_copy_out(&vm, UINTPTR_MAX - 3, text, sizeof(text)), -EFAULT);
	memset(text, 'x', sizeof(text));
	assert_int_equal(vm_copy_out(&vm, AREA, text, sizeof(text)), 0);
	assert_int_equal(vm_copy_string(&vm, text, AREA, sizeof(text)), -ENAMETOOLONG);
	assert_int_equal(vm_copy_string(&vm, text, AREA + 4, sizeof(text)), 4);
	assert_int_equal(vm_copy_string(&vm, text, 8, sizeof(text)), -EFAULT);
	vm_free(&vm);
	assert_all_memory_is_freed();
}

/* A process forks and its child writes. Only the first `allocations` allocations succeed. */
static void a_failed_allocation_leaks_nothing(void **state)
{
	bool whole = false;

	(void)state;
	for (unsigned allocations = 0; !whole; allocations++) {
		struct vm parent, child;

		start(state);
		make_vm(&parent);
		poke(&parent, AREA, SECRET);
		poke(&parent, AREA + PAGE_SIZE, SECRET);
		fake_memory.allocations_left = allocations;
		if (vm_fork(&child, &parent)) {
			const uint64_t value = 1;
			int error = vm_copy_out(&child, AREA, &value, sizeof(value));

			whole = error == 0;
			assert_true(whole || error == -ENOMEM);
			assert_int_equal(peek(&child, AREA), whole ? 1 : SECRET);
			vm_free(&child);
		}
		assert_int_equal(peek(&parent, AREA), SECRET);
		vm_free(&parent);
		assert_all_memory_is_freed();
	}
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pages_are_allocated_at_the_first_access),
		TEST(shared_pages_are_copied_by_the_first_writer),
		TEST(the_stack_grows_to_its_limit),
		TEST(the_stack_stops_at_an_area),
		TEST(parts_of_an_area_can_be_unmapped),
		TEST(the_heap_grows_and_shrinks),
		TEST(mmap_chooses_a_free_address),
		TEST(invalid_addresses_are_errors),
		TEST(a_failed_allocation_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
