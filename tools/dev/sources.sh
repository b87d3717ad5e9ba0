# sources.sh - lists the sources for tools/dev/lint and tools/dev/format, which source this file in the tree's top
# folder.

FORMATTER=14 # version of clang-format that the sources follow

is_formatter() { clang-format --version 2>/dev/null | grep -q "version $FORMATTER\."; }

# Prints the files that git tracks; without git, all files.
sources() { git ls-files 2>/dev/null || find . -type f -not -path './build*' | sed 's|^\./||'; }

# The generator's expected outputs are left out, because they are not formatted.
c_sources() { sources | grep -E '\.([ch]|hpp)$' | grep -v '^tests/gen/cases/'; }

is_written_for() { # PATTERN FILE
    head -n 1 "$2" 2>/dev/null | grep -qE "^#!.*$1"
}

shell_sources() {
    for path in configure $(sources | grep -E '^(tools|\.ci)/'); do
        if is_written_for '(sh|bash)$' "$path"; then echo "$path"; fi
    done
}

python_sources() {
    for path in $(sources | grep -E '^(gen|tools|tests)/'); do
        case $path in
        *.py) echo "$path" ;;
        *) if is_written_for 'python3$' "$path"; then echo "$path"; fi ;;
        esac
    done
}
