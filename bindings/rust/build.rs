// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Compiles and links the C library if the feature `bundled` is on. Downloads nothing. CC and AR name the C compiler
//! and ar; by default they are cc and ar, or those of Debian's cross compiler for another target. CFLAGS come last, so
//! that a kernel's own flags override the others.

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
        _ => panic!("ktrace supports x86_64, aarch64 and riscv64, not {arch}"),
    }
}

/// Returns the flags that doc/porting.md requires for kernel code, and those of the Rust target's calling convention.
fn flags_of(target: &str, arch: &str) -> &'static [&'static str] {
    match arch {
        "x86_64" => &["-mgeneral-regs-only", "-mno-red-zone"],
        "aarch64" => &["-mgeneral-regs-only", "-mno-outline-atomics"],
        _ if target.starts_with("riscv64gc") => &["-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"],
        _ => &["-march=rv64imac_zicsr_zifencei", "-mabi=lp64", "-mcmodel=medany"],
    }
}

/// Returns the C sources: all of kernel/base and kernel/core, the transports of this architecture, and
/// src/mirror.c.
fn sources(root: &Path, arch: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["kernel/base", "kernel/core"]
        .map(|room| root.join(room))
        .iter()
        .flat_map(|room| std::fs::read_dir(room).unwrap_or_else(|e| panic!("{}: {e}", room.display())))
        .map(|entry| entry.expect("a directory's entry").path())
        .filter(|path| path.extension().map_or(false, |e| e == "c"))
        .collect();
    all.sort();
    all.push(PathBuf::from(cargo("CARGO_MANIFEST_DIR")).join("src/mirror.c"));
    let transports = TRANSPORTS.iter().chain(transports_of(arch));
    all.extend(transports.map(|name| root.join("kernel/transport").join(name)));
    all
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}

/// Returns an environment variable that cargo sets.
fn cargo(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// Returns the directory that contains include/ and kernel/: the project's directory, or the directory into which
/// `make install` copied them.
fn root() -> PathBuf {
    let crate_folder = PathBuf::from(cargo("CARGO_MANIFEST_DIR"));
    let places = ["../..", ".."].map(|up| crate_folder.join(up));
    let found = places.into_iter().find(|place| place.join("kernel/ktrace.mk").exists());
    found.unwrap_or_else(|| panic!("no kernel/ktrace.mk above {}", crate_folder.display()))
}

/// Returns the command for a tool: the value of the variable, or the default for the target.
fn tool(variable: &str, arch: &str, native: &str, cross: &str) -> Command {
    println!("cargo:rerun-if-env-changed={variable}");
    let is_native = cargo("HOST").starts_with(arch);
    let name = if is_native { native.to_string() } else { format!("{arch}-linux-gnu-{cross}") };
    Command::new(env::var_os(variable).unwrap_or_else(|| name.into()))
}

fn compile(root: &Path, arch: &str, source: &Path, object: &Path) {
    let mut command = tool("CC", arch, "cc", "gcc");
    command
        .args(["-std=c11", "-O2", "-g", "-ffreestanding", "-fPIC", "-I"])
        .arg(root.join("include"))
        .arg("-I")
        .arg(root.join("kernel/arch").join(arch))
        .args(flags_of(&cargo("TARGET"), arch))
        .args(env::var("CFLAGS").unwrap_or_default().split_whitespace())
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object);
    run(&mut command);
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/mirror.c");
    println!("cargo:rerun-if-env-changed=CFLAGS");
    if env::var_os("CARGO_FEATURE_BUNDLED").is_none() {
        return;
    }
    let root = root();
    let out = PathBuf::from(cargo("OUT_DIR"));
    let arch = cargo("CARGO_CFG_TARGET_ARCH");
    let library = out.join("libktrace.a");
    let mut archive = tool("AR", &arch, "ar", "ar");
    let _ = std::fs::remove_file(&library);
    archive.arg("rcs").arg(&library);
    for (n, source) in sources(&root, &arch).iter().enumerate() {
        let object = out.join(format!("{n}.o"));
        compile(&root, &arch, source, &object);
        archive.arg(&object);
    }
    run(&mut archive);
    for folder in ["include", "kernel"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=ktrace");
}
