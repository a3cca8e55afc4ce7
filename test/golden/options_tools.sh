# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Does the same as options.sh for commands that run guests and programs, control them, or read something other
# than a trace of events: checks that each option in their --help has an effect, or is refused by name with
# status 2.
. test/tap.sh
root=$PWD
. test/golden/options_common.sh
export TZ=UTC0

build/test/cmd-traces "$tmp" || exit 1
build/test/ktrdump-traces "$tmp" || exit 1
build/test/kdump-traces "$tmp" || exit 1
cp test/golden/proc/*.ktrace test/golden/hwt_views/*.steps "$tmp" || exit 1
cp build/bin/ktrace "$tmp/elf" # an ELF file, though no kernel's
cd "$tmp" || exit 1

# ---- qemu-args
works qemu-args --transport x86_64 -- x86_64 --transport debugcon
works qemu-args --ram x86_64 -- x86_64 --ram other
works qemu-args --memory x86_64 -- x86_64 --memory 1G
works qemu-args --trace-unit x86_64 -- x86_64 --trace-unit
works qemu-args --branches x86_64 --trace-unit -- x86_64 --branches
works qemu-args --out x86_64 --transport virtio -- x86_64 --transport virtio --out other
works qemu-args -o x86_64 --transport virtio -- x86_64 --transport virtio -o other
works qemu-args --allow-reboot x86_64 -- x86_64 --allow-reboot
refused qemu-args --out x86_64 --out other
for transport in debugcon ivshmem virtio; do
	refused qemu-args --ram x86_64 --transport $transport --ram other
	refused qemu-args --memory x86_64 --transport $transport --memory 1G
done

# ---- extract
machine='--machine x86_64'
# shellcheck disable=SC2086
{
	works extract --out $machine ktr.ram -- $machine --out out ktr.ram
	works extract -o $machine ktr.ram -- $machine -o out ktr.ram
	works extract --json $machine ktr.ram -- $machine --json ktr.ram
	works extract --boot $machine ktr.ram -- $machine --boot 3 ktr.ram
	works extract --previous $machine ktr.ram -- $machine --previous ktr.ram
	works extract --form ktr.ram -- --form core ktr.ram
	refused extract --machine --machine riscv64 ktr.ram
	echo "extract --machine" >>covered
	opens extract --elf $machine --elf absent ktr.ram
	opens extract --qmp --qmp absent
	opens extract --gdb --gdb absent
	refused extract --timeout --timeout 1 $machine ktr.ram
	refused extract --range --range 0x1000:0x1000 ktr.ram
	refused extract --range --range 0x1000:0x1000 --qmp absent
	refused extract --previous --previous --boot 2 ktr.ram
	refused extract --elf --elf elf nothing.core
	refused extract --machine $machine nothing.core
	for from in --qmp --gdb; do
		refused extract --form $from absent --form ram
		refused extract --machine $from absent $machine
		refused extract --qmp $from absent ktr.ram
	done
}
beyond extract --timeout test/qemu/extract_peer.sh
beyond extract --range test/qemu/extract_peer.sh

# ---- take
printf 'ktrace-file hello\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\n' >log
printf 'ktrace-file hello\n~aGVs\nktrace-file-end 5 4f9f2cab\n' >damaged
mkdir full && echo other >full/hello
works take --dir log -- --dir full log
works take -d log -- -d full log
works take --out log -- --out out log
works take -o log -- -o - log
works take --force -d full log -- --force -d full log
echo other >full/hello
works take -f -d full log -- -f -d full log
works take --partial -o - damaged -- --partial -o - damaged
works take -p -o - damaged -- -p -o - damaged
refused take --force --force log
refused take --force --force -o - log
refused take --out --out out --dir full log

# ---- control
works control --json v2.ktrx -- --json v2.ktrx
echo "control --machine" >>covered
refused control --machine --machine vax v2.ktrx
beyond control --timeout test/qemu/control.sh
refused control --timeout --timeout 1 v2.ktrx
echo "control --" >>covered

# ---- retrace: it runs guests.
for option in --who-wrote --who-read --last -n --json --elf --out -o --force; do
	beyond retrace $option test/qemu/retrace.sh
done
for option in --functions --only --cpu --summary --since --since-event --until --until-event; do
	beyond retrace $option test/qemu/retrace_functions.sh
done
beyond retrace --branches test/qemu/retrace_branches.sh
refused retrace 'expected a trace'
refused retrace 'expected --who-wrote' v2.ktrx
refused retrace 'cannot be combined' --functions --who-wrote x v2.ktrx
refused retrace 'need --functions' --who-wrote x --only y v2.ktrx
refused retrace 'cannot be combined with --last' --functions --summary --last 3 v2.ktrx
refused retrace --cpu --functions --cpu vax v2.ktrx

# ---- goto and bisect: they run guests.
for option in --at --cpu --thread --backtrace --registers --print --memory --gdb --elf --out -o --force; do
	beyond goto $option test/qemu/goto.sh
done
for option in --runs --jobs -j --ram-dir --force --json --quiet -q; do
	beyond bisect $option test/qemu/bisect.sh
done
refused goto 'expected a trace'
refused goto 'already selects the event' --at 1 0.1 v2.ktrx
refused goto 'already selects the event' --cpu 1 0.1 v2.ktrx
refused goto 'already selects the event' --thread 1 0.1 v2.ktrx
beyond goto --where test/qemu/goto.sh
refused goto 'already selects the event' --where 'cpu == 1' 0.1 v2.ktrx
refused goto 'column 5' --where 'cpu = 1' v2.ktrx
refused goto --memory --memory 0x1000 v2.ktrx
refused goto --cpu --cpu vax v2.ktrx
refused bisect 'expected a trace'
refused bisect --runs --runs 1 v2.ktrx
refused bisect --jobs --jobs 0 v2.ktrx

# ---- profile: it runs guests.
for option in --qmp --kernel -k --elf --seconds -s --samples --rate -r --folded --json --svg --limit -n --out -o; do
	beyond profile $option test/qemu/profile.sh
done
refused profile 'expected -- and a QEMU'
refused profile --qmp --qmp absent -- true
refused profile --limit --limit 3 --json --qmp absent
refused profile '--folded cannot be combined with --json' --folded --json -- true
refused profile --rate --rate 0 -- true
refused profile --rate --rate 1001 -- true

# ---- live: its output is tested with guests.
for option in --lines --json --interval --count --tail --event --list --where; do
	beyond live $option test/qemu/live.sh
done
for option in --cpu --pid; do # as keys c and p on the screen
	echo "live $option" >>covered
	refused live $option --lines --tail 1 $option vax ktr.ram
done
for option in --frequency --machine; do
	echo "live $option" >>covered
	refused live $option $option vax ktr.ram
done
refused live --tail --json --tail 3 ktr.ram
refused live --list --list ktr.ram
refused live --list --list --json
for option in '--event sched' '--cpu 0' '--pid 1' '--where cpu==1'; do
	# shellcheck disable=SC2086
	refused live "${option%% *}" $option ktr.ram
done
refused live 'column 5' --lines --tail 1 --where 'cpu = 1' ktr.ram
refused live 'by time' --lines --tail 1 --where 'time > 1s' ktr.ram

# ---- run
for option in --out -o --timeout --stall --on-stall --expect --expect-continue --events --branches --trace-unit --elf --transport --ram-dir \
	--keep-ram --why --page --allow-reboot --force -q; do
	at=$(cd "$root" && grep -l -e " run .*$option\|run_.*$option\|$option" test/qemu/*.sh | head -n 1)
	beyond run $option "${at:-test/qemu/run_bad_input.sh}"
done
echo "run --quiet" >>covered # the same as -q
for option in --deterministic --seed --noise --then --deadline --replay; do
	beyond run $option test/qemu/repeat.sh
done
beyond run --input test/qemu/goto.sh
refused run --expect-continue --expect-continue -- true
refused run --keep-ram --keep-ram --transport virtio -- true
refused run --stall --stall 0 --on-stall keep -- true
refused run --on-stall --on-stall wait -- true
refused run --transport --transport smoke -- true
refused run --timeout --timeout soon -- true
refused run --events --events 'sched irq' -- true

refused run --noise --noise 1us -- true
refused run --then --seed 1 --then x -- true
refused run --deadline --deadline 1 -- true
refused run --seed --replay v2.ktrx --seed 1

# ---- hunt
for option in --seeds --jobs -j --deadline --noise --input --timeout --expect --page --first --out -o --resume --ram-dir --json --quiet -q; do
	beyond hunt $option test/qemu/hunt.sh
done
beyond hunt --elf test/qemu/hunt_hooks.sh
refused hunt --elf --noise hooks --elf v2.ktrx -- true
beyond hunt --check test/qemu/hunt_check.sh
beyond hunt --minimise test/qemu/hunt_minimise.sh
refused hunt --seeds --seeds 0 -- true
refused hunt '--expect: the text is empty' --expect '' -- true
refused hunt --jobs --jobs 0 -- true

# ---- record
for option in -f -a -i -p -g -d -t -c -C; do
	at=$(cd "$root" && grep -l -e "record.* $option " test/record/*.sh | head -n 1)
	beyond record $option "${at:-test/record/programs.sh}"
done
refused record -- -d true
refused record -C -C -p 1
refused record -C -C -t c
refused record -C -C -d
refused record -a -c -a -p 1
refused record -i -c -i -p 1
refused record -c -c -p 1 -f file
refused record -p -p 1 true
refused record -p -p 1 -g 1

# ---- kdump
for option in -A -c -d -E -H -j -m -n -p -R -r -S -s -T -t --table --names; do
	file=freebsd1.ktrace value='' base=
	case $option in
	-A) file=abi.ktrace ;;
	-H | -j) file=ktrx.ktrace ;;
	-m) value=5 ;;
	-p) value=43 ;;
	-t) value=n ;;
	-S) file=dragonfly.ktrace ;;
	--table) value=dragonfly ;;
	--names) file=linux.ktrace ;;
	esac
	# shellcheck disable=SC2086
	works kdump $option $file -- $option $value $file
done
works kdump -f -- -f ktrx.ktrace
works kdump --format -f freebsd1.ktrace -- --format freebsd0 -f freebsd1.ktrace
works kdump --where -f ktrx.ktrace -- --where 'call == "open"' -f ktrx.ktrace
refused kdump 'column 5' --where 'pid = 1' ktrx.ktrace
refused kdump --where --count --where 'pid == 1' ktrx.ktrace
beyond kdump -l test/golden/kdump.sh
for form in --oneline --count --json; do
	works kdump $form freebsd1.ktrace -- $form freebsd1.ktrace
	useless='-A -d -H -j'
	[ $form = --oneline ] || useless="$useless -E -R -r -T --names"
	[ $form != --json ] || useless="$useless -c"
	[ $form != --count ] || useless="$useless -c -n -s"
	for option in $useless; do
		refused kdump "$option" $form "$option" freebsd1.ktrace
	done
done
refused kdump -m --count -m 5 freebsd1.ktrace
refused kdump --json --json --count freebsd1.ktrace
refused kdump -l --count -l freebsd1.ktrace

# ---- ktrdump
for option in -a -c -d -f -i -n -p -q -r -s -t -x -A -N -M -o; do
	base='-s -x -r' value=
	case $option in
	-a | -c | -f | -i | -p | -t) base= ;;
	-d) base= value='-o out' ;;
	-r | -s | -x) base=-c ;;
	-A) value=0.25 ;;
	-N) value=absent ;;
	-M) ;;
	-o) value=out ;;
	esac
	# shellcheck disable=SC2086
	case $option in
	-M) works ktrdump -M -M ktr.ktrx -- -M v2.ktrx ;;
	*) works ktrdump $option $base -M ktr.ktrx -- $base $option $value -M ktr.ktrx ;;
	esac
done
works ktrdump --where -M ktr.ktrx -- --where 'cpu == 1' -M ktr.ktrx
refused ktrdump --where -d --where 'cpu == 1' -o out -M ktr.ktrx
refused ktrdump 'by time' -l --where 'time > 1' -M ktr.ram
works ktrdump --frequency -M far.ktrx -r -- --frequency 1000 -r -M far.ktrx
echo "ktrdump --machine" >>covered
refused ktrdump --machine --machine riscv64 -M ktr.ram
beyond ktrdump -l test/golden/ktrdump.sh
for option in -c -f -i -n -p -q -r -t -x '-r -A 1' '-N elf'; do
	# shellcheck disable=SC2086
	refused ktrdump -d -d $option -o out -M ktr.ktrx
done
refused ktrdump -N -c -N elf -M ktr.ktrx
refused ktrdump -A -c -A 1 -M ktr.ktrx
refused ktrdump -l -d -l -M ktr.ram

# ---- hwt
views='-g --calls --folded --durations --functions --json'
for option in $views; do
	works hwt $option kernel.steps -- $option kernel.steps
done
works hwt --coverage samples.steps -- --coverage samples.steps
works hwt -o kernel.steps -- -o offset,symbol kernel.steps
works hwt -s kernel.steps -- -s 1 kernel.steps
works hwt -t thread.steps -- -t 1 thread.steps
works hwt -P thread.steps -- -P 7 thread.steps
works hwt -c kernel.steps -- -c spe kernel.steps
works hwt -w kernel.steps -- -w out kernel.steps
works hwt --last kernel.steps -- --last 3 kernel.steps
works hwt --before --last 3 kernel.steps -- --last 3 --before panic kernel.steps
works hwt --from kernel.steps -- --from 1us kernel.steps
works hwt --to kernel.steps -- --to 1us kernel.steps
for option in -i -f; do
	beyond hwt $option test/golden/hwt_views.sh
done
works hwt --elf kernel.steps -- --elf absent kernel.steps
works hwt --symbols kernel.steps -- --symbols absent kernel.steps
works hwt --memory kernel.steps -- --memory absent kernel.steps
beyond hwt -R test/qemu/hwt_contents.sh
echo "hwt -r" >>covered
refused hwt -r -r kernel.steps
beyond hwt -b test/golden/hwt_views.sh
for view in -g '-r -w out'; do
	for option in '--elf elf' '--symbols map' '--memory elf' '-R share' '-i a -f b' '-P 1' '--from 1' '--to 1' '--last 3' --json; do
		# shellcheck disable=SC2086
		refused hwt "${view%% *}\|${option%% *}" $view $option kernel.steps
	done
done
for option in '--elf elf' '--symbols map' '--memory elf' '-R share' '--last 3' '-s 0' '--calls' --json '-o pc'; do
	# shellcheck disable=SC2086
	refused hwt "${option%% *}\|record first\|select what" -c qemu -w out $option -- qemu-system-x86_64
done
refused hwt -b -b 1M kernel.steps
refused hwt -i -i kernel kernel.steps

# ---- numbers: leading zeros do not make them octal
decimal show --limit 8 v2.ktrx
decimal show --pid 9 v2.ktrx
decimal show --cpu 1 v2.ktrx
decimal show --frequency 1008 v2.ktrx
decimal show --since 08us v2.ktrx
decimal stats --interval 9ms --rate v2.ktrx
for option in --last -t -P -s; do
	decimal hwt $option 1 thread.steps
	decimal hwt $option 8 thread.steps
done
decimal kdump -m 8 freebsd1.ktrace
decimal kdump -p 48 freebsd1.ktrace
decimal ktrdump -A 8 -r -M ktr.ktrx
# shellcheck disable=SC2086
{
	decimal extract --boot 9 $machine ktr.ram
	decimal extract --boot 15 $machine ktr.ram
	refused extract 'timeout needs' --timeout 08 $machine ktr.ram
	refused extract 'range needs' --range 08:09 $machine ktr.ram
	refused extract 'range needs' --range 0x1f:0x8 $machine ktr.ram
}
refused hwt 'only for recording' -b 0128K kernel.steps
decimal doctor --seconds 8 v2.ktrx
decimal doctor --timeout 8 v2.ktrx
refused live 'newest events' --json --tail 08 ktr.ram
refused run 'needs --expect' --timeout 08 --expect-continue -- true

# ---- colours and the pager
works kdump --color --oneline -f dragonfly.ktrace -- --oneline --color always -f dragonfly.ktrace
works ktrdump --color -M v2.ktrx -- --color always -M v2.ktrx
for c in kdump ktrdump; do
	beyond $c --no-pager test/golden/terminal.sh
done

# ---- mcp
beyond mcp --dir test/mcp/server.sh
beyond mcp -d test/mcp/server.sh
beyond mcp --timeout test/mcp/server.sh
refused mcp 'no arguments' v2.ktrx

# ---- open: a server, whose answers tests in test/serve compare with those of show
beyond open --whole test/serve/data.py
for option in --port --no-browser --elf --form --with --raw-clock --align --frequency --machine --v1-layout --calls; do
	beyond open $option test/serve/hostile.py
done
refused open 'port' --port 0 v2.ktrx
refused open 'port' --port 65536 v2.ktrx
refused open 'one file' v2.ktrx v2.ktrx

for c in mcp open run hunt hwt kdump ktrdump record qemu-args extract take control live goto bisect profile retrace; do
	listed $c
done
done_testing
