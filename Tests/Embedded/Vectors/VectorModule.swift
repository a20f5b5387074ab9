import SealHPKE
import SealPrimitives
import SealVectorChecks
import SealWeb

/// What the check's module has beside the core: a vector file in, the account of it out. The judgement is the one that
/// `sealkit vectors verify` gives; the host only hands JSON's values over.
nonisolated(unsafe) private var tally = VectorTally()

/// Takes a construction's name and its file; answers with the lines of the account.
@_expose(wasm, "vectors_check") @_cdecl("vectors_check")
public func check(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe Exchange.answer { () throws(SealError) in
        var reader = CanonicalReader(unsafe Exchange.input(bytes, count))
        guard let construction = VectorConstruction(rawValue: try reader.string(atMost: 255)) else {
            throw .unsupported
        }
        let json = try JSON(&reader)
        try reader.finish()
        do throws(VectorError) {
            let file = try VectorFile(json)
            let misses = construction.misses(in: file, using: SodiumHPKE.self)
            return lines(unsafe tally.add(construction, file, misses: misses))
        } catch {
            return lines([unsafe tally.add(unreadable: construction, error.description)])
        }
    }
}

/// The names of all constructions, each on its line, then the summary of what was checked.
@_expose(wasm, "vectors_names") @_cdecl("vectors_names")
public func names() -> UnsafeMutablePointer<UInt8> {
    unsafe Exchange.answer { () throws(SealError) in lines(VectorConstruction.allCases.map { $0.rawValue }) }
}

@_expose(wasm, "vectors_summary") @_cdecl("vectors_summary")
public func summary() -> UnsafeMutablePointer<UInt8> {
    unsafe Exchange.answer { () throws(SealError) in lines([unsafe tally.summary]) }
}

private func lines(_ lines: [String]) -> [UInt8] { [UInt8](lines.joined(separator: "\n").utf8) }

extension JSON {
    /// As `vectors.mjs` writes it: a letter, then the value; what is nested follows its count.
    init(_ reader: inout CanonicalReader) throws(SealError) {
        switch Character(UnicodeScalar(try reader.byte())) {
        case "s": self = .string(try reader.string(atMost: .max))
        case "i": self = .int(Int(try reader.number(Int32.self)))
        case "b": self = .bool(try reader.flag())
        case "a":
            var elements: [JSON] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 1)) { elements.append(try JSON(&reader)) }
            self = .array(elements)
        case "o":
            var values: [String: JSON] = [:]
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 5)) {
                let key = try reader.string(atMost: .max)
                values[key] = try JSON(&reader)
            }
            self = .object(values)
        default: self = .other
        }
    }
}
