# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Each option in a command's --help changes what the command does, or is refused by name with status 2. The lists of options come
# from --help, so it is an error if this file has no line for a new option. options_tools.sh has the commands
# that do not read traces.
. test/tap.sh
root=$PWD
. test/golden/options_common.sh

build/test/cmd-traces "$tmp" || exit 1
build/test/why-traces "$tmp" >"$tmp/made" 2>&1 || exit 1
cp test/golden/hwt_views/beside.steps "$tmp" || exit 1
cp build/bin/ktrace "$tmp/elf" # an ELF file, though no kernel's
cd "$tmp" || exit 1
echo 'mine: never sched.wake' >mine.rules
echo 'mine: never sched.switch' >switch.rules
echo 'mine: always net.NET_RECV has (len < 100)' >layout.rules

# test/golden/budget.sh tests the effect of the following options.
for c in show summary stats sql 'life thread 12' check why 'diff v2.ktrx' doctor; do
	rest=${c#"${c%% *}"}
	# shellcheck disable=SC2086
	refused ${c%% *} --budget $rest --budget 999 v2.ktrx
	# shellcheck disable=SC2086
	refused ${c%% *} --cursor $rest --cursor 1-0 v2.ktrx
	printf '%s\n' "${c%% *} --budget" "${c%% *} --cursor" >>covered
done

for c in show summary stats check why export html decode; do
	all= file=v2.ktrx v1=v1.bin
	case $c in
	export) all='--format json -o out' ;;
	html) all='-o out' ;;
	esac
	# shellcheck disable=SC2086
	{
		works $c --form $all $file -- $all --form v1 $file
		opens $c --with $all --with absent $file
		works $c --frequency $all $file -- $all --frequency 1000 $file
		works $c --align $all $file -- $all --align $file
		refused $c --v1-layout $all --v1-layout spec $file
		case $c in
		summary | check) refused $c --calls --calls linux $file ;;
		*) opens $c --calls $all --calls absent.table $file ;;
		esac
		echo "$c --machine" >>covered
		refused $c --machine $all --machine riscv64 v2.ktrx
		case $c in
		show | export | html)
			echo "$c --with-elf" >>covered
			for option in '--with-elf elf' '--with-root share' --branches; do
				refused $c "${option%% *}" $all $option $file
			done
			opens $c --with-root $all --with beside.steps --with-root absent $file
			works $c --branches $all --with beside.steps $file -- $all --branches --with beside.steps $file
			;;
		*)
			for option in '--with-elf elf' '--with-root share' --branches; do
				refused $c "${option%% *}" $all $option $file
			done
			refused $c --branches $all --branches $v1
			;;
		esac
		case $c in
		check | why)
			for option in '--pid 12' '--cpu 1' '--event sched' '--since 1' '--until 1'; do
				refused $c "${option%% *}" $all $option $file
			done
			[ $c = check ] || refused $c --where --where cpu==1 $file
			;;
		decode)
			works $c --pid $all $file -- $all --pid 12 $file
			works $c --cpu $all $file -- $all --cpu 1 $file
			;;
		*)
			works $c --pid $all $file -- $all --pid 12 $file
			works $c --cpu $all $file -- $all --cpu 1 $file
			works $c --event $all $file -- $all --event sched $file
			works $c --where $all $file -- $all --where 'event ~ "sched.*" and cpu == 0' $file
			refused $c 'column 5' $all --where 'cpu = 1' $file
			works $c --since $all $file -- $all --since 30us $file
			works $c --until $all $file -- $all --until 20us $file
			refused $c shced $all --event shced $file
			;;
		esac
	}
done
works html --raw-clock -o out clocks-apart.ktrx -- -o out --raw-clock clocks-apart.ktrx
works html --v1-layout -o out v1.bin -- -o out --v1-layout spec v1.bin
works export --raw-clock --format json -o out clocks-apart.ktrx -- --format json -o out --raw-clock clocks-apart.ktrx
for c in show summary why decode; do
	works $c --raw-clock clocks-apart.ktrx -- --raw-clock clocks-apart.ktrx
done
works stats --raw-clock --rate --interval 1us clocks-apart.ktrx -- --rate --interval 1us --raw-clock clocks-apart.ktrx
works check --where --rules mine.rules v2.ktrx -- --rules mine.rules --where 'time > 50us' v2.ktrx
refused check 'column 5' --where 'cpu = 1' v2.ktrx
works check --raw-clock --all --rules switch.rules clocks-apart.ktrx -- --all --rules switch.rules --raw-clock clocks-apart.ktrx
for c in show why decode; do
	works $c --v1-layout v1.bin -- --v1-layout spec v1.bin
