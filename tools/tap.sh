# tap.sh - what tools/check and tools/gpu-check share: running tests that write TAP, and counting their results.
# Sourced, with $results set to a folder; the counts go to $results/counts.
# shellcheck disable=SC2154,SC2034 # what the sourcing program sets, and what is read to be gone

# One after the other, or by start_jobs several at a time; what is printed stands in the order of the calls either way.
jobs=1

start_results() {
    began=$(date +%s)
    rm -rf "$results"
    mkdir -p "$results"
    : >"$results/counts"
    # The machine's own settings are not the tests'.
    unset CF_DRIVER CF_CHECK CF_THREADS CF_MACHINE_FILE CF_TRACE FAKE_CUDA || :
    # What runs on a GPU is not to run on the CPU instead, unless a test says so.
    CF_HOST_DATA=stage
    export CF_HOST_DATA
}

count() { # PASSED FAILED SKIPPED
    echo "$@" >>"$results/counts"
}

# ---- Several at a time

# A job takes a line from the pipe of descriptor 8, and puts it back when it is done. Its command is in a session of its
# own, so that a signal ends all that it has started.
start_jobs() { # COUNT
    if [ "$1" -le 1 ] || ! command -v setsid >/dev/null 2>&1; then return; fi
    jobs=$1 started=0 printed=0 is_alone='' last_build=''
    mkfifo "$results/slots"
    exec 8<>"$results/slots"
    give_slots
    for signal in HUP INT TERM; do
        # shellcheck disable=SC2064 # this signal
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

# Calls a function, whose output is printed after that of all jobs before.
job() { # FUNCTION ARGUMENT...
    if [ "$jobs" = 1 ] || [ -n "$is_alone" ]; then
        "$@"
        return
    fi
    read -r token <&8
    print_jobs
    started=$((started + 1))
    run_job "$results/job.$started" "$@" &
}

run_job() { # OUTPUT FUNCTION ARGUMENT...
    output=$1
    shift
    "$@" >"$output.new" 2>&1 || :
    mv "$output.new" "$output"
    echo >&8
}

# What is ready to be printed.
print_jobs() {
    while [ -e "$results/job.$((printed + 1))" ]; do
        printed=$((printed + 1))
        cat "$results/job.$printed"
    done
}

# Waits until no job runs.
finish_jobs() {
    [ "$jobs" -gt 1 ] || return 0
    slot=0
    while [ $slot -lt "$jobs" ]; do
        read -r token <&8
        print_jobs
        slot=$((slot + 1))
    done
    give_slots
}

# What measures time, or fills the machine, runs at the end, when nothing else does.
alone() { # FUNCTION ARGUMENT...
    if [ "$jobs" = 1 ]; then
        "$@"
        return
    fi
    for word; do
        printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
    done >>"$results/alone"
    echo >>"$results/alone"
}

run_alone() {
    finish_jobs
    [ -e "$results/alone" ] || return 0
    is_alone=yes
    # shellcheck disable=SC1091 # written above
    . "$results/alone"
    is_alone=
}

# Runs a command without input, its output in a file; its exit code is in $code.
run_logged() { # LOG COMMAND...
    log=$1 code=0
    shift
    if [ "$jobs" = 1 ]; then
        "$@" >>"$log" 2>&1 </dev/null || code=$?
        return
    fi
    setsid "$@" >>"$log" 2>&1 </dev/null 8>&- &
    group=$!
    : >"$results/group.$group"
    wait $group || code=$?
    rm "$results/group.$group"
}

end_jobs() { # SIGNAL
    trap '' HUP INT TERM
    : >"$results/ended"
    for signal in TERM KILL; do
        for path in "$results"/group.*; do
            if [ -e "$path" ]; then kill -s $signal -- "-${path##*.}" 2>/dev/null || :; fi
        done
        sleep 1
    done
    trap - "$1"
    kill -s "$1" $$
}

# ---- Tests

log_of() { # NAME
    log=$results/$(echo "$1" | tr -c 'A-Za-z0-9_\n' _).log
    : >"$log"
}

# Runs a test, prints one line for it and the details of what failed; its time, where that is long. A program that dies,
# or that counts nothing, has failed, whatever it passed before.
tap() { # NAME COMMAND...
    job run_tap "$@"
}

run_tap() {
    name=$1
    shift
    log_of "$name"
    since=$(date +%s)
    run_logged "$log" env CMOCKA_MESSAGE_OUTPUT=TAP "$@"
    awk -v name="$name" -v code=$code -v seconds=$(($(date +%s) - since)) -v log_file="$log" \
        -v counts="$results/counts" -v faults="$results/faults" '
        # CMocka calls what skips itself "not ok", and gives no reason: the test prints it in a comment before.
        /^ok [0-9]+/ && /# SKIP/ { skipped++; why = $0; sub(/.*# SKIP */, "", why); next }
        /^not ok [0-9]+ # SKIP/ {
            skipped++
            why = comment != "" ? comment : "a test that is not for this driver"
            next
        }
        /^# skip: / { comment = $0; sub(/^# skip: /, "", comment); next }
        # What test_fault did: added up by print_results.
        /^# [0-9]+ faults injected, [0-9]+ leaks$/ { print $2, $5 >> faults; next }
        /^ok [0-9]+/ { passed++; next }
        /^not ok [0-9]+/ { failed++ }
        END {
            if ((code != 0 && !failed) || passed + failed + skipped == 0) failed++
            printf "%-44s %4d passed", name, passed
            how = code > 128 ? "signal " code - 128 : "exit " code
            if (failed) printf ", %d FAILED (%s, %s)", failed, how, log_file
            if (seconds >= 10) printf ", in %d s", seconds
            if (skipped) printf ", %d skipped: %s", skipped, why
            printf "\n"
            print passed + 0, failed + 0, skipped + 0 >> counts
            exit failed > 0
        }' "$log" || sed -n '/^ok /!s/^/    /p' "$log" | tail -n 40
}

