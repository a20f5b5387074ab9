package import SealPrimitives
package import SealStatements

/// A vector's inputs and outputs by name.
package struct Fields {
    package var values: [String: JSON]

    package init(values: [String: JSON]) { self.values = values }

    package func has(_ key: String) -> Bool { values[key] != nil }

    package func string(_ key: String) throws(VectorError) -> String {
        guard case .string(let value)? = values[key] else { throw .missing(key) }
        return value
    }

    package func int(_ key: String) throws(VectorError) -> Int {
        guard case .int(let value)? = values[key] else { throw .missing(key) }
        return value
    }

    package func bool(_ key: String) throws(VectorError) -> Bool {
        guard case .bool(let value)? = values[key] else { throw .missing(key) }
        return value
    }

    package func array(_ key: String) throws(VectorError) -> [JSON] {
        guard case .array(let value)? = values[key] else { throw .missing(key) }
        return value
    }

    package func object(_ key: String) throws(VectorError) -> Fields {
        guard case .object(let value)? = values[key] else { throw .missing(key) }
        return Fields(values: value)
    }

    package func objects(_ key: String) throws(VectorError) -> [Fields] {
        try array(key).map { json throws(VectorError) in
            guard case .object(let value) = json else { throw .missing(key) }
            return Fields(values: value)
        }
    }

    package func strings(_ key: String) throws(VectorError) -> [String] {
        try array(key).map { json throws(VectorError) in
            guard case .string(let value) = json else { throw .missing(key) }
            return value
        }
    }

    // MARK: What strings and numbers stand for

    package func bytes(_ key: String) throws(VectorError) -> [UInt8] {
        let text = try string(key)
        guard let bytes = try? Hex.decode(text) else { throw .missing(key) }
        return bytes
    }

    package func number<N: FixedWidthInteger>(_ key: String, as: N.Type = N.self) throws(VectorError) -> N {
        guard let value = N(try string(key)) else { throw .missing(key) }
        return value
    }

    /// A small number of a type that has not all of them.
    package func small<N: FixedWidthInteger>(_ key: String, as: N.Type = N.self) throws(VectorError) -> N {
        guard let value = N(exactly: try int(key)) else { throw .missing(key) }
        return value
    }

    package func secret(_ key: String) throws(VectorError) -> SecretBytes { SecretBytes(copying: try bytes(key)) }

    package func digest(_ key: String) throws(VectorError) -> Digest {
        let bytes = try bytes(key)
        guard let digest = try? Digest(bytes) else { throw .missing(key) }
        return digest
    }

    package func digests(_ key: String) throws(VectorError) -> [Digest] {
        try strings(key).map { text throws(VectorError) in try core(Digest(Hex.decode(text))) }
    }

    package func id(_ key: String) throws(VectorError) -> ID16 {
        let bytes = try bytes(key)
        guard let id = try? ID16(bytes) else { throw .missing(key) }
        return id
    }

    package func user(_ key: String) throws(VectorError) -> UserID {
        let name = try string(key)
        guard let user = try? UserID(recordName: name) else { throw .missing(key) }
        return user
    }

    /// The recorded output has to be what was computed.
    package func expect(_ key: String, _ computed: JSON) throws(VectorError) {
        guard values[key] == computed else { throw .differs(key) }
    }
}