done
works export --v1-layout --format json -o out v1.bin -- --format json -o out --v1-layout spec v1.bin
works stats --v1-layout --value NET_RECV.len v1.bin -- --value NET_RECV.len --v1-layout spec v1.bin
works check --v1-layout --json --rules layout.rules v1.bin -- --json --rules layout.rules --v1-layout spec v1.bin
refused summary --v1-layout --v1-layout spec v1.bin
echo "summary --v1-layout" >>covered

works show --limit v2.ktrx -- --limit 2 v2.ktrx
works show --json v2.ktrx -- --json v2.ktrx
works show --hex v2.ktrx -- --hex v2.ktrx
works show --settings v2.ktrx -- --settings v2.ktrx
works show --registers v2.ktrx -- --registers v2.ktrx
opens show --elf --elf absent v2.ktrx
works show --subtract-cost v2.ktrx -- --subtract-cost v2.ktrx
works show --ids v2.ktrx -- --ids v2.ktrx
refused show --ids --follow --ids ktr.ram
for option in --settings --registers --hex '--svg out'; do
	# shellcheck disable=SC2086
	refused show --ids --ids $option v2.ktrx
done
works show --id v2.ktrx -- --id 1.105 v2.ktrx
works show --around --id 1.105 v2.ktrx -- --id 1.105 --around 2 v2.ktrx
refused show --around --around 2 v2.ktrx
refused show --id --follow --id 1.105 ktr.ram
for option in '--cpu 0' '--event sched' '--where cpu==0' '--since 0' '--pid 12' '--limit 1' '--svg out' --settings --registers --subtract-cost; do
	refused show --id --id 1.105 $option v2.ktrx
done
for ids in 1 1. .1 1.2, ,1.2 1.2.3 1.-2 -1.2 99999999999.1 1.99999999999999999999 ''; do refused show --id "--id=$ids" v2.ktrx; done
works show --svg v2.ktrx -- --svg out v2.ktrx
works show --from v2.ktrx -- --from 30us v2.ktrx
works show --to v2.ktrx -- --to 20us v2.ktrx
works show --follow v2.ktrx -- --follow v2.ktrx
for option in '--form ram' '--with beside.steps' '--v1-layout spec' --raw-clock --align --json --hex --svg=out '--since 1' '--until 1'; do
	# shellcheck disable=SC2086
	refused show --follow --follow $option v2.ktrx
done
for option in '--with beside.steps' '--frequency 1000' '--v1-layout spec' --raw-clock --align '--limit 1' '--pid 1' --hex; do
	for instead in --settings --registers; do
		# shellcheck disable=SC2086
		refused show "$instead" $instead $option v2.ktrx
	done
done
refused show --svg --svg out --json v2.ktrx

works summary --json v2.ktrx -- --json v2.ktrx

# ---- life
works life --json thread 12 v2.ktrx -- --json thread 12 v2.ktrx
works life --form thread 12 v2.ktrx -- --form v1 thread 12 v2.ktrx
works life --raw-clock thread 6 clocks-apart.ktrx -- --raw-clock thread 6 clocks-apart.ktrx
works life --align thread 12 v2.ktrx -- --align thread 12 v2.ktrx
works life --frequency thread 12 v2.ktrx -- --frequency 1000 thread 12 v2.ktrx
works life --v1-layout len=59 v1.bin -- --v1-layout spec len=59 v1.bin
opens life --with --with absent thread 12 v2.ktrx
opens life --calls --calls absent.table thread 12 v2.ktrx
echo "life --machine" >>covered
refused life --machine --machine riscv64 thread 12 v2.ktrx
refused life 'KIND ID' thread
refused life KIND frob 3 v2.ktrx
refused life ID thread frob v2.ktrx
refused life 'only one file' thread 12 v2.ktrx v1.bin

times='--begin sched.wake --end sched.switch'
# shellcheck disable=SC2086
{
	works stats --begin v2.ktrx -- $times v2.ktrx
	works stats --end v2.ktrx -- $times v2.ktrx
	works stats --by $times v2.ktrx -- $times --by thread=next v2.ktrx
	works stats --value v2.ktrx -- --value syscall.exit.result v2.ktrx
	works stats --worst v2.ktrx -- --worst 1 v2.ktrx
	works stats --of --worst 1 v2.ktrx -- --worst 1 --of run-queue v2.ktrx
	works stats --rate v2.ktrx -- --rate v2.ktrx
	works stats --interval --rate v2.ktrx -- --rate --interval 20us v2.ktrx
	works stats --svg $times v2.ktrx -- $times --svg out v2.ktrx
	works stats --json v2.ktrx -- --json v2.ktrx
	works stats --subtract-cost v2.ktrx -- --subtract-cost v2.ktrx
	refused stats --of --of syscall v2.ktrx
	refused stats --of --worst 1 --of irq v2.ktrx
	refused stats --worst --worst 101 v2.ktrx
	refused stats --worst --worst 1 --rate v2.ktrx
	refused stats --by --by nr v2.ktrx
	refused stats --interval --interval 1ms v2.ktrx
	refused stats --svg --svg out v2.ktrx
	refused stats --svg --rate --svg out v2.ktrx
	refused stats --subtract-cost --rate --subtract-cost v2.ktrx
}

