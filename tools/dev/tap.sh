# tap.sh - runs tests that write TAP and counts their results, for tools/check, tools/dev/gpu-check and
# tools/dev/run-tests. They source this file and set $results to a folder. Counts are written to $results/counts, and
# the processor time of each test and build, in seconds, to $results/cpu.
# shellcheck disable=SC2154,SC2034,SC2016 # variables set by the sourcing program, or read into nothing; a script

# Number of tests that run at a time; start_jobs sets it.
jobs=1

start_results() {
    began=$(date +%s)
    rm -rf "$results"
    mkdir -p "$results"
    : >"$results/counts"
    : >"$results/cpu"
    # Tests must not depend on the machine's own settings.
    unset CF_DRIVER CF_CHECK CF_THREADS CF_MACHINE_FILE CF_TRACE FAKE_CUDA || :
    # All calls run on a GPU if there is one, unless a test sets another value.
    CF_HOST_DATA=stage
    export CF_HOST_DATA
}

count() { # PASSED FAILED SKIPPED
    echo "$@" >>"$results/counts"
}

# Records a failed test, which print_results lists.
fail() { # NAME LOG
    count 0 1 0
    echo "$1: $2" >>"$results/failures"
}

# Records tests that are not run. A reason that begins with "needs" names a missing thing; print_results adds up the
# tests with the same reason.
skip() { # NAME REASON [COUNT]
    count 0 0 "${3-1}"
    printf '%s\t%s\n' "${3-1}" "$2" >>"$results/skips"
    say "$(printf '%-44s %4d skipped: %s' "$1" "${3-1}" "$2")"
}

# Prints the names of the test programs, one for each tests/*/test_*.c and tests/lib/*/test_*.c.
c_tests() {
    basename -as .c tests/*/test_*.c tests/lib/*/test_*.c | sort
}

# Prints the path of a test's source file.
file_of() { # FILE
    for path in tests/*/"$1" tests/lib/*/"$1"; do
        if [ -e "$path" ]; then
            echo "$path"
            return
        fi
    done
}

# Tests that the user has named; all tests if there are none.
only=''
is_wanted() { # NAME
    case " $only " in '  ' | *" $1 "*) ;; *) return 1 ;; esac
}

# ---- Output: printed at once, so that lines of several jobs do not mix

say() { # TEXT
    echo "$1"
    : >"$results/said"
}

put() { # FILE
    cat "$1"
    : >"$results/said"
}

# Prints the names of the running jobs whenever there was no other output for 20 s.
start_ticker() {
    tick &
    ticker=$!
    trap 'kill $ticker 2>/dev/null || :' EXIT
}

tick() {
    quiet=0
    while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do # redirected, so that `sleep` does not hold a pipe open
        quiet=$((quiet + 5))
        [ ! -e "$results/said" ] || quiet=0
        rm -f "$results/said"
        [ $quiet -ge 15 ] || continue
        at_work=$(list_work)
        [ -z "$at_work" ] || echo "$at_work"
        quiet=0
    done
}

list_work() {
    text=''
    for marker in "$results"/at_work.*; do
        { read -r since log && read -r name; } 2>/dev/null <"$marker" || continue # the job has just ended
        progress=$(sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/\1 of \2/p' "$log" | tail -n 1)
        case $name,$progress in
        building*,?*) ;;
        *) progress="$(($(date +%s) - since)) s" ;;
        esac
        text="$text${text:+; }$name: $progress"
    done
    echo "$text"
}

# ---- Several at a time

# Starts jobs in the background. The pipe on descriptor 8 holds a line for each free slot; a job takes a line and
# returns it at its end. Its command has its own session, so that a signal ends everything that it has started.
start_jobs() { # COUNT
    if [ "$1" -le 1 ] || ! command -v setsid >/dev/null 2>&1; then return; fi
    jobs=$1 last_build=''
    mkfifo "$results/slots"
    exec 8<>"$results/slots"
    give_slots
    for signal in HUP INT TERM; do
        # shellcheck disable=SC2064 # expands this signal now
        trap "end_jobs $signal" $signal
    done
}

give_slots() {
    slot=0
    while [ $slot -lt "$jobs" ]; do
        echo >&8
        slot=$((slot + 1))
    done
}

job() { # FUNCTION ARGUMENT...
    if [ "$jobs" = 1 ]; then
        ("$@") || :
        return
    fi
    read -r token <&8
    run_job "$@" &
}

run_job() { # FUNCTION ARGUMENT...
    "$@" || :
    echo >&8
}

# Waits until no job runs.
finish_jobs() {
    [ "$jobs" -gt 1 ] || return 0
    slot=0
    while [ $slot -lt "$jobs" ]; do
        read -r token <&8
        slot=$((slot + 1))
    done
    give_slots
}

