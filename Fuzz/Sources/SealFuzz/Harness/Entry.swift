import CFuzz
import SealPrimitives

// libFuzzer brings `main`, and calls these two. The target is named by `--target=<name>`: libFuzzer ignores flags that
// begin with two hyphens, and hands them on when it starts itself again.

@_cdecl("LLVMFuzzerInitialize")
func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
    Sodium.start()
    if CommandLine.arguments.contains("--list") { list() }
    // What the targets share is made before allocations are watched.
    World.prepare()
    Selection.target.run([])
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
func runOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    cfuzz_watch()
    Selection.target.run(input)
    let largest = cfuzz_largest()
    // A value of four bytes takes 72 in a list. For more than that a count or a length has been believed that has no
    // bytes to show for it.
    require(
        largest <= count * 32 + Selection.target.allowance,
        "an input of \(count) bytes led to an allocation of \(largest)")
    return 0
}

private enum Selection {
    static let target: any FuzzTarget.Type = {
        let flag = "--target="
        let name = CommandLine.arguments.first { $0.hasPrefix(flag) }?.dropFirst(flag.count)
        guard let target = targets.first(where: { $0.name == name.map(String.init) }) else {
            stop("--target= has to be one of: \(targets.map { $0.name }.joined(separator: " "))")
        }
        return target
    }()
}
