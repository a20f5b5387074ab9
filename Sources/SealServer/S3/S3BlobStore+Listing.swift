import Foundation
import NIOHTTP1
package import SealStorage

/// What the store has, by the order of names.
extension S3BlobStore: ListedBlobs {
    package func blobs(after id: BlobID?) async throws -> BlobListing {
        try await told {
            let prefix = client.place.prefix
            let start = id.map { [("start-after", prefix + Self.key($0))] } ?? []
            var (found, given, pages) = ([BlobListing.Entry](), String?.none, S3Pages(most: .max))
            // Whoever holds rows against it goes by that order.
            var before = id?.description ?? ""
            while true {
                let page = try await objects(below: "", given.map { [("continuation-token", $0)] } ?? start)
                for object in page.objects {
                    guard let id = Self.id(ofKey: object.key) else { continue }
                    guard id.description > before else {
                        throw S3Failure.untrue("a list that is not in the order of names")
                    }
                    before = id.description
                    found.append(BlobListing.Entry(id: id, written: object.written))
                }
                // What is not ours may fill whole pages.
                guard let next = page.next, found.isEmpty else {
                    return BlobListing(entries: found, isLast: page.next == nil)
                }
                try pages.goOn(to: [next], behind: page.objects.count)
                given = next
            }
        }
    }

    /// Nil for what is no blob's.
    static func id(ofKey key: String) -> BlobID? {
        key.split(separator: "/").last.flatMap { BlobID($0) }.flatMap { Self.key($0) == key ? $0 : nil }
    }

    struct Object: Sendable {
        /// Below the place's prefix.
        let key: String
        let written: Date
    }

    /// Those whose keys begin so.
    func objects(below key: String) async throws -> [Object] {
        var (page, pages) = (try await objects(below: key, []), S3Pages())
        var found = page.objects
        while let next = page.next {
            try pages.goOn(to: [next], behind: page.objects.count)
            page = try await objects(below: key, [("continuation-token", next)])
            found += page.objects
        }
        return found
    }

    /// A page of a list, and the token of the next one.
    private func objects(
        below key: String, _ place: [(String, String)]
    ) async throws -> (objects: [Object], next: String?) {
        let prefix = client.place.prefix
        let query = [
            ("list-type", "2"), ("prefix", prefix + key), ("max-keys", "\(client.settings.page)"),
        ]
        let list = try await client.send(S3Request(.GET, nil, query: query + place)).document("ListBucketResult")
        let objects = try list.all("Contents").map { object in
            guard let full = object["Key"], full.hasPrefix(prefix),
                let written = object["LastModified"].flatMap(Self.date)
            else { throw S3Failure.untrue("an object without its key or time") }
            return Object(key: String(full.dropFirst(prefix.count)), written: written)
        }
        guard list["IsTruncated"] == "true" else { return (objects, nil) }
        return (objects, list["NextContinuationToken"] ?? "")
    }
}
