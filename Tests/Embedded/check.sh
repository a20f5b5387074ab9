#!/usr/bin/env bash
# Links the core as a browser's module and runs it: every vector file, then the module's own operations, in node. Builds the page's
# module twice, from sources in folders of different depth, and wants the same bytes; the library's is made by the same steps. What is built is kept in .build/web-core until a source changes.
#
# Embedded Swift judges a generic's body where it is specialised: only what is linked and run is known to be the core.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/.build/web-core
again=$root/.build/web-core/again/in/a/deeper/folder

"$root/Tests/Support/setup" wasi-libc binaryen brotli nodejs
. "$root/Web/core/toolchain.sh"
cd "$root"

sources=(CSodium SealVectorChecks SealWeb SealWebLibrary SealQuery "${core_modules[@]}")
# Everything that the bytes depend on.
inputs=$({
    swiftc --version 2>/dev/null
    dpkg-query --show wasi-libc binaryen
    find "${sources[@]/#/Sources/}" Web Tests/Embedded -type f | LC_ALL=C sort | xargs sha256sum
} | sha256sum | cut -d ' ' -f 1)

# The same core with the vectors' judge beside it. What SealClient offers is compiled where it is used, so it is used once.
build_vectors() {
    compile_swift "$root" "$out" SealClientUses object Tests/Embedded/Uses.swift
    compile_swift "$root" "$out" SealVectorChecks interface $(swift_files Sources/SealVectorChecks)
    compile_swift "$root" "$out" SealWebVectors object $(swift_files Tests/Embedded/Vectors)
    link_module "$out" vectors.wasm 'SealWeb SealWebVectors' \
        core_start core_reserve core_release vectors_call vectors_check vectors_names vectors_summary
}

# From a copy of the sources, with a libsodium of its own.
build_again() {
    mkdir -p "$again/.build" "$again/Sources"
    rm -rf "$again/Web" "$again/Sources"/*
    ln -sfn "$root/.build/libsodium" "$again/.build/libsodium"
    cp -R Web "$again/Web"
    for module in "${sources[@]}"; do cp -R "Sources/$module" "$again/Sources/$module"; done
    "$again/Web/core/build" "$again/out" core | sed 's/^/again: /'
}

if [ "$(cat "$out/checked" 2>/dev/null)" != "$inputs" ]; then
    rm -f "$out/checked"
    # The source once, before two want it.
    Web/core/libsodium "$out/libsodium"
    build_again &
    second=$!
    Web/core/build "$out"
    build_vectors
    wait "$second"
    # And what is packed of it: all that a browser gets.
    /usr/bin/python3 -B Web/bundle.py Web/client "$out/core.wasm" "$out/web"
    /usr/bin/python3 -B "$again/Web/bundle.py" "$again/Web/client" "$again/out/core.wasm" "$again/out/web" >/dev/null
    for file in core.wasm web/bundle web/manifest.txt; do
        cmp "$out/$file" "$again/out/$file" ||
            { printf 'The same sources give other bytes in another folder.\n' >&2; exit 1; }
    done
    printf '%s\n' "$inputs" >"$out/checked"
fi
cat "$out/core.json"
# Shows first that a file that is altered is missed.
mkdir -p "$out/altered"
sed '/"encoded" :/s/0/1/' Vectors/pae.json >"$out/altered/pae.json"
if node "$here/vectors.mjs" "$out/vectors.wasm" "$out/altered" pae >"$out/altered/log"; then
    printf 'An altered vector is not missed.\n' >&2
    exit 1
fi
grep -q '^1 files, [0-9]* tests, [1-9]' "$out/altered/log" || { cat "$out/altered/log" >&2; exit 1; }
node "$here/vectors.mjs" "$out/vectors.wasm" Vectors | tee "$out/vectors.log"
log=$out/module.log
node "$here/module.mjs" "$out/core.wasm" "$out/vectors.wasm" Vectors >"$log" 2>&1 || { cat "$log"; exit 1; }
size=$(sed -n 's/.*"brotli": \([0-9]*\)$/\1/p' "$out/core.json")
printf "The core in a browser's module: %s; what a guest does works; %d bytes by brotli, the same twice.\n" \
    "$(tail -n 1 "$out/vectors.log")" "$size"