# Runs a command without input. Its output goes to the file LOG, its exit code to $code.
run_logged() { # NAME LOG COMMAND...
    name=$1 log=$2 code=0
    shift 2
    if [ "$jobs" = 1 ]; then
        printf '%s\n' "$(date +%s) $log" "$name" >"$results/at_work.0"
        sh -c "$timed" "$log.times" "$@" >>"$log" 2>&1 </dev/null || code=$?
        rm -f "$results/at_work.0"
    else
        setsid sh -c "$timed" "$log.times" "$@" >>"$log" 2>&1 </dev/null 8>&- &
        group=$!
        printf '%s\n' "$(date +%s) $log" "$name" >"$results/at_work.$group"
        { wait $group || code=$?; } 2>>"$log" # the log also gets the shell's message if a signal ended the command
        rm "$results/at_work.$group"
    fi
    [ ! -e "$log.times" ] || count_times
}

# Script of a shell around a command, which writes the processor times of the command and of its children.
timed='"$@"; code=$?; times >"$0"; exit $code'

count_times() {
    awk -v name="$name" -F '[ms ]+' 'NR == 2 { printf "%.1f\t%s\n", $1 * 60 + $2 + $3 * 60 + $4, name }' "$log.times" \
        >>"$results/cpu"
    rm "$log.times"
}

end_jobs() { # SIGNAL
    trap '' HUP INT TERM
    : >"$results/ended"
    for signal in TERM KILL; do
        for path in "$results"/at_work.*; do
            if [ -e "$path" ]; then kill -s $signal -- "-${path##*.}" 2>/dev/null || :; fi
        done
        sleep 1
    done
    kill "$ticker" 2>/dev/null || :
    trap - "$1"
    kill -s "$1" $$
}

# ---- Tests

log_of() { # NAME
    log=$results/$(echo "$1" | tr -c 'A-Za-z0-9_\n' _).log
    : >"$log"
}

# Runs a wanted test. At its end, prints a line, with the time if it was long, and details of failures. A program that
# crashes or reports no test has failed, whatever passed before. NAME begins with the test's name, up to a comma.
tap() { # NAME COMMAND...
    if is_wanted "${1%%,*}"; then job run_tap "$@"; fi
}

run_tap() {
    label=$1
    shift
    log_of "$label"
    began_at=$(date +%s)
    run_logged "$label" "$log" env CMOCKA_MESSAGE_OUTPUT=TAP "$@"
    awk -v name="$label" -v code="$code" -v seconds=$(($(date +%s) - began_at)) -v log_file="$log" \
        -v results="$results" '
        function skip(reason) {
            skipped++
            if (!reasons[reason]++) why = why (why ? "; " : "") reason
        }
        # CMocka writes "not ok # SKIP" for skipped tests, without a reason; tests print the reason in a comment line
        # before.
        /^ok [0-9]+/ && /# SKIP/ { reason = $0; sub(/.*# SKIP */, "", reason); skip(reason); next }
        /^not ok [0-9]+ # SKIP/ { skip(comment ? comment : "gives no reason"); comment = ""; next }
        /^# skip: / { comment = $0; sub(/^# skip: /, "", comment); next }
        # These are counts of test_fault, which print_results adds up.
        /^# [0-9]+ faults injected, [0-9]+ leaks$/ { print $2, $5 >> (results "/faults"); next }
        /^ok [0-9]+/ { passed++; next }
        /^not ok [0-9]+/ { failed++ }
        END {
            if ((code != 0 && !failed) || passed + failed + skipped == 0) failed++
            line = sprintf("%-44s %4d passed", name, passed)
            how = code > 128 ? "signal " code - 128 : "exit " code
            if (failed) line = line sprintf(", %d FAILED (%s, %s)", failed, how, log_file)
            if (seconds >= 10) line = line sprintf(", in %d s", seconds)
            if (skipped) line = line sprintf(", %d skipped: %s", skipped, why)
            print line
            print passed + 0, failed + 0, skipped + 0 >> (results "/counts")
            for (reason in reasons) printf "%d\t%s\n", reasons[reason], reason >> (results "/skips")
            if (failed) print name ": " log_file >> (results "/failures")
            exit failed > 0
        }' "$log" >"$log.report" || sed -n '/^ok /!s/^/    /p' "$log" | tail -n 40 >>"$log.report"
    put "$log.report"
    rm "$log.report"
    ! grep -qxF "$label: $log" "$results/failures" 2>/dev/null
}

