# Sourced by what builds for the browser's machine: the toolchain, its flags, and how the core's modules compile.

# What the compiler says of itself, since a version manager's swiftc may lie elsewhere; clang, the linker and the archiver come with it.
swift_resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
swift_bin=$(cd "$swift_resources/../../bin" && pwd)
swift_lib=$swift_resources/embedded/wasm32-unknown-none-wasm
# Debian's wasi-libc, of which only its allocator and the functions on memory and strings are used.
wasi_include=/usr/include/wasm32-wasi
wasi_lib=/usr/lib/wasm32-wasi/libc.a

# The targets that the module is made of, each after those it imports.
core_modules=(SealPrimitives SealStatements SealEnvelope SealClient SealHPKE)
# Of SealQuery, how a record is held against a query: what needs no Foundation.
query_sources=(
    Predicate.swift Query.swift SystemField.swift Evaluation/Cells.swift Evaluation/Fold+Unicode.swift Evaluation/IndexKey.swift
    Evaluation/Query+Matches.swift Evaluation/Subject.swift Evaluation/ValueOrder.swift
)
core_exports=(core_start core_reserve core_release core_call)

c_flags=(
    --target=wasm32-wasi -isystem "$wasi_include" -mbulk-memory -msign-ext -mnontrapping-fptoint -ffunction-sections
    -fdata-sections
)

# compile_host ROOT OUT: OUT/objects/host.o, with libsodium's headers from OUT/libsodium.
compile_host() {
    mkdir -p "$2/objects"
    "$swift_bin/clang" "${c_flags[@]}" -O2 -Wall -Werror -I "$2/libsodium/include" -I "$2/libsodium/include/sodium" \
        -include "$1/Web/core/host.h" -c "$1/Web/core/host.c" -o "$2/objects/host.o"
}

# compile_swift ROOT OUT MODULE object|interface FILE…: OUT/MODULE.swiftmodule, with libsodium's headers from OUT/libsodium, and where
# an object is wanted OUT/objects/MODULE.o. In Embedded Swift a module's code is compiled where it is used: the object of the last
# module has that of all others in it. Without incremental code generation, since that leaves a hash of the paths in the object. What is
# inlined twice travels twice.
compile_swift() {
    local root=$1 out=$2 module=$3 products=()
    [ "$4" = interface ] || products=(-o "$out/objects/$module.o" -c)
    shift 4
    mkdir -p "$out/objects"
    swiftc -enable-experimental-feature Embedded -target wasm32-unknown-none-wasm -wmo -parse-as-library -Osize \
        -swift-version 6 -package-name sealkit -enable-upcoming-feature ExistentialAny \
        -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault \
        -strict-memory-safety -warnings-as-errors -Xfrontend -disable-incremental-llvm-codegen -Xllvm -inline-threshold=-30 -module-cache-path "$out/modules" \
        -Xcc -nostdlibinc -Xcc -isystem -Xcc "$wasi_include" -Xcc -D__wasi__ -Xcc -mbulk-memory -Xcc -msign-ext \
        -Xcc "-I$out/libsodium/include" -Xcc -DSODIUM_STATIC \
        -Xcc "-fmodule-map-file=$root/Sources/CSodium/module.modulemap" \
        -I "$out" -module-name "$module" -emit-module -emit-module-path "$out/$module.swiftmodule" "${products[@]}" "$@"
}

# swift_files FOLDER: its sources, in an order that no file system decides.
swift_files() { find "$1" -name '*.swift' | LC_ALL=C sort; }

# link_module OUT FILE MODULES EXPORT…: one wasm module of the host's object, these modules', libsodium and what of wasi-libc is used. Of
# Debian's binaryen the passes that take most off what travels: functions that are the same, arguments that nobody needs, what is known before or
# never used, and how memory is aligned, which machines know by themselves.
link_module() {
    local out=$1 file=$2 module export arguments=()
    for module in $3; do arguments+=("$out/objects/$module.o"); done
    shift 3
    for export in "$@"; do arguments+=("--export=$export"); done
    "$swift_bin/wasm-ld" --no-entry --gc-sections --strip-all --compress-relocations --stack-first -z stack-size=524288 "${arguments[@]}" \
        "$out/objects/host.o" "$out/libsodium/libsodium.a" "$wasi_lib" "$swift_lib/libswiftUnicodeDataTables.a" -o "$out/$file.linked"
    wasm-opt --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals --dae-optimizing \
        --duplicate-function-elimination --precompute-propagate --vacuum --optimize-instructions --reorder-locals \
        --duplicate-function-elimination --rse --vacuum --dealign "$out/$file.linked" -o "$out/$file"
    rm "$out/$file.linked"
}
