package import SealPrimitives

/// How bytes pass between the host and the module: the host reserves memory, writes what it has to say, and calls; it
/// reads the answer, and releases both. An answer is LE32 of what follows, one byte for how it went, and its bytes.
package enum Exchange {
    /// The bytes are what was asked for.
    private static let done: UInt8 = 0
    /// The bytes are the name of what was refused.
    private static let refused: UInt8 = 1

    /// What the host wrote. It is copied: the host may write there again at once.
    package static func input(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Memory that the host reads and then releases.
    package static func answer(_ body: () throws(Refusal) -> [UInt8]) -> UnsafeMutablePointer<UInt8> {
        do {
            var output = try body()
            defer { wipe(&output) }
            return unsafe write(done, output)
        } catch {
            return unsafe write(refused, [UInt8](error.name.utf8))
        }
    }

    /// The same for what the core alone refuses.
    package static func answer(_ body: () throws(SealError) -> [UInt8]) -> UnsafeMutablePointer<UInt8> {
        unsafe answer { () throws(Refusal) in try core(body) }
    }

    private static func write(_ status: UInt8, _ output: [UInt8]) -> UnsafeMutablePointer<UInt8> {
        let memory = unsafe reserve(output.count + 5)
        for index in 0..<4 {
            unsafe memory[index] = UInt8(truncatingIfNeeded: (output.count + 1) >> (8 * index))
        }
        unsafe memory[4] = status
        unsafe (memory + 5).update(from: output, count: output.count)
        return unsafe memory
    }

    fileprivate static func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        UnsafeMutablePointer<UInt8>.allocate(capacity: max(count, 1))
    }
}

/// Memory for the host to write to.
@_expose(wasm, "core_reserve") @_cdecl("core_reserve")
public func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> { unsafe Exchange.reserve(count) }

/// Gives back what was reserved, or an answer. It may have held a secret, so it is wiped.
@_expose(wasm, "core_release") @_cdecl("core_release")
public func release(_ memory: UnsafeMutablePointer<UInt8>, _ count: Int) {
    unsafe memory.update(repeating: 0, count: count)
    unsafe memory.deallocate()
}
