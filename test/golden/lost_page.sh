# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# If a mapped file cannot be read, each command ends with its status for unreadable input, even if it has
# found a result before.
. test/tap.sh

lost=$PWD/build/test/lost-page.so
PATH=$PWD/build/bin:$PATH
build/test/cmd-traces "$tmp" || exit 1
build/test/why-traces "$tmp" >"$tmp/made" 2>&1 || exit 1
cd "$tmp" || exit 1
: >shorter.elf
echo '5 1700000000.000001 lseek(1, -1, SEEK_SET) = 0 <0.000100>' >succeeds.strace
sed 's/= 0/= -1 EINVAL (Invalid argument)/' succeeds.strace >fails.strace
printf 'wakeups: never sched.wake\n' >broken.rules

# both STATUS UNREADABLE COMMAND…: checks the exit status with a readable and with an unreadable file.
both() {
	readable=$1 unreadable=$2
	shift 2
	"$@" >stdout 2>stderr </dev/null
	equal "$*: the file is readable: $readable" "$readable" $?
	LOST_PAGE=shorter.elf LD_PRELOAD=$lost "$@" >stdout 2>stderr </dev/null
	equal "$*: the file became shorter: $unreadable" "$unreadable" $?
	check "$*: a message names the file" grep -q "shorter\.elf: the file became shorter while it was read" stderr
}

both 0 1 ktrace show v2.ktrx
both 0 1 ktrace why rest.ktrx
both 10 1 ktrace why deadlock.ktrx
both 0 3 ktrace diff v2.ktrx v2.ktrx
both 1 3 ktrace diff succeeds.strace fails.strace
both 0 3 ktrace check deadlock.ktrx
both 1 3 ktrace check --rules broken.rules v2.ktrx
done_testing
