import SealPrimitives

/// Finds a request's records and their fields in its bytes. What is not written as this server would write it is not
/// read here: then there is no answer, and SwiftProtobuf has to.
struct SentRecordReader {
    private let bytes: [UInt8]
    private var offset = 0
    /// Most batches have records with as many fields as the one before.
    private var fieldCount = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: The request

    /// Where the records of a `ModifyRecordsRequest { records = 4 }` are, and where everything else is.
    static func parts(of bytes: [UInt8]) -> (records: [Range<Int>], others: [Range<Int>])? {
        var reader = SentRecordReader(bytes)
        var (records, others): ([Range<Int>], [Range<Int>]) = ([], [])
        while reader.offset < bytes.count {
            let start = reader.offset
            guard let key = reader.varint(before: bytes.count) else { return nil }
            if key == 4 << 3 | 2 {
                guard let record = reader.content(before: bytes.count) else { return nil }
                records.append(record)
                continue
            }
            switch key & 7 {
            case 0: guard reader.varint(before: bytes.count) != nil else { return nil }
            case 2: guard reader.content(before: bytes.count) != nil else { return nil }
            default: return nil
            }
            others.append(start..<reader.offset)
        }
        return (records, others)
    }

    // MARK: Records

    /// `Record { record_name = 1, record_type = 2, change_tag = 3, fields = 6, statement = 7, deleted = 10 }`, each but
    /// the fields once at most.
    mutating func record(in range: Range<Int>) -> SentRecord? {
        offset = range.lowerBound
        let end = range.upperBound
        var name, type, tag: String?
        var statement: Range<Int>?
        var isDeletedSaid = false
        var fields: [SentField] = []
        fields.reserveCapacity(fieldCount)
        while offset < end {
            let start = offset
            offset += 1
            switch bytes[start] {
            case 1 << 3 | 2 where name == nil:
                guard let text = text(before: end) else { return nil }
                name = text
            case 2 << 3 | 2 where type == nil:
                guard let text = text(before: end) else { return nil }
                type = text
            case 3 << 3 | 2 where tag == nil:
                guard let text = text(before: end) else { return nil }
                tag = text
            case 6 << 3 | 2:
                guard let field = field(from: start, before: end) else { return nil }
                fields.append(field)
            case 7 << 3 | 2 where statement == nil:
                guard let content = content(before: end) else { return nil }
                statement = content
            case 10 << 3 where !isDeletedSaid:
                // The statement says it, and is believed alone.
                guard varint(before: end) == 1 else { return nil }
                isDeletedSaid = true
            default: return nil
            }
        }
        fieldCount = fields.count
        return SentRecord(
            recordName: name ?? "", recordType: type ?? "", changeTag: tag ?? "",
            statement: statement.map { Array(bytes[$0]) } ?? [], fields: fields, bytes: bytes)
    }

    /// `Field { name = 1, encrypted = 3 { kind = 1, sealed = 2 } }`: the bytes that `FieldEncoder` makes of it.
    private mutating func field(from start: Int, before end: Int) -> SentField? {
        guard let field = content(before: end) else { return nil }
        let end = field.upperBound
        offset = field.lowerBound
        guard take(1 << 3 | 2, before: end), let name = text(before: end), !name.isEmpty,
            take(3 << 3 | 2, before: end), let value = content(before: end), value.upperBound == end
        else { return nil }
        offset = value.lowerBound
        guard take(1 << 3, before: end), let kind = varint(before: end), let tag = UInt8(exactly: kind), tag > 0,
            take(2 << 3 | 2, before: end), let sealed = content(before: end), !sealed.isEmpty, sealed.upperBound == end
        else { return nil }
        return SentField(name: name, content: .encrypted(tag: tag, sealed: sealed, element: start..<end))
    }

    // MARK: Values

    private mutating func take(_ byte: UInt8, before end: Int) -> Bool {
        guard offset < end, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    /// A number in the fewest bytes.
    private mutating func varint(before end: Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < end {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            // The tenth byte has the last bit; and a last byte of 0 adds nothing.
            if byte < 0x80 { return (shift < 63 || byte == 1) && (byte != 0 || shift == 0) ? value : nil }
            shift += 7
            guard shift <= 63 else { return nil }
        }
        return nil
    }

    private mutating func content(before end: Int) -> Range<Int>? {
        guard let length = varint(before: end), length <= UInt64(end - offset) else { return nil }
        defer { offset += Int(length) }
        return offset..<offset + Int(length)
    }

    /// UTF-8, or nothing.
    private mutating func text(before end: Int) -> String? {
        content(before: end).flatMap { String(wellFormed: bytes[$0]) }
    }
}
