// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! State hooks: they report what each CPU does, and what each thread holds and waits for. `include/ktrace/hooks.h` has
//! the details. The hooks may be called from any context; before [`init`](crate::init) they do nothing.
//! [`facts!`](crate::facts!) declares the functions that record an event as well.

use core::arch::asm;
use core::ffi::c_void;

use crate::{c_int, v2::EventRow, Event, Name};

/// An unknown owner, for the argument `owner` of `contend`.
pub const NOBODY: u32 = 0xffff_ffff;

/// Whether the CPU or the thread holds a lock or waits for it.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The CPU: for locks whose holder cannot leave the CPU.
    Cpu = 1,
    /// The thread.
    Thread = 2,
}

/// What a thread waits for.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A lock.
    Lock = 2,
    /// An event: the thread sleeps until another thread or an interrupt wakes it.
    Event = 3,
    /// A time: the thread sleeps until this time.
    Time = 4,
    /// The end of a thread.
    Thread = 5,
    /// The answer of a device.
    Device = 6,
}

/// Address of a lock or of an object to wait for. The address only identifies the object; the memory there is never
/// read.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Address(*const c_void);

impl<T: ?Sized> From<&T> for Address {
    fn from(object: &T) -> Self {
        Address((object as *const T).cast())
    }
}

impl<T: ?Sized> From<*const T> for Address {
    fn from(object: *const T) -> Self {
        Address(object.cast())
    }
}

/// Placed after a call, it prevents a tail call, which would hide the place at which the event was recorded.
#[inline(always)]
fn prevent_tail_call() {
    // SAFETY: emits no instruction.
    unsafe { asm!("", options(nomem, nostack, preserves_flags)) }
}

