// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Tests groups of events that are left out of the build. The test is compiled twice: without options, and
//! with KTRACE_NO="left_out sched".
#![cfg(feature = "bundled")]

use ktrace_core::{built, event, name, record, state};

event!(HERE: kept.here, "%u", n: u32);
event!(GONE: left_out.gone, "%u", n: u32);
event!(STEERED: steered.off, "off");

mod trace {
    ktrace_core::facts!(
        switch,
        wake,
        block,
        thread_end,
        contend,
        acquire,
        try_acquire,
        release,
        interrupt_enter,
        interrupt_exit,
        eoi,
        ipi_send,
        ipi_receive,
        fault_enter,
        fault_exit
    );
}

#[test]
fn arguments_of_left_out_event_are_not_evaluated() {
    let mut evaluated = (0, 0);

    record!(HERE, {
        evaluated.0 += 1;
        1
    });
    record!(GONE, {
        evaluated.1 += 1;
        1
    });
    assert_eq!(evaluated, (1, option_env!("KTRACE_NO").is_none() as i32));
    assert_eq!(GONE::event().is_on(), option_env!("KTRACE_NO").is_none());
    GONE::record(2);
}

#[test]
fn left_out_event_has_no_descriptor() {
    extern "C" {
        static __start_ktrace_events: u8;
        static __stop_ktrace_events: u8;
    }
    let rows = unsafe {
        let start: *const u8 = &__start_ktrace_events;
        let stop: *const u8 = &__stop_ktrace_events;
        std::slice::from_raw_parts(start, stop as usize - start as usize)
    };
    let has = |name: &str| rows.windows(name.len()).any(|w| w == name.as_bytes());
    let all = option_env!("KTRACE_NO").is_none();

    assert!(has("kept\0here\0") && has("lock\0contend\0"));
    assert_eq!((has("left_out\0gone\0"), has("sched\0switch\0")), (all, all));
}

#[test]
fn built_follows_lists_of_groups() {
    assert!(built("vfs", None, None));
    assert!(!built("vfs", Some("mm, vfs"), None) && built("vfs", Some("vf vfss"), None));
    assert!(built("vfs", None, Some("mm,vfs")) && !built("vfs", None, Some("mm")));
    assert!(!built("vfs", None, Some("")) && !built("vfs", Some("vfs"), Some("vfs")));
}

/// Tests that all functions of `facts!` can be linked, whichever groups are in the build, and that they may
/// be called before `init`.
#[test]
fn facts_link_and_run_before_init() {
    let lock = 0;

    trace::switch(1, 2, 0);
    trace::wake(1);
    trace::block(&lock, name!("queue"), state::Wait::Event, 0);
    trace::contend(&lock, name!("lock"), state::By::Thread, state::NOBODY);
    state::lock_give_up(state::By::Thread);
    trace::acquire(&lock, state::By::Thread);
    trace::try_acquire(&lock, state::By::Cpu);
    trace::release(&lock, state::By::Thread);
    trace::interrupt_enter(3);
    trace::eoi(3);
    trace::interrupt_exit(3);
    trace::ipi_send(1, 2);
    state::ipi_wait(1, 2);
    state::ipi_wait_end();
    trace::ipi_receive(2);
    state::ipi_answer();
    trace::fault_enter(4096, 1);
    trace::fault_exit(4096, name!("mapped"));
    state::interrupts(true);
    state::preempt(0);
    state::space(1);
    state::thread_stack(1, (&lock).into(), (&lock).into());
    state::thread_priority(1, 2);
    trace::thread_end(1);
    ktrace_core::mode(ktrace_core::Mode::Idle);
    ktrace_core::heartbeat(0);
    assert_eq!(ktrace_core::thread_name(1, "early"), Err(ktrace_core::Error::State));
    assert!(STEERED::event().is_on());
    assert_eq!(ktrace_core::control(name!("steered=off")), Ok(()));
    assert!(!STEERED::event().is_on());
    assert_eq!(ktrace_core::control(name!("no_such_group=off")), Err(ktrace_core::Error::NoEvent));
    assert_eq!(unsafe { ktrace_core::cpu_online(0) }, Err(ktrace_core::Error::State));
}