works check --rules v2.ktrx -- --rules mine.rules v2.ktrx
works check --all --rules mine.rules v2.ktrx -- --rules mine.rules --all v2.ktrx
works check --ids --rules mine.rules v2.ktrx -- --rules mine.rules --ids v2.ktrx
works check --json v2.ktrx -- --json v2.ktrx

# Outputs of strace for diff. In the second one, 40 calls have a different result and take 1.4 times as
# long.
for n in 100 140; do
	seq 10 49 | sed "s/.*/7 1700000000.0000& read(3, \"\", 200) = $n <0.000$n>/" >$n.strace
done
works diff --json 100.strace 140.strace -- --json 100.strace 140.strace
works diff --page 100.strace v1.bin -- --page out 100.strace v1.bin
refused diff --page --page out v1.bin 100.strace
works diff --limit 100.strace 140.strace -- --limit 2 100.strace 140.strace
works diff -n 100.strace 140.strace -- -n 0 100.strace 140.strace
works diff --slower 100.strace 140.strace -- --slower 50 100.strace 140.strace
works diff --frequency v1.bin v2.ktrx -- --frequency 1000 v1.bin v2.ktrx
opens diff --calls --calls absent.table v2.ktrx v2.ktrx
for option in '--machine riscv64' '--v1-layout spec'; do
	# shellcheck disable=SC2086
	refused diff "${option%% *}" $option v2.ktrx v2.ktrx
	echo "diff ${option%% *}" >>covered
done
works diff --color 100.strace 140.strace -- --color always 100.strace 140.strace
beyond diff --no-pager test/golden/terminal.sh
listed diff

works why --json v2.ktrx -- --json v2.ktrx
works why --all inversion.ktrx -- --all inversion.ktrx
works why --ids inversion.ktrx -- --ids inversion.ktrx
refused why --all --json --all v2.ktrx
opens why --elf --elf absent v2.ktrx
opens why --earlier --earlier absent v2.ktrx
opens why --qmp --qmp absent
opens why --gdb --gdb absent
for option in '--form ram' '--machine x86_64' '--v1-layout spec'; do
	# shellcheck disable=SC2086
	refused why "${option%% *}" $option --qmp absent
done

works html --redact -o out v2.ktrx -- --redact -o out v2.ktrx
works check --page --rules mine.rules v2.ktrx -- --rules mine.rules --page out v2.ktrx
opens html --elf -o out --elf absent v2.ktrx
works html -o -o out v2.ktrx -- -o - v2.ktrx
works html --output -o out v2.ktrx -- --output - v2.ktrx
works export --format --format json -o out v2.ktrx -- --format perfetto -o out v2.ktrx
works export -f --format json -o out v2.ktrx -- -f perfetto -o out v2.ktrx
works export -o --format json -o out v2.ktrx -- --format json -o - v2.ktrx
works export --output --format json -o out v2.ktrx -- --format json --output - v2.ktrx
for option in '--pid 12' '--cpu 1' '--event sched' '--since 1us' '--until 1us'; do
	# shellcheck disable=SC2086
	refused export stream --format stream -o out $option v2.ktrx
done
for option in '--with beside.steps' '--machine x86_64' --raw-clock --align; do
	# shellcheck disable=SC2086
	refused export "${option%% *}" --format stream -o out $option v2.ktrx
done

for option in '--pid 12' '--cpu 1' '--event sched' '--since 1us' '--until 1us'; do
	# shellcheck disable=SC2086
	refused sql "${option%% *}" $option v2.ktrx .tables
done
query='SELECT(max(ts))FROM/**/events'
works sql --form v2.ktrx $query -- --form v1 v2.ktrx $query
opens sql --with --with absent v2.ktrx $query
works sql --frequency v2.ktrx $query -- --frequency 1000 v2.ktrx $query
works sql --align v2.ktrx $query -- --align v2.ktrx $query
works sql --raw-clock clocks-apart.ktrx $query -- --raw-clock clocks-apart.ktrx $query
works sql --v1-layout v1.bin 'SELECT(sum(len))FROM"NET_RECV"' -- --v1-layout spec v1.bin 'SELECT(sum(len))FROM"NET_RECV"'
opens sql --calls --calls absent v2.ktrx $query
echo "sql --machine" >>covered
refused sql --machine --machine riscv64 v2.ktrx $query
works sql --format v2.ktrx $query -- --format csv v2.ktrx $query
works sql -f v2.ktrx $query -- -f json v2.ktrx $query
works sql --json v2.ktrx $query -- --json v2.ktrx $query
works sql --timeout v2.ktrx 'WITH/**/t(x)AS(VALUES(1)UNION/**/ALL/**/SELECT(x+1)FROM/**/t/**/LIMIT/**/99999)SELECT(max(x))FROM/**/t' -- \
	--timeout 0.000001 v2.ktrx 'WITH/**/t(x)AS(VALUES(1)UNION/**/ALL/**/SELECT(x+1)FROM/**/t/**/LIMIT/**/99999)SELECT(max(x))FROM/**/t'
