// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! A kernel without rings, for x86_64 or AArch64 under QEMU: it sends one version 1 record through the transport of the
//! feature `transport-x86-64` or `transport-arm64`, and ends the emulator. check.sh runs it. On x86_64 SSE stays off,
//! so that an SSE instruction would cause a triple fault.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {}

#[cfg(target_os = "none")]
mod kernel {
    use core::arch::{asm, global_asm};

    use ktrace_core::{transport, EventType, TraceRecord};

    global_asm!(".pushsection .bss", ".balign 16", "stack: .space 16384", "stack_end:", ".popsection");

    #[cfg(target_arch = "aarch64")]
    global_asm!(".globl _start", "_start: ldr x0, =stack_end", "mov sp, x0", "b kernel_main");

    // QEMU starts this code in 32-bit mode, at the address that an ELF note contains. One page of 1 GiB maps all
    // memory.
    #[cfg(target_arch = "x86_64")]
    global_asm!(
        r#"
        .pushsection .note.entry, "a", @note
        .long 4, 4, 18
        .asciz "Xen"
        .long _start
        .popsection
        .pushsection .data
        .balign 4096
levels: .quad 1f + 3
        .balign 4096
1:      .quad 0x83
        .balign 4096
descriptors: .quad 0, 0x00209a0000000000
2:      .word 15
        .long descriptors
        .popsection
        .code32
        .globl _start
_start: mov $stack_end, %esp
        mov $levels, %eax
        mov %eax, %cr3
        mov $0x20, %eax # addresses of 64 bits; no SSE
        mov %eax, %cr4
        mov $0xc0000080, %ecx
        mov $0x100, %eax
        xor %edx, %edx
        wrmsr
        mov $0x80000001, %eax
        mov %eax, %cr0
        lgdt 2b
        ljmp $8, $3f
        .code64
3:      call kernel_main
        "#,
        options(att_syntax)
    );

    /// Ends the emulator. Status 0 means success.
    fn end(status: u32) -> ! {
        #[cfg(target_arch = "aarch64")]
        let exit = [0x20026, status as u64];
        loop {
            // SAFETY: semihosting's SYS_EXIT reads the two words; the port belongs to QEMU's exit device.
            unsafe {
                #[cfg(target_arch = "aarch64")]
                asm!("hlt #0xf000", in("x0") 0x18, in("x1") &exit);
                #[cfg(target_arch = "x86_64")]
                asm!("out dx, eax", in("dx") 0xf4, in("eax") status);
            }
        }
    }

    #[no_mangle]
    extern "C" fn kernel_main() -> ! {
        let header = TraceRecord::pack_header(EventType::SYSCALL_ENTER, 1, 42, 0);
        let record = TraceRecord { tsc: 0x1122_3344_5566_7788, header, data: [64, 1, 2, 3, 4] };
        end(transport::write_record(&record).is_err() as u32)
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo) -> ! {
        end(2)
    }
}
