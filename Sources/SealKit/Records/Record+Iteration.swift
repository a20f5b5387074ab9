/// `for (key, value) in record`, in the order of the keys.
///
/// Encrypted fields are not among them, as they are not in `record[key]`: who copies what comes into another record
/// writes no sealed value where the server reads it. They are iterated as `record.encryptedValues`.
extension Record: Sequence {
    public typealias Element = (key: String, value: any RecordValueConvertible)

    public func makeIterator() -> AnyIterator<Element> {
        var keys = fields.keys.makeIterator()
        return AnyIterator {
            while let key = keys.next() {
                if let value = fields[key].flatMap({ Content($0) })?.value { return (key, value) }
            }
            return nil
        }
    }
}

extension Record.EncryptedValues: Sequence {
    public typealias Element = (key: String, value: any InlineRecordValue)

    public func makeIterator() -> AnyIterator<Element> {
        var keys = allKeys().makeIterator()
        return AnyIterator {
            while let key = keys.next() {
                if let value = value(key)?.swiftValue { return (key, value) }
            }
            return nil
        }
    }
}
