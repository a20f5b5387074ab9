#!/bin/sh
# Compiles the core and the client as Embedded Swift for a browser's machine: proves that they need no Foundation, no
# runtime and no operating system. Takes no network; fails when one does not compile, or when it warns.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Where libsodium's headers lie: pkg-config is silent when that is the system's own folder.
sodium=$(pkg-config --variable=includedir libsodium)
mkdir "$out/sodium"
ln -s "$sodium/sodium.h" "$sodium/sodium" "$out/sodium/"

# compile MODULE FILES…
compile() {
    module=$1
    shift
    echo "$module"
    swiftc -enable-experimental-feature Embedded -target wasm32-unknown-none-wasm \
        -wmo -parse-as-library -Osize -swift-version 6 \
        -enable-upcoming-feature ExistentialAny \
        -enable-upcoming-feature MemberImportVisibility \
        -enable-upcoming-feature InternalImportsByDefault \
        -strict-memory-safety -warnings-as-errors \
        -Xcc -nostdlibinc -Xcc -isystem -Xcc "$here/libc" -Xcc -isystem -Xcc "$out/sodium" \
        -Xcc -fmodule-map-file="$root/Sources/CSodium/module.modulemap" \
        -I "$out" -module-name "$module" \
        -emit-module -emit-module-path "$out/$module.swiftmodule" \
        -c "$@" -o "$out/$module.o"
}

for module in SealPrimitives SealStatements SealEnvelope SealClient; do
    compile $module $(find "$root/Sources/$module" -name '*.swift')
done
compile Uses "$here/Uses.swift"
ls -l "$out"/*.o
echo "The core and the client compile as Embedded Swift."
