import SealStatements

extension Schema {
    /// What every container has without anybody declaring it: people, and the records of shares, whose title, type and
    /// thumbnail are always sealed.
    public static let builtIn = Schema(types: [
        Names.usersType: RecordType(name: Names.usersType),
        Names.shareType: RecordType(
            name: Names.shareType,
            fields: [
                "title": .init(ValueType(.string), isEncrypted: true),
                "shareType": .init(ValueType(.string), isEncrypted: true),
                "thumbnailImageData": .init(ValueType(.data), isEncrypted: true),
            ]),
    ])

    /// With the built-in types and their fields, where they are missing.
    public var completed: Schema {
        var schema = self
        for (name, type) in Schema.builtIn.types {
            schema.types[name, default: type].fields.merge(type.fields) { own, _ in own }
        }
        return schema
    }
}
