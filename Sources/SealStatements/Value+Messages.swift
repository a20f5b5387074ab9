public import SealPrimitives

// What a message has to keep to, whichever codec has read it: SealCoding for SwiftProtobuf's, SealClient by hand.

extension Value {
    /// A time in its one form, in messages as in the canonical encoding.
    /// - Throws: `malformed` for one that is not finite or is a negative zero.
    public static func canonicalSeconds(_ number: Double) throws(SealError) -> Double {
        guard number.isFinite, number != 0 || number.sign == .plus else { throw .malformed }
        return number
    }

    /// A list in a message.
    /// - Parameter read: a value out of one element; it throws for a list.
    /// - Throws: `malformed` for elements of several kinds, and what `read` throws.
    public init<Element>(
        listInMessage elements: [Element], _ read: (Element) throws(SealError) -> Value
    ) throws(SealError) {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            let value = try read(element)
            guard value.kind == (values.first ?? value).kind else { throw .malformed }
            values.append(value)
        }
        self = .list(values)
    }
}

extension ReferenceValue {
    /// A reference in a message.
    /// - Throws: `malformed` for an unknown action, and for what is no record's name.
    public init(inMessage recordName: String, action: UInt32) throws(SealError) {
        guard let byte = UInt8(exactly: action), let action = Action(rawValue: byte), Names.isPlain(recordName) else {
            throw .malformed
        }
        self.init(recordName: recordName, action: action)
    }
}

extension [Digest] {
    /// A tree's siblings from the leaf up, one after the other.
    /// - Throws: `malformed`.
    public init(treePath bytes: [UInt8]) throws(SealError) {
        let (count, rest) = bytes.count.quotientAndRemainder(dividingBy: Digest.byteCount)
        guard rest == 0, count <= 32 else { throw .malformed }
        var reader = CanonicalReader(bytes)
        self = []
        reserveCapacity(count)
        for _ in 0..<count { append(try reader.digest()) }
    }
}

extension TakenRecord {
    /// - Parameters:
    ///   - record: the statement that the message brings, verified.
    ///   - field: whose reference it names.
    ///   - fields: of the record, as the message has them.
    ///   - read: one of them with its name.
    /// - Throws: `invalidNotice` where the reference is missing; what `read` throws, and decoding errors.
    public init<Field>(
        record: VerifiedStatement, field: String, fieldsInMessage fields: [Field],
        _ read: (Field) throws(SealError) -> (name: String, field: WireField)
    ) throws(SealError) {
        var reference: Value?
        var others: [FieldDigest] = []
        others.reserveCapacity(fields.count)
        for wire in fields {
            let (name, content) = try read(wire)
            if name == field, reference == nil, case .stored(.plain(let value), _) = content {
                reference = value
            } else {
                others.append(FieldDigest(name: name, digest: try content.digest(name: name)))
            }
        }
        guard let reference else { throw .invalidNotice }
        self.init(record: record, field: field, reference: reference, otherFields: others)
    }
}
