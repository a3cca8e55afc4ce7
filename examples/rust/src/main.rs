// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! A kernel in Rust with ktrace: RISC-V 64, `qemu-system-riscv64 -M virt -bios none -kernel kernel`. Every hart
//! switches between two threads, which share a counter under a lock. The last hart to finish powers off.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use ktrace_core::state::{By, NOBODY};
use ktrace_core::{event, name, record, Config};

mod trace {
    ktrace_core::facts!(switch, contend, acquire, release);
}

event!(HELLO: example.hello, "from hart %u", hart: u32);
event!(COUNT: example.count, "%u by %s", n: u32, whose: &str);
event!(ERROR: example.error, "ktrace error %d", error: i32);

const HARTS: u32 = 4;
const TURNS: u32 = 100;

/// Page-aligned memory for ktrace.
#[repr(C, align(4096))]
struct Memory([u8; 512 << 10]);
static mut MEMORY: Memory = Memory([0; 512 << 10]);
static READY: AtomicBool = AtomicBool::new(false);
static FINISHED: AtomicU32 = AtomicU32::new(0);
static COUNTER: Lock = Lock { taken: AtomicBool::new(false), value: AtomicU32::new(0) };

/// A spinlock and the counter that it protects.
struct Lock {
    taken: AtomicBool,
    value: AtomicU32,
}

impl Lock {
    /// Adds one and returns the sum.
    fn count(&self) -> u32 {
        if self.taken.swap(true, Ordering::Acquire) {
            trace::contend(self, name!("counter"), By::Cpu, NOBODY);
            while self.taken.swap(true, Ordering::Acquire) {
                core::hint::spin_loop();
            }
        }
        trace::acquire(self, By::Cpu);
        let value = self.value.load(Ordering::Relaxed) + 1;
        self.value.store(value, Ordering::Relaxed);
        trace::release(self, By::Cpu);
        self.taken.store(false, Ordering::Release);
        value
    }
}

/// Records an error of ktrace. The kernel need not panic: the hart continues to record in the static boot ring.
fn check(result: Result<(), ktrace_core::Error>) {
    if let Err(error) = result {
        record!(ERROR, error as i32);
    }
}

/// Initializes ktrace. Called once, by hart 0.
fn set_up() {
    let mut config = Config::new(HARTS);
    config.kernel = name!("rust");
    config.threads = 16;
    config.holders = 16;
    // SAFETY: nothing else uses the memory.
    check(ktrace_core::init(unsafe { &mut (*core::ptr::addr_of_mut!(MEMORY)).0 }, config));
    for hart in 0..HARTS {
        check(ktrace_core::thread_name(2 * hart + 1, "ping"));
        check(ktrace_core::thread_name(2 * hart + 2, "pong"));
    }
    READY.store(true, Ordering::Release);
}

/// Each hart starts here, with its own stack.
#[no_mangle]
extern "C" fn kernel_main(hart: u32) -> ! {
    let (ping, pong) = (2 * hart + 1, 2 * hart + 2);

    record!(HELLO, hart); // works before anything is set up
    if hart == 0 {
        set_up();
    }
    while !READY.load(Ordering::Acquire) {
        core::hint::spin_loop();
    }
    // SAFETY: this code runs on that hart, and interrupts were never enabled.
    check(unsafe { ktrace_core::cpu_online(hart) });
    for _ in 0..TURNS {
        trace::switch(pong, ping, 0);
        record!(COUNT, COUNTER.count(), "ping");
        trace::switch(ping, pong, 0);
        record!(COUNT, COUNTER.count(), "pong");
    }
    if FINISHED.fetch_add(1, Ordering::AcqRel) + 1 == HARTS {
        ktrace_core::exit(0);
        // SAFETY: this is the address of QEMU's test device.
        unsafe { (0x10_0000 as *mut u32).write_volatile(0x5555) };
    }
    loop {
        // SAFETY: no interrupt is enabled.
        unsafe { asm!("wfi") };
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    ktrace_core::panic(info);
    loop {}
}

global_asm!(
    r#"
    .pushsection .text.start, "ax"
    .globl _start
_start:
    csrr tp, mhartid
    la sp, stacks
    addi t0, tp, 1
    slli t0, t0, 14 # 16 KiB each
    add sp, sp, t0
    mv a0, tp
    call kernel_main
    .section .bss
    .balign 16
stacks: .space 16384 * 4
    .popsection
"#
);
