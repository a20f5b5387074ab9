import SealStatements

/// What a record must look like before anything is sealed.
enum RecordRules {
    /// That no record is named twice.
    static func checkNames(_ ids: [Record.ID]) throws(SealKitError) {
        guard Set(ids).count == ids.count else {
            throw SealKitError(
                .invalidArguments, "a record appears twice in one request", remedy: "name each record once")
        }
    }

    static func check(_ record: Record) throws(SealKitError) {
        func refuse(_ reason: String, _ remedy: String) -> SealKitError {
            SealKitError(.invalidArguments, "record \(record.recordID.recordName): \(reason)", remedy: remedy)
        }
        guard Names.isPlain(record.recordID.recordName) else {
            throw refuse("a record name has 1 to 255 printable ASCII characters", "choose another name")
        }
        guard Names.isRecordType(record.recordType) else {
            throw refuse(
                "\"\(record.recordType)\" is not a record type", "use a letter, then letters, digits and underscores")
        }
        guard record.parent?.recordName != record.recordID.recordName else {
            throw refuse("a record cannot be its own parent", "name another parent, or none")
        }
        guard record.fields.count <= Limits.fieldsPerRecord else {
            let (name, count) = (record.recordID.recordName, record.fields.count)
            throw SealKitError(
                .limitExceeded, "record \(name) has \(count) fields; \(Limits.fieldsPerRecord) are allowed",
                remedy: "keep some of them in another record")
        }
        for (key, state) in record.fields {
            guard Names.isIdentifier(key) else {
                throw refuse("\"\(key)\" is not a field name", "use a letter, then letters, digits and underscores")
            }
            guard !Names.isReservedField(key) else {
                throw refuse("the field name \(key) is CloudKit's own", "choose another name")
            }
            switch state {
            case .plain(let value), .encrypted(let value):
                switch value.fault {
                case .dateNotFinite?:
                    throw refuse("\(key) has a date that is no finite number", "set a date that there is")
                case .mixedList?:
                    throw refuse("\(key) is a list of several kinds, or of lists", "give all elements one kind")
                case nil: break
                }
            case .asset, .omitted: break
            }
            if case .encrypted(let value) = state, !value.tag.mayBeEncrypted {
                throw refuse(
                    "\(key) is a reference, and references cannot be encrypted values",
                    "set it as a plain field: the server follows references")
            }
            if case .asset(let asset) = state, asset.remote == nil, asset.fileURL == nil {
                throw refuse("the asset \(key) has no file", "make it with Asset(fileURL:)")
            }
        }
    }
}
