# root.sh - makes minimal root folders with this machine's release of Debian or Ubuntu by debootstrap, for scripts that
# run commands as on a bare machine. They source it in the tree's top folder, and define the variables `program`, `logs`
# (a folder) and `dir` (where roots are made), and the function fail().
#
# Packages come from the mirror of this machine's apt, with its network settings. The roots, of up to 5 GB, are always
# removed; their mounts are in a namespace of their own, so that they end with the last process.
# shellcheck disable=SC2154 # variables of the scripts

. tools/dev/environment.sh
[ "$(id -u)" = 0 ] || fail 'it has to be root, for debootstrap and mount'
for tool in debootstrap git unshare chroot apt-get; do
    command -v $tool >/dev/null || fail "$tool is missing"
done
mkdir -p "$logs"
top=$(mktemp -d "$dir/$program.XXXXXX")
child=
end() {
    [ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>/dev/null || :
    rm -rf --one-file-system "$top"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

# ---- Package sources

# shellcheck disable=SC1091 # the system's
. /etc/os-release
codename=$VERSION_CODENAME

# Prints lines for sources.list. They come from apt itself, which reads all forms of its configuration and lists each
# index once.
list_sources() {
    # shellcheck disable=SC2016 # of apt
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v id="$ID" -v codename="$codename" '
            tolower($1) == id && ($3 == codename || index($3, codename "-") == 1) { print "deb", $2, $3, $4 }' | sort -u
}
sources=$(list_sources)
if [ -z "$sources" ]; then
    apt-get update >"$logs/update.log" 2>&1 || fail "apt-get update failed: $logs/update.log"
    sources=$(list_sources)
fi
mirror=$(echo "$sources" | awk -v codename="$codename" '$3 == codename { print $2; exit }')
[ -n "$mirror" ] || fail "apt has no source of $ID $codename"

# Copies apt's network settings, and the files that they and the certificates' variables name.
copy_settings() { # ROOT
    apt-config dump | grep '^Acquire::' >"$1/etc/apt/apt.conf.d/99host" || :
    {
        sed -n 's/.* "\(\/[^"]*\)";$/\1/p' "$1/etc/apt/apt.conf.d/99host"
        # shellcheck disable=SC2086 # words
        printenv $certificates || :
    } | sort -u | while read -r path; do
        if [ -f "$path" ]; then mkdir -p "$1$(dirname "$path")" && cp -L "$path" "$1$path"; fi
    done
    for path in auth.conf auth.conf.d; do
        if [ -e "/etc/apt/$path" ]; then cp -a "/etc/apt/$path" "$1/etc/apt/"; fi
    done
    cp -L /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null || :
    echo "$sources" >"$1/etc/apt/sources.list"
}

# debootstrap ignores apt's settings, but reads a proxy from the environment.
for scheme in http https; do
    eval "$(apt-config shell proxy "Acquire::$scheme::Proxy")"
    case ${proxy-} in '' | DIRECT) ;; *) export "${scheme}_proxy=$proxy" ;; esac
    unset proxy
done

# ---- The root

# Runs a command in namespaces of its own, so that its processes and mounts end with it. The command runs in the
# background, because a shell handles signals only while it is in `wait`.
await() { # COMMAND...
    unshare --mount --pid --fork --kill-child --mount-proc "$@" &
    child=$! status=0
    wait $child || status=$?
    child=
    return $status
}

make_root() { # ROOT
    echo "$program: debootstrap of $codename from $mirror"
    await debootstrap --variant=minbase "$codename" "$1" "$mirror" >"$logs/debootstrap.log" 2>&1 ||
        fail "debootstrap failed; the last lines of $logs/debootstrap.log:
$(tail -n 5 "$logs/debootstrap.log")"
    copy_settings "$1"
    mkdir "$1/root/checkout"
}

# Runs a command in a root, in the folder /root/checkout.
in_root() { # ROOT COMMAND...
    # shellcheck disable=SC2016 # of the inner shell
    await sh -c '
        set -eu
        mount -t proc proc "$1/proc"
        mount --rbind /sys "$1/sys"
        mount --rbind /dev "$1/dev"
        root=$1
        shift
        . tools/dev/environment.sh
        exec_clean HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" \
            sh -c "cd /root/checkout && exec \"\$@\"" sh "$@"' sh "$@"
}
