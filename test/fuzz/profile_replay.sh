# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Replies of QEMU to `ktrace profile` and `ktrace why --qmp` neither crash nor hang them, if they are intact, cut
# off or changed. The target adds the checksums.
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

word() { printf '%02x%02x%02x%02x%s' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)) "$2"; }

# registers FRAME HIGH: prints 34 registers with the value FRAME. So the frame pointer has this value on each
# machine.
registers() {
	for n in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33; do
		word "$1" "$2"
	done
}

# frames FIRST COUNT HIGH: prints COUNT stack frames of 16 bytes, each of which points to the next one.
frames() {
	at=$1 count=$2
	while [ "$count" -gt 0 ]; do
		at=$((at + 16)) count=$((count - 1))
		word $at "$3"
		word $((at + 4096)) "$3"
	done
}

n=0
for high in 00000000 ffffffff; do
	for data in "$(frames 4096 60 $high)" "$(frames 4080 1 $high)" "$(frames 0 64 $high)" E14 '' "$(word 4096 $high)"; do
		n=$((n + 1))
		printf '%s\n' 'T02thread:01;' OK "$(registers 4096 $high)" "$data" "$data" >"$tmp/reply$n"
	done
done
# frame FLAGS CFA BACK FRAME: prints call frame information. Each of the three distances is from -256 to 255.
frame() {
	printf "\\$(printf %o "$1")"
	shift
	for distance; do
		sign=$([ "$distance" -lt 0 ] && echo 377 || echo 000)
		printf "\\$(printf %o $((distance & 255)))"
		printf "\\$sign\\$sign\\$sign\\$sign\\$sign\\$sign\\$sign"
	done
}

# Functions that store the return address and the frame pointer, only the return address, or nothing; a
# function without information; the outermost function.
{
	printf '%s\n' 'T02thread:01;' OK "$(registers 4096 00000000)" "$(frames 4096 24 00000000)"
	printf '\0'
	frame 12 16 -8 -16
	frame 13 16 -8 -16
	frame 4 32 -8 0
	frame 0 8 0 0
	frame 16 0 0 0
	frame 12 64 -64 -8
	frame 2 0 0 0
} >"$tmp/frames"
echo "$(registers 8 00000000)0* 0*~" >"$tmp/repeated"
printf '$OK#9a$E14#aa$T02#b6' >"$tmp/raw"
cat >"$tmp/x86_64" <<'END'
CPU#0
RAX=0000000000000000 RBX=0000000000000000 RBP=0000000000107ff0 RSP=0000000000107fd8
RIP=00000000001000b2 RFL=00000002 [-------] CPL=0 II=0 A20=1 SMM=0 HLT=1
CS =0008 0000000000000000 00000000 00209a00
END
printf 'CPU#0\n PC=0000000040080044 X00=00000000000493e0 X29=00000000400a1ff0 SP=00000000400a1ff0\nPSTATE=400003c5 -Z-- EL1h\n' >"$tmp/aarch64"
printf 'CPU#1\n V      =   0\n pc       0000000080000040\n mstatus  0000000a00000008\n x1/ra 0000000080000040 x8/s0 0000000080008ff0\n' >"$tmp/riscv64"
build/test/asan/profile_replay --truncate "$tmp"