# Runs a command that passes if it exits with 0 and prints LINE.
prints() { # NAME LINE COMMAND...
    title=$1 line=$2
    shift 2
    tap "$title" sh -c 'text=$("$@") && echo "$text" && echo "$text" | grep -qxF "$0" && echo "ok 1 - $0"' "$line" "$@"
}

# Runs one test of a build, with the driver that the environment names.
run_test() { # TEST FOLDER CONFIGURATION ENVIRONMENT...
    test=$1 folder=$2 title="$1, $3"
    shift 3
    case $test in
    test_run | test_info | *.py) tap "$title" env "$@" "$python" "$(file_of "${test%.py}.py")" "$folder" ;;
    *) tap "$title" env "$@" "$folder/tests/$test" ;;
    esac
}

# Prints the setting of LD_LIBRARY_PATH with which CF_DRIVER=cuda loads the played GPU's driver.
fake_of() { # FOLDER
    echo "LD_LIBRARY_PATH=$(cd "$1/tests/fake" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

# ---- Builds

# Configures and builds $targets. A build that fails counts as a failed test, and other tests still run.
build_with='' build_env='' targets='all tests'
build() { # FOLDER CONFIGURE-OPTION...
    folder=$1
    shift
    label="building $folder"
    log_of "build_$(basename "$folder")"
    say "$label: $*"
    # shellcheck disable=SC2086 # words
    run_logged "$label" "$log" $build_with env ${build_env:+"$build_env"} ./configure --builddir="$folder" "$@"
    # shellcheck disable=SC2086
    [ "$code" != 0 ] || run_logged "$label" "$log" $build_with env ${build_env:+"$build_env"} ninja -C "$folder" -k 0 $targets
    if [ "$code" = 0 ]; then
        echo "built $folder" >"$log.report"
        sed -n -e 's/^CUDA toolkit /    &/p' -e 's/^GPU targets /    &/p' "$folder/config.log" >>"$log.report"
        count 1 0 0
    else
        tail -n 40 "$log" >"$log.report"
        echo "$label FAILED ($log)" >>"$log.report"
        fail "$label" "$log"
    fi
    put "$log.report"
    rm "$log.report"
}

# Builds in the background while tests run, after earlier builds and with low priority; `finish_build` waits for it.
start_build() { # FOLDER CONFIGURE-OPTION...
    mark=$results/built.$(basename "$1")
    if [ -z "$targets" ]; then
        : >"$mark"
    elif [ "$jobs" = 1 ]; then
        build "$@"
    else
        build_after "$last_build" "$mark" "$@" &
        last_build=$mark
    fi
}

build_after() { # MARK-OF-THE-ONE-BEFORE MARK FOLDER CONFIGURE-OPTION...
    before=$1 mark=$2
    shift 2
    while [ -n "$before" ] && [ ! -e "$before" ]; do sleep 0.2; done
    [ ! -e "$results/ended" ] || return 0
    [ -z "$before" ] || build_with="nice -n 10 $build_with" # all else waits for the first build
    build "$@" || :
    : >"$mark"
}

finish_build() { # FOLDER
    [ "$jobs" -gt 1 ] || return 0
    while [ ! -e "$results/built.$(basename "$1")" ]; do sleep 0.2; done
}

# ---- Results

# Prints the closing lines. Returns false if anything failed or nothing ran.
print_results() {
    if [ -e "$results/skips" ]; then
        echo 'skipped:'
        awk -F '\t' '
            function with_commas(n) { return n < 1000 ? n : with_commas(int(n / 1000)) sprintf(",%03d", n % 1000) }
            { count[$2] += $1 }
            END {
                for (reason in count) {
                    n = count[reason]
                    is_need = sub(/^needs /, n == 1 ? "needs " : "need ", reason)
                    printf "%d\t%9s%s %s\n", n, with_commas(n), is_need ? "" : ":", reason
                }
            }' "$results/skips" | sort -t '	' -k 1,1nr -k 2 | cut -f 2-
    fi
    if [ -e "$results/failures" ]; then
        echo 'failed:'
        sort "$results/failures" | sed 's/^/    /'
    fi
    if [ -e "$results/faults" ]; then
        awk '{ injected += $1; leaks += $2 }
             END { printf "%d faults injected, %d leaks\n", injected, leaks }' "$results/faults"
    fi
    seconds=$(($(date +%s) - began))
    spent=$(awk '{ sum += $1 } END { printf "%d", sum }' "$results/cpu")
    echo "$((seconds / 60)) min $((seconds % 60)) s, $spent s of processors"
    awk '{ passed += $1; failed += $2; skipped += $3 }
         END {
             printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
             exit failed > 0 || passed == 0
         }' "$results/counts"
}