macro_rules! hooks {
    ($($(#[$doc:meta])* $name:ident = $symbol:ident($($argument:ident: $type:ty),*);)*) => {
        extern "C" {
            $(fn $symbol($($argument: $type),*);)*
        }
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name($($argument: $type),*) {
                // SAFETY: may be called in any context; addresses are not read, texts are valid for ever.
                unsafe { $symbol($($argument),*) }
                prevent_tail_call();
            }
        )*
    };
}

hooks! {
    /// Reports that a thread or CPU no longer waits for a lock, although it did not get the lock.
    lock_give_up = ktrace_lock_give_up(by: By);
    /// Reports the stack of a thread. Call it once for each thread, before it runs.
    thread_stack = ktrace_thread_stack(thread: u32, low: Address, high: Address);
    /// Reports the priority of a thread; greater is more urgent, 0: unknown.
    thread_priority = ktrace_thread_priority(thread: u32, priority: u8);
    /// Reports that this CPU will interrupt another CPU and wait for its answer. Call it before the interrupt is sent.
    ipi_wait = ktrace_ipi_wait(cpu: u32, what: u32);
    /// Reports that the wait for the answer of another CPU has ended.
    ipi_wait_end = ktrace_ipi_wait_end();
    /// Reports that this CPU has answered an interrupt of another CPU.
    ipi_answer = ktrace_ipi_answer();
    /// Reports how many times preemption has been disabled and not enabled again.
    preempt = ktrace_preempt(depth: u32);
    /// Reports that this address space is now in use.
    space = ktrace_space(id: u64);
}

/// Reports that interrupts are enabled or disabled. Call it before enabling and after disabling them.
#[inline(always)]
pub fn interrupts(on: bool) {
    extern "C" {
        fn ktrace_interrupts(on: c_int);
    }
    // SAFETY: any context.
    unsafe { ktrace_interrupts(on as c_int) }
    prevent_tail_call();
}

/// Called by the functions of [`facts!`](crate::facts!): records the event and updates the state, or updates the state
/// only.
#[doc(hidden)]
pub mod fact {
    use super::*;

    macro_rules! facts {
        ($($name:ident($($argument:ident: $type:ty),*) if $condition:expr => $fact:ident($($given:expr),*)
           $(else $state:ident($($kept:ident),*))?;)*) => { $(
            #[inline(always)]
            pub fn $name(event: Option<&'static Event>, $($argument: $type),*) {
                // SAFETY: the descriptor is in the table; otherwise as for hooks.
                match event {
                    Some(event) if $condition && event.is_on() => unsafe { $fact(event.row(), $($given),*) },
                    _ => {
                        $(unsafe { $state($($kept),*) })?
                    }
                }
                prevent_tail_call();
            }
        )* };
    }

    facts! {
        switch(previous: u32, next: u32, state: u32) if previous != next
            => ktrace_fact_sched_switch(previous, next, state) else ktrace_thread_switch(previous, next);
        wake(thread: u32) if true => ktrace_fact_sched_wake(thread) else ktrace_thread_wake(thread);
        block(object: Address, name: Name, kind: Wait, deadline: u64) if true
            => ktrace_fact_sched_block(object, name, kind, deadline, 0)
            else ktrace_thread_block(object, name, kind, deadline);
        thread_end(thread: u32) if true => ktrace_fact_sched_exit(thread) else ktrace_thread_exit(thread);
        contend(lock: Address, name: Name, by: By, owner: u32) if true
            => ktrace_fact_lock_contend(lock, name, by, owner, 0) else ktrace_lock_wait(lock, name, by, owner);
        acquire(lock: Address, by: By) if true
            => ktrace_fact_lock_acquire(lock, by, 0) else ktrace_lock_acquire(lock, by);
        release(lock: Address, by: By) if true
            => ktrace_fact_lock_release(lock, by, 0) else ktrace_lock_release(lock, by);
        interrupt_enter(irq: u32) if true => ktrace_fact_irq_enter(irq, 1) else ktrace_irq_enter(irq);
        interrupt_exit(irq: u32) if true => ktrace_fact_irq_exit(irq, 1) else ktrace_irq_exit(irq);
        eoi(irq: u32) if true => ktrace_fact_irq_eoi(irq) else ktrace_irq_eoi(irq);
        ipi_send(cpu: u32, what: u32) if true => ktrace_fact_ipi_send(cpu, what);
        ipi_receive(what: u32) if true => ktrace_fact_ipi_receive(what);
        fault_enter(address: u64, ip: u64) if true => ktrace_fact_mm_fault_enter(address, ip);
        fault_exit(address: u64, how: Name) if true => ktrace_fact_mm_fault_exit(address, how);
    }
    pub use acquire as try_acquire;

    type Row = *mut EventRow;
    extern "C" {
        fn ktrace_fact_sched_switch(row: Row, previous: u32, next: u32, state: u32);
        fn ktrace_thread_switch(previous: u32, next: u32);
        fn ktrace_fact_sched_wake(row: Row, thread: u32);
        fn ktrace_thread_wake(thread: u32);
        fn ktrace_fact_sched_block(
            row: Row,
            object: Address,
            name: Name,
            kind: Wait,
            deadline: u64,
            pc: usize,
        );
        fn ktrace_thread_block(object: Address, name: Name, kind: Wait, deadline: u64);
        fn ktrace_fact_sched_exit(row: Row, thread: u32);
        fn ktrace_thread_exit(thread: u32);
        fn ktrace_fact_lock_contend(row: Row, lock: Address, name: Name, by: By, owner: u32, pc: usize);
        fn ktrace_lock_wait(lock: Address, name: Name, by: By, owner: u32);
        fn ktrace_fact_lock_acquire(row: Row, lock: Address, by: By, pc: usize);
        fn ktrace_lock_acquire(lock: Address, by: By);
        fn ktrace_fact_lock_release(row: Row, lock: Address, by: By, pc: usize);
        fn ktrace_lock_release(lock: Address, by: By);
        fn ktrace_fact_irq_enter(row: Row, irq: u32, state: c_int);
        fn ktrace_irq_enter(irq: u32);
        fn ktrace_fact_irq_exit(row: Row, irq: u32, state: c_int);
        fn ktrace_irq_exit(irq: u32);
        fn ktrace_fact_irq_eoi(row: Row, irq: u32);
        fn ktrace_irq_eoi(irq: u32);
        fn ktrace_fact_ipi_send(row: Row, cpu: u32, what: u32);
        fn ktrace_fact_ipi_receive(row: Row, what: u32);
        fn ktrace_fact_mm_fault_enter(row: Row, address: u64, ip: u64);
        fn ktrace_fact_mm_fault_exit(row: Row, address: u64, how: Name);
    }
}

/// Declares functions that report facts: each call records the standard event and updates the state. A kernel
/// lists, once, the functions that it calls. So the kernel contains only the events of these functions:
///
/// ```
/// mod trace {
///     ktrace_core::facts!(switch, wake, contend, acquire, release);
/// }
/// # #[cfg(feature = "bundled")]
/// trace::switch(1, 2, 0);
/// ```
///
/// | function | reports |
/// |---|---|
/// | `switch(previous, next, state)` | sched.switch, in the context switch; `state` is the state that `previous` enters |
/// | `wake(thread)` | sched.wake: the thread was made runnable |
/// | `block(object, name, `[`Wait`](crate::state::Wait)`, deadline)` | sched.block: the running thread is about to sleep; `deadline` 0: none |
/// | `thread_end(thread)` | sched.exit: directly before the thread's last switch |
/// | `contend(lock, name, `[`By`](crate::state::By)`, owner)` | lock.contend: before a wait for a lock |
/// | `acquire(lock, by)`, `try_acquire(lock, by)` | lock.acquire, lock.try: the lock was acquired |
/// | `release(lock, by)` | lock.release: before the lock is released |
/// | `interrupt_enter(irq)`, `interrupt_exit(irq)` | irq.enter, irq.exit: first and last in a handler |
/// | `eoi(irq)` | irq.eoi: the interrupt was ended at the controller |
/// | `ipi_send(cpu, what)`, `ipi_receive(what)` | ipi.send, ipi.receive |
/// | `fault_enter(address, ip)`, `fault_exit(address, how)` | mm.fault_enter, mm.fault_exit |
///
/// An object or a lock is passed as a reference or a pointer. If the group of an event is left out of the build (see
/// [`event!`](crate::event!)), the state is updated nevertheless.
#[macro_export]
macro_rules! facts {
    ($($fact:ident),* $(,)?) => { $($crate::fact!($fact);)* };
}

#[doc(hidden)]
#[macro_export]
macro_rules! fact {
    (switch) => { $crate::fact!(switch(previous: u32, next: u32, state: u32), sched.switch = $crate::EventType::CTX_SWITCH,
        "%u -> %u, old one in state %u", prev: u32, next: u32, state: u32); };
    (wake) => { $crate::fact!(wake(thread: u32), sched.wake = $crate::EventType::NONE, "%u", thread: u32); };
    (block) => { $crate::fact!(
        block(object: impl Into<$crate::state::Address>, name: $crate::Name, kind: $crate::state::Wait, deadline: u64),
        sched.block = $crate::EventType::WAITQ_SLEEP,
        "for %p by %u, kind %u", queue: *const u8, thread: u32, kind: u8); };
    (thread_end) => { $crate::fact!(thread_end(thread: u32), sched.exit = $crate::EventType::NONE, "%u", thread: u32); };
    (contend) => { $crate::fact!(
        contend(lock: impl Into<$crate::state::Address>, name: $crate::Name, by: $crate::state::By, owner: u32),
        lock.contend = $crate::EventType::NONE,
        "%p %s held by %s %u", lock: *const u8, name: &str, kind: &str, holder: u32); };
    (acquire) => { $crate::fact!(acquire(lock: impl Into<$crate::state::Address>, by: $crate::state::By),
        lock.acquire = $crate::EventType::NONE, "%p at %p", lock: *const u8, place: *const u8); };
    (try_acquire) => { $crate::fact!(try_acquire(lock: impl Into<$crate::state::Address>, by: $crate::state::By),
        lock.try = $crate::EventType::NONE, "%p at %p", lock: *const u8, place: *const u8); };
    (release) => { $crate::fact!(release(lock: impl Into<$crate::state::Address>, by: $crate::state::By),
        lock.release = $crate::EventType::NONE, "%p", lock: *const u8); };
    (interrupt_enter) => { $crate::fact!(interrupt_enter(irq: u32), irq.enter = $crate::EventType::NONE, "%u", irq: u32); };
    (interrupt_exit) => { $crate::fact!(interrupt_exit(irq: u32), irq.exit = $crate::EventType::NONE, "%u", irq: u32); };
    (eoi) => { $crate::fact!(eoi(irq: u32), irq.eoi = $crate::EventType::NONE, "%u", irq: u32); };
    (ipi_send) => { $crate::fact!(ipi_send(cpu: u32, what: u32), ipi.send = $crate::EventType::NONE,
        "to CPU %u: %#x", cpu: u32, what: u32); };
    (ipi_receive) => { $crate::fact!(ipi_receive(what: u32), ipi.receive = $crate::EventType::NONE, "%#x", what: u32); };
    (fault_enter) => { $crate::fact!(fault_enter(address: u64, ip: u64), mm.fault_enter = $crate::EventType::PAGE_FAULT,
        "%#llx from %#llx", address: u64, ip: u64); };
    (fault_exit) => { $crate::fact!(fault_exit(address: u64, how: $crate::Name), mm.fault_exit = $crate::EventType::NONE,
        "%#llx %s", address: u64, how: &str); };
    ($fact:ident($($argument:ident: $type:ty),*), $($row:tt)*) => {
        /// Reports the fact; see `ktrace_core::facts!`.
        #[inline(always)]
        pub fn $fact($($argument: $type),*) {
            $crate::row!($($row)*);
            $crate::state::fact::$fact(if BUILT { Some(event()) } else { None }, $($argument.into()),*)
        }
    };
}
