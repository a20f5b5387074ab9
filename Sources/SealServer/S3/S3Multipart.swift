import Foundation
import NIOCore
import NIOHTTP1
import SealStorage

/// Multipart uploads of an S3 store: begun, found again, completed and given up.
extension S3BlobStore {
    /// A part that the store has, as its list or its answer says.
    struct Part: Sendable {
        let number: Int
        let tag: String
        let size: Int64
    }

    /// One of somebody's, at any time.
    struct Upload: Sendable {
        let key: String
        let name: String
        let begun: Date?
    }

    /// - Returns: its name.
    func createUpload(_ id: BlobID) async throws -> String {
        let answer = try await client.send(S3Request(.POST, Self.key(id), query: [("uploads", "")]))
        guard let name = try answer.document("InitiateMultipartUploadResult")["UploadId"], !name.isEmpty else {
            throw S3Failure.untrue("no upload's id")
        }
        return name
    }

    /// The upload that all servers mean: of several that were begun at once, the first by time and name.
    func findUpload(_ id: BlobID) async throws -> String? {
        let key = Self.key(id)
        return try await uploads(below: key).filter { $0.key == key }
            .min { ($0.begun ?? .distantPast, $0.name) < ($1.begun ?? .distantPast, $1.name) }?.name
    }

    /// - Parameter key: the beginning of those to be listed.
    func uploads(below key: String) async throws -> [Upload] {
        let prefix = client.place.prefix
        var (found, pages) = ([Upload](), S3Pages())
        var markers: [(String, String)] = []
        while true {
            let query = [("uploads", ""), ("prefix", prefix + key)] + markers
            let answer = try await client.send(S3Request(.GET, nil, query: query))
            let list = try answer.document("ListMultipartUploadsResult")
            let uploads = list.all("Upload")
            for upload in uploads {
                guard let full = upload["Key"], full.hasPrefix(prefix), let name = upload["UploadId"] else { continue }
                found.append(
                    Upload(
                        key: String(full.dropFirst(prefix.count)), name: name,
                        begun: upload["Initiated"].flatMap(Self.date)))
            }
            guard list["IsTruncated"] == "true" else { return found }
            let next = [
                ("key-marker", list["NextKeyMarker"] ?? ""), ("upload-id-marker", list["NextUploadIdMarker"] ?? ""),
            ]
            try pages.goOn(to: next.map(\.1), behind: uploads.count)
            markers = next
        }
    }

    func sendPart(_ body: ByteBuffer, number: Int, of upload: String, _ id: BlobID) async throws -> Part {
        let answer = try await client.send(
            S3Request(
                .PUT, Self.key(id), query: [("partNumber", String(number)), ("uploadId", upload)], body: body))
        guard let tag = answer.headers.first(name: "etag"), !tag.isEmpty else {
            throw S3Failure.untrue("no tag of a part")
        }
        return Part(number: number, tag: tag, size: Int64(body.readableBytes))
    }

    /// What the store has of an upload, in order.
    func parts(of upload: String, _ id: BlobID) async throws -> [(part: Part, written: Date?)] {
        var found: [(part: Part, written: Date?)] = []
        var (marker, pages) = ([(String, String)](), S3Pages())
        while true {
            let answer = try await client.send(
                S3Request(.GET, Self.key(id), query: [("uploadId", upload)] + marker))
            let list = try answer.document("ListPartsResult")
            let parts = list.all("Part")
            for part in parts {
                guard let number = part["PartNumber"].flatMap({ Int($0) }), (1...10_000).contains(number),
                    let tag = part["ETag"], let size = part["Size"].flatMap({ Int64($0) }),
                    (0...Self.mostPartBytes).contains(size), found.count < 10_000
                else { throw S3Failure.untrue("a part without its number, tag or size") }
                found.append((Part(number: number, tag: tag, size: size), part["LastModified"].flatMap(Self.date)))
            }
            guard list["IsTruncated"] == "true" else { return Self.newest(found) }
            let next = list["NextPartNumberMarker"] ?? ""
            try pages.goOn(to: [next], behind: parts.count)
            marker = [("part-number-marker", next)]
        }
    }

    /// In their order. Of a part that was sent by two at once SeaweedFS lists both: the newest is the one that counts.
    private static func newest(_ found: [(part: Part, written: Date?)]) -> [(part: Part, written: Date?)] {
        var parts: [Int: (part: Part, written: Date?)] = [:]
        for each in found {
            if let other = parts[each.part.number], other.written ?? .distantPast > each.written ?? .distantPast {
                continue
            }
            parts[each.part.number] = each
        }
        return parts.values.sorted { $0.part.number < $1.part.number }
    }

    /// Gives the parts their name, durably once this returns; and once, where the store keeps names.
    ///
    /// An answer that was lost, or that says that it is done and is none, is looked for: what is there as long as it is
    /// to be was completed.
    /// - Throws: `alreadyExists`, `notFound` for an upload that is not there any more, `S3Failure`.
    func complete(_ upload: String, _ parts: [Part], as id: BlobID) async throws {
        let size = parts.reduce(0) { $0 + $1.size }
        let list = parts.map { part in
            "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(Self.escaped(part.tag))</ETag></Part>"
        }.joined()
        let body =
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(list)"
            + "</CompleteMultipartUpload>"
        var request = S3Request(
            .POST, Self.key(id), query: [("uploadId", upload)], body: ByteBuffer(string: body))
        request.headers.append(("content-type", "application/xml"))
        if keepsNames { request.headers.append(Self.once) }
        var tries = 0
        while true {
            do {
                _ = try await client.send(request).document("CompleteMultipartUploadResult")
                break
            } catch let failure as S3Failure {
                if try await sizeIfThere(id) == size, failure.follows || tries > 0 || !failure.isTaken { break }
                if failure.isUnknownToStore, request.headers.contains(where: { $0.name == Self.once.name }) {
                    // It knows that of single objects alone: the name was looked for.
                    request.headers.removeAll { $0.name == Self.once.name }
                    continue
                }
                if failure.isTaken { throw BlobStoreError.alreadyExists(id) }
                if failure.isNotFound { throw BlobStoreError.notFound(id) }
                // The client has tried again what it was not told of.
                guard failure.mayPass, tries < client.repetitions else { throw failure }
                try await client.pause(tries)
                tries += 1
            }
        }
        // Parts that the store has lost show in the length.
        guard try await sizeIfThere(id) == size else { throw S3Failure.untrue("that a blob is whole, and it is not") }
    }

    func abortUpload(_ upload: String, _ id: BlobID) async throws {
        do {
            _ = try await client.send(S3Request(.DELETE, Self.key(id), query: [("uploadId", upload)]))
        } catch let failure as S3Failure where failure.isNotFound {}
    }

    /// Nil also for a time that no clock shows.
    static func date(_ text: String) -> Date? {
        let date =
            (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: .iso8601))
        return date.flatMap { (0..<253_402_300_800).contains($0.timeIntervalSince1970) ? $0 : nil }
    }

    /// S3 has no larger ones.
    private static let mostPartBytes: Int64 = 5 << 30

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
