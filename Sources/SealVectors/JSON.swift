import Foundation
import SealPrimitives
import SealStatements

/// JSON as vector files hold it: bytes are lower-case hexadecimal strings, 64-bit numbers decimal strings.
enum JSON: Codable, Equatable {
    case string(String)
    case int(Int)
    case bool(Bool)
    case array([JSON])
    case object([String: JSON])
    /// Null or a fraction, of which others' files have some and ours none.
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent first: the published files are large.
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else if let value = try? container.decode([String: JSON].self) {
            self = .object(value)
        } else {
            self = .other
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        case .other: try container.encodeNil()
        }
    }

    static func hex(_ bytes: [UInt8]) -> JSON { .string(Hex.encode(bytes)) }
    static func hex(_ digest: Digest) -> JSON { .string(digest.hex) }
    static func hex(_ id: ID16) -> JSON { .string(id.hex) }
    static func hex(_ secret: SecretBytes) -> JSON { .hex(secret.copyBytes()) }
    static func number(_ value: some BinaryInteger) -> JSON { .string(String(value)) }
}

/// What a vector file can be wrong about, apart from the protocol.
enum VectorError: Error, CustomStringConvertible {
    case missing(String)
    case differs(String)

    var description: String {
        switch self {
        case .missing(let key): "“\(key)” is missing or of another type"
        case .differs(let key): "“\(key)” is not what the inputs give"
        }
    }
}

/// A vector's inputs and outputs by name.
struct Fields {
    var values: [String: JSON]

    func string(_ key: String) throws -> String {
        guard case .string(let value)? = values[key] else { throw VectorError.missing(key) }
        return value
    }

    func int(_ key: String) throws -> Int {
        guard case .int(let value)? = values[key] else { throw VectorError.missing(key) }
        return value
    }

    func bool(_ key: String) throws -> Bool {
        guard case .bool(let value)? = values[key] else { throw VectorError.missing(key) }
        return value
    }

    func array(_ key: String) throws -> [JSON] {
        guard case .array(let value)? = values[key] else { throw VectorError.missing(key) }
        return value
    }

    func object(_ key: String) throws -> Fields {
        guard case .object(let value)? = values[key] else { throw VectorError.missing(key) }
        return Fields(values: value)
    }

    func objects(_ key: String) throws -> [Fields] {
        try array(key).map { json in
            guard case .object(let value) = json else { throw VectorError.missing(key) }
            return Fields(values: value)
        }
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    func bytes(_ key: String) throws -> [UInt8] {
        guard let bytes = try? Hex.decode(string(key)) else { throw VectorError.missing(key) }
        return bytes
    }

    func number<N: FixedWidthInteger>(_ key: String, as: N.Type = N.self) throws -> N {
        guard let value = N(try string(key)) else { throw VectorError.missing(key) }
        return value
    }

    func secret(_ key: String) throws -> SecretBytes { SecretBytes(copying: try bytes(key)) }
    func digest(_ key: String) throws -> Digest {
        guard let digest = try? Digest(bytes(key)) else { throw VectorError.missing(key) }
        return digest
    }
    func id(_ key: String) throws -> ID16 {
        guard let id = try? ID16(bytes(key)) else { throw VectorError.missing(key) }
        return id
    }
    func user(_ key: String) throws -> UserID {
        guard let user = try? UserID(recordName: string(key)) else { throw VectorError.missing(key) }
        return user
    }

    /// The recorded output has to be what was computed.
    func expect(_ key: String, _ computed: JSON) throws {
        guard values[key] == computed else { throw VectorError.differs(key) }
    }
}

/// Deterministic randomness for generating: SHA-256 of a PAE of seed and block number. It records what it hands out, so
/// that a vector states the very bytes that a sealing function drew.
struct RecordingRandom: RandomSource {
    let seed: String
    private var block: UInt64 = 0
    private var left: [UInt8] = []
    private(set) var drawn: [UInt8] = []

    init(_ seed: String) { self.seed = seed }

    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices {
            if left.isEmpty {
                var pae = PAE(pieces: 2)
                pae.add(seed)
                pae.add(block)
                left = Hash.sha256(pae).bytes.reversed()
                block += 1
            }
            let byte = left.removeLast()
            drawn.append(byte)
            buffer[index] = byte
        }
    }
}

/// Hands out a vector's random bytes in their order; zeros when they run out, which no expected output survives.
struct ReplayedRandom: RandomSource {
    private var left: [UInt8]

    init(_ bytes: [UInt8]) { left = bytes.reversed() }

    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices { buffer[index] = left.popLast() ?? 0 }
    }
}
