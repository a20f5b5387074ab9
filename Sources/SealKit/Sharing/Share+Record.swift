import Foundation

/// Title, type, thumbnail and the app's own fields live in the share's record, as encrypted values.
extension Share {
    static let described: Set<String> = ["title", "shareType", "thumbnailImageData"]

    /// Puts into the record what this share says of itself, and what of the app's own fields was set.
    /// - Throws: `invalidArguments` for a field of the app's own under the name of a share's.
    func describe(_ record: inout Record) throws(SealKitError) {
        record.encryptedValues["title"] = title
        record.encryptedValues["shareType"] = shareType
        record.encryptedValues["thumbnailImageData"] = thumbnailImageData
        for key in fields.changed.sorted() {
            guard !Self.described.contains(key) else {
                throw SealKitError(
                    .invalidArguments, "the field \(key) of a share is its own", remedy: "choose another name")
            }
            record.set(key, fields.fields[key])
        }
    }

    /// Takes over what the record says.
    mutating func read(_ record: Record) {
        title = record.encryptedValues["title"] ?? ""
        shareType = record.encryptedValues["shareType"] ?? ""
        thumbnailImageData = record.encryptedValues["thumbnailImageData"]
        undescribed = []
        fields = record
        fields.fields = record.fields.filter { !Self.described.contains($0.key) }
        fields.changed = []
    }

    /// Takes over what of its description this share was kept without, so that saving it says the same again.
    mutating func complete(by record: Record) {
        if undescribed.contains("title") { title = record.encryptedValues["title"] ?? "" }
        if undescribed.contains("shareType") { shareType = record.encryptedValues["shareType"] ?? "" }
        if undescribed.contains("thumbnailImageData") {
            thumbnailImageData = record.encryptedValues["thumbnailImageData"]
        }
        undescribed = []
    }

    /// Whether saving it has something to say that the record does not.
    func differs(from record: Record) -> Bool {
        let thumbnail: Data? = record.encryptedValues["thumbnailImageData"]
        return title != record.encryptedValues["title"] || shareType != record.encryptedValues["shareType"]
            || thumbnailImageData != thumbnail || !fields.changed.isEmpty
    }
}
