# tap.sh - what tools/check and tools/gpu-check share: running tests that write TAP, and counting their results.
# Sourced, with $results set to a folder; the counts go to $results/counts.

start_results() {
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

# Runs a test, prints one line for it and the details of what failed; its time, where that is long. A program that dies,
# or that counts nothing, has failed, whatever it passed before.
tap() { # NAME COMMAND...
    name=$1
    shift
    log=$results/$(echo "$name" | tr -c 'A-Za-z0-9_\n' _).log
    code=0
    started=$(date +%s)
    CMOCKA_MESSAGE_OUTPUT=TAP "$@" >"$log" 2>&1 </dev/null || code=$?
    awk -v name="$name" -v code=$code -v seconds=$(($(date +%s) - started)) -v log_file="$log" \
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
            if (failed) printf ", %d FAILED (exit %d, %s)", failed, code, log_file
            if (seconds >= 10) printf ", in %d s", seconds
            if (skipped) printf ", %d skipped: %s", skipped, why
            printf "\n"
            print passed + 0, failed + 0, skipped + 0 >> counts
            exit failed > 0
        }' "$log" || sed -n '/^ok /!s/^/    /p' "$log" | tail -n 40
}

# Runs a command that passes where it exits with 0 and its last line is the given one.
ends_with() { # NAME LINE COMMAND...
    name=$1 line=$2
    shift 2
    log=$results/$(echo "$name" | tr -c 'A-Za-z0-9_\n' _).log
    code=0
    "$@" >"$log" 2>&1 </dev/null || code=$?
    sed 's/^/    /' "$log"
    if [ $code = 0 ] && [ "$(tail -n 1 "$log")" = "$line" ]; then
        count 1 0 0
    else
        echo "$name FAILED: exit $code, and not \"$line\" in its last line"
        count 0 1 0
    fi
}

# Configures and builds; a build that fails is a failed test, and the others still run.
build() { # FOLDER CONFIGURE-OPTION...
    folder=$1
    shift
    log=$results/build_$(basename "$folder").log
    if ./configure --builddir="$folder" "$@" >"$log" 2>&1 && ninja -C "$folder" -k 0 all tests >>"$log" 2>&1; then
        echo "built $folder: $*"
        sed -n -e 's/^CUDA toolkit /    &/p' -e 's/^GPU targets /    &/p' "$folder/config.log"
        count 1 0 0
    else
        tail -n 40 "$log"
        echo "building $folder FAILED: $*"
        count 0 1 0
    fi
}

# Every test in C but those in $except, and of the command line, with an environment.
except=
on_driver() { # LABEL FOLDER ENVIRONMENT...
    label=$1 folder=$2
    shift 2
    for source in tests/test_*.c; do
        program=$(basename "$source" .c)
        case " $except " in *" $program "*) ;; *) tap "$program, $label" env "$@" "$folder/tests/$program" ;; esac
    done
    case " $except " in
    *" test_run "*) ;;
    *) tap "test_run, $label" env "$@" "${PYTHON:-python3}" tests/test_run.py "$folder" ;;
    esac
    case " $except " in
    *" test_bench.py "*) ;;
    *) tap "test_bench.py, $label" env "$@" "${PYTHON:-python3}" tests/test_bench.py "$folder" ;;
    esac
    tap "test_trace.py, $label" env "$@" "${PYTHON:-python3}" tests/test_trace.py "$folder"
}

# The closing lines; false where anything failed, or nothing ran.
print_results() {
    if [ -e "$results/faults" ]; then
        awk '{ injected += $1; leaks += $2 }
             END { printf "%d faults injected, %d leaks\n", injected, leaks }' "$results/faults"
    fi
    awk '{ passed += $1; failed += $2; skipped += $3 }
         END {
             printf "%d passed, %d failed", passed, failed
             if (skipped) printf ", %d skipped", skipped
             printf "\n"
             exit failed > 0 || passed == 0
         }' "$results/counts"
}
