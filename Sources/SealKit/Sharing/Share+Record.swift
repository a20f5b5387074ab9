import Foundation
import SealEnvelope

/// Title, type, thumbnail and the app's own fields live in the share's record, as encrypted values.
extension Share {
    static let described: Set<String> = ["title", "shareType", "thumbnailImageData"]

    /// Puts into the record what was set of this share's description, and of the app's own fields: what another device
    /// has set since stays. One that is new, or does not open, gets the whole description.
    /// - Throws: `invalidArguments` for a field of the app's own under the name of a share's.
    func describe(_ record: inout Record) throws(SealKitError) {
        let keys = record.base?.recordKey == nil ? Self.described : changedDescription
        if keys.contains("title") { record.encryptedValues["title"] = title }
        if keys.contains("shareType") { record.encryptedValues["shareType"] = shareType }
        if keys.contains("thumbnailImageData") { record.encryptedValues["thumbnailImageData"] = thumbnailImageData }
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
        (title, shareType, thumbnailImageData) = Self.description(record)
        (asRead, setKeys) = (preview, [])
        fields = record
        fields.fields = record.fields.filter { !Self.described.contains($0.key) }
        fields.changed = []
    }

    /// Takes over what of its description was not set here, as the record says it by now: saving it puts nothing back,
    /// and URLs show it.
    mutating func complete(by record: Record) {
        // One that does not open says nothing.
        guard record.base?.recordKey != nil else { return }
        let (changed, now) = (changedDescription, Self.description(record))
        if !changed.contains("title") { title = now.title }
        if !changed.contains("shareType") { shareType = now.shareType }
        if !changed.contains("thumbnailImageData") { thumbnailImageData = now.thumbnail }
        (asRead, setKeys) = (preview, changed)
    }

    /// Whether saving it has something to say that the record does not.
    func differs(from record: Record) -> Bool {
        guard record.base?.recordKey != nil, fields.changed.isEmpty else { return true }
        let now = Self.description(record)
        return title != now.title || shareType != now.shareType || thumbnailImageData != now.thumbnail
    }

    /// What was set of title, type and thumbnail since the share was read.
    var changedDescription: Set<String> {
        var changed = setKeys
        let now = preview
        if now.title != asRead.title { changed.insert("title") }
        if now.shareType != asRead.shareType { changed.insert("shareType") }
        if now.thumbnail != asRead.thumbnail { changed.insert("thumbnailImageData") }
        return changed
    }

    private static func description(_ record: Record) -> (title: String, shareType: String, thumbnail: Data?) {
        (
            record.encryptedValues["title"] ?? "", record.encryptedValues["shareType"] ?? "",
            record.encryptedValues["thumbnailImageData"]
        )
    }
}
