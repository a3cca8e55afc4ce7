// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! With the feature `bundled`: compiles the C library and links it. Needs a C compiler and ar, named by CC and AR
//! if they are not cc and ar; nothing is downloaded. CFLAGS are added, for instance a kernel's own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRANSPORTS: &[&str] = &[
    "transport.c",
    "transport_dump.c",
    "uart16550.c",
    "virtio_queue.c",
    "virtio_mmio.c",
    "pci.c",
    "ivshmem.c",
];

fn transports_of(arch: &str) -> &'static [&'static str] {
    match arch {
        "x86_64" => &["debugcon.c", "pci_ports.c", "virtio_pci.c"],
        "aarch64" => &["pl011.c", "semihosting.c", "aarch64/semihosting_aarch64.S"],
        "riscv64" => &["semihosting.c", "riscv64/semihosting_riscv64.S"],
        _ => panic!("ktrace knows x86_64, aarch64 and riscv64, not {arch}"),
    }
}

/// All of kernel/base and kernel/core, this architecture's transports, and the check of what transport.rs mirrors.
fn sources(root: &Path, arch: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["kernel/base", "kernel/core"]
        .map(|room| root.join(room))
        .iter()
        .flat_map(|room| std::fs::read_dir(room).unwrap_or_else(|e| panic!("{}: {e}", room.display())))
        .map(|entry| entry.expect("a folder's entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    all.sort();
    all.push(root.join("bindings/rust/src/mirror.c"));
    let transports = TRANSPORTS.iter().chain(transports_of(arch));
    all.extend(transports.map(|name| root.join("kernel/transport").join(name)));
    all
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn compile(root: &Path, arch: &str, source: &Path, object: &Path) {
    let mut command = Command::new(env::var_os("CC").unwrap_or("cc".into()));
    command
        .args(["-std=c11", "-O2", "-g", "-ffreestanding", "-fPIC", "-I"])
        .arg(root.join("include"))
        .arg("-I")
        .arg(root.join("kernel/arch").join(arch))
        .args(env::var("CFLAGS").unwrap_or_default().split_whitespace())
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object);
    run(&mut command);
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/mirror.c");
    if env::var_os("CARGO_FEATURE_BUNDLED").is_none() {
        return;
    }
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the folder")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the target");
    let library = out.join("libktrace.a");
    let mut archive = Command::new(env::var_os("AR").unwrap_or("ar".into()));
    let _ = std::fs::remove_file(&library);
    archive.arg("rcs").arg(&library);
    for (n, source) in sources(&root, &arch).iter().enumerate() {
        let object = out.join(format!("{n}.o"));
        compile(&root, &arch, source, &object);
        archive.arg(&object);
    }
    run(&mut archive);
    for folder in ["include", "kernel"] {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static=ktrace");
}