works sql --memory v2.ktrx 'SELECT(length(hex(zeroblob(6000000))))' -- --memory 16 v2.ktrx 'SELECT(length(hex(zeroblob(6000000))))'

works decode --timeline --summary v1.bin -- --timeline v1.bin
works decode --summary v1.bin -- --summary v1.bin
works decode --perfetto v1.bin -- --perfetto out v1.bin
works decode --pid --summary v1.bin -- --summary --pid 7 v1.bin
refused decode --summary --summary --perfetto out v1.bin
refused decode --timeline --timeline --summary v1.bin

works doctor --json v2.ktrx -- --json v2.ktrx
works doctor --list v2.ktrx -- --list
opens doctor --elf --elf absent v2.ktrx
for option in --seconds=1 --timeout=1 --expect=text --out=other -oother; do
	name=${option%%=*} name=${name%other}
	echo "doctor $name" >>covered # with a guest: test/qemu/doctor.sh
	refused doctor "$name" "$option" v2.ktrx
	# shellcheck disable=SC2086
	refused doctor --list --list $option
done
refused doctor --list --list --json

for option in '--event sched' '--cpu 0' '--pid 1'; do
	# shellcheck disable=SC2086
	refused live "${option%% *}" $option v2.ktrx
	# shellcheck disable=SC2086
	refused live "${option%% *}" --json $option v2.ktrx
done
refused live --tail --json --tail 3 v2.ktrx

# ---- "-" is standard input
for c in show summary 'life thread 12' stats check; do
	# shellcheck disable=SC2086
	ktrace $c - <v2.ktrx >from-pipe 2>&1
	# shellcheck disable=SC2086
	ktrace $c v2.ktrx >from-file 2>&1
	sed -i 's|/dev/stdin|v2.ktrx|g' from-pipe
	check "ktrace $c - reads standard input" cmp from-pipe from-file
done
refused diff 'only one trace can be standard input' - -

# ---- options that are given twice: sets grow, a second value that selects is refused, others replace the first

# same COMMAND WORD… -- WORD…: checks that a command prints the same with the first and the second arguments.
same() {
	command=$1 first=
	shift
	while [ "$1" != -- ]; do
		first="$first $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	run "$command" $first
	cp output before
	run "$command" "$@"
	check "$command$first: the same as $*" test "$status" = 0
	check "$command$first: the same output as $*" cmp before output
}
same show --cpu 0 --cpu 1 v2.ktrx -- --cpu 0,1 v2.ktrx
same show --event sched.wake --event sched.switch v2.ktrx -- --event sched.wake,sched.switch v2.ktrx
works show --cpu --cpu 0 v2.ktrx -- --cpu 0 --cpu 1 v2.ktrx
works show --event --event sched.wake v2.ktrx -- --event sched.wake --event sched.switch v2.ktrx
same hwt --calls -s 0 -s 1 beside.steps -- --calls -s 0,1 beside.steps
for option in '--pid 12' '--since 1us' '--until 1us' '--where true'; do
	# shellcheck disable=SC2086
	refused show "${option%% *} is given twice" $option $option v2.ktrx
done
refused kdump '-p is given twice' -p 1 -p 2 none
refused live 'pid is given twice' --tail 1 --pid 1 --pid 2 v2.ktrx
same show --limit 3 --limit 1 v2.ktrx -- --limit 1 v2.ktrx

# ---- colours and the pager
for c in show summary stats check why; do
	works $c --color v2.ktrx -- --color always v2.ktrx
done
works life --color thread 12 v2.ktrx -- --color always thread 12 v2.ktrx
works doctor --color v2.ktrx -- --color always v2.ktrx
works sql --color v2.ktrx 'SELECT(1),(2)AS"CPU1"' -- --color always v2.ktrx 'SELECT(1),(2)AS"CPU1"'
for c in show summary stats check why life doctor sql; do
	refused $c --color --color green v2.ktrx
	beyond $c --no-pager test/golden/terminal.sh
done

for c in show summary stats sql life check why export decode doctor; do
	listed $c
done
done_testing