# Runs a command that passes where it exits with 0 and its last line is the given one.
ends_with() { # NAME LINE COMMAND...
    job run_ends_with "$@"
}

run_ends_with() {
    name=$1 line=$2
    shift 2
    log_of "$name"
    run_logged "$log" "$@"
    sed 's/^/    /' "$log"
    if [ $code = 0 ] && [ "$(tail -n 1 "$log")" = "$line" ]; then
        count 1 0 0
    else
        echo "$name FAILED: exit $code, and not \"$line\" in its last line"
        count 0 1 0
    fi
}

# ---- Builds

# Configures and builds all but the tests in $unused; a build that fails is a failed test, and the others still run.
build_with='' unused=''
build() { # FOLDER CONFIGURE-OPTION...
    folder=$1
    shift
    log_of "build_$(basename "$folder")"
    # shellcheck disable=SC2086 # words
    run_logged "$log" $build_with ./configure --builddir="$folder" "$@"
    # shellcheck disable=SC2046,SC2086
    [ $code != 0 ] || run_logged "$log" $build_with ninja -C "$folder" -k 0 all $(targets_of "$folder")
    if [ $code = 0 ]; then
        echo "built $folder: $*"
        sed -n -e 's/^CUDA toolkit /    &/p' -e 's/^GPU targets /    &/p' "$folder/config.log"
        count 1 0 0
    else
        tail -n 40 "$log"
        echo "building $folder FAILED: $*"
        count 0 1 0
    fi
}

# What the target `tests` stands for, less what is not used.
targets_of() { # FOLDER
    # shellcheck disable=SC2013 # words
    for target in $(sed -n 's/^build tests: phony//p' "$1/build.ninja"); do
        case " $unused " in *" ${target#tests/} "*) ;; *) echo "$target" ;; esac
    done
}

# Builds while tests run, after what was started before, with the time that they leave; `finish_build` waits for it.
start_build() { # FOLDER CONFIGURE-OPTION...
    output=$results/built.$(basename "$1")
    if [ "$jobs" = 1 ]; then
        build "$@" >"$output" 2>&1
    else
        build_after "$last_build" "$output" "$@" &
        last_build=$output
    fi
}

build_after() { # OUTPUT-OF-THE-ONE-BEFORE OUTPUT FOLDER CONFIGURE-OPTION...
    before=$1 output=$2
    shift 2
    while [ -n "$before" ] && [ ! -e "$before" ]; do sleep 0.2; done
    [ ! -e "$results/ended" ] || return 0
    [ -z "$before" ] || build_with="nice -n 10 $build_with" # for the first one all wait
    build "$@" >"$output.new" 2>&1 || :
    mv "$output.new" "$output"
}

finish_build() { # FOLDER
    output=$results/built.$(basename "$1")
    if [ "$jobs" = 1 ]; then
        cat "$output"
        return
    fi
    while [ ! -e "$output" ]; do
        print_jobs
        sleep 0.2
    done
    job cat "$output"
}

# Every test in C but those in $except, and of the command line, with an environment. Those in $measured run alone.
except='' measured=''
on_driver() { # LABEL FOLDER ENVIRONMENT...
    label=$1 folder=$2
    shift 2
    for source in tests/test_*.c; do
        program=$(basename "$source" .c)
        case " $except " in *" $program "*) continue ;; esac
        how=
        case " $measured " in *" $program "*) how=alone ;; esac
        $how tap "$program, $label" env "$@" "$folder/tests/$program"
    done
    case " $except " in
    *" test_run "*) ;;
    *) tap "test_run, $label" env "$@" "${PYTHON:-python3}" tests/test_run.py "$folder" ;;
    esac
    case " $except " in
    *" test_bench.py "*) ;;
    *) tap "test_bench.py, $label" env "$@" "${PYTHON:-python3}" tests/test_bench.py "$folder" ;;
    esac
    case " $except " in
    *" test_tune.py "*) ;;
    *)
        how=
        case " $measured " in *" test_tune.py "*) how=alone ;; esac
        $how tap "test_tune.py, $label" env "$@" "${PYTHON:-python3}" tests/test_tune.py "$folder"
        ;;
    esac
    tap "test_trace.py, $label" env "$@" "${PYTHON:-python3}" tests/test_trace.py "$folder"
}

# The closing lines; false where anything failed, or nothing ran.
print_results() {
    if [ -e "$results/faults" ]; then
        awk '{ injected += $1; leaks += $2 }
             END { printf "%d faults injected, %d leaks\n", injected, leaks }' "$results/faults"
    fi
    seconds=$(($(date +%s) - began))
    echo "$((seconds / 60)) min $((seconds % 60)) s"
    awk '{ passed += $1; failed += $2; skipped += $3 }
         END {
             printf "%d passed, %d failed", passed, failed
             if (skipped) printf ", %d skipped", skipped
             printf "\n"
             exit failed > 0 || passed == 0
         }' "$results/counts"
}
