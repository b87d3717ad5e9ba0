# environment.sh - starts commands with a clean environment, for .ci/run and tools/dev/root.sh, which source this file.
#
# A machine's other variables, such as PYTHONUNBUFFERED, can hide faults of the tests.

# Variables that are kept: settings of the network's proxies, and files of certificates.
proxies='http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY'
certificates='SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE PIP_CERT GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS'

# Replaces the shell by a command, whose environment has only these variables and those that NAME=VALUE sets.
exec_clean() { # [NAME=VALUE...] COMMAND...
    for variable in $proxies $certificates; do
        eval "[ -z \"\${$variable-}\" ] || set -- \"$variable=\$$variable\" \"\$@\""
    done
    exec env -i "$@"
}
