package import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Assets that are being uploaded in parts, in the caller's transaction. Such an upload is a staged blob without a
/// size: it has the bytes that were announced, counts as they do, and is swept as a staged blob is, a day after its
/// newest part.
package struct Uploads {
    package let id: String
    package let zone: ZoneRow
    package let connection: any SQLConnection

    package init(id: String, zone: ZoneRow, connection: any SQLConnection) {
        self.id = id
        self.zone = zone
        self.connection = connection
    }

    private var key: [SQLValue] { zone.key + [.text(id)] }

    package struct Row: Sendable {
        package let stored: BlobID
        package let layout: UploadLayout
        /// When its newest part came, or else when it began.
        let touched: Int64
    }

    // MARK: The upload

    /// Begins, or finds what the same caller has begun with the same length: an answer that was lost costs nothing.
    /// - Returns: also whether it is still to get a file.
    /// - Throws: `quotaExceeded`, `limitExceeded`; `serverRejectedRequest` for an id that is taken.
    package func begin(
        _ layout: UploadLayout, stored: BlobID, by caller: Caller, limits: AbuseLimits, quotas: Quotas, now: Int64
    ) throws -> (row: Row, needsFile: Bool) {
        if let open = try find(of: caller), open.layout == layout {
            // With a part of it the file was there: made again it would be another one.
            let hasParts = try connection.exists(
                "SELECT 1 FROM asset_part WHERE owner = $1 AND zone = $2 AND id = $3 AND stored = 1", key)
            return (open, !hasParts)
        }
        try checkOpen(by: caller, limits)
        try Blobs.begin(
            id, stored: stored, announced: layout.blobBytes, content: layout.contentBytes, in: zone, by: caller,
            limits: limits,
            quotas: quotas, now: now, connection)
        return (Row(stored: stored, layout: layout, touched: now), true)
    }

    /// Over all containers of the account.
    private func checkOpen(by caller: Caller, _ limits: AbuseLimits) throws {
        let open =
            try connection.first(
                """
                SELECT COUNT(*) AS count FROM blob WHERE uploader IN (SELECT id FROM identity WHERE account = $1)
                    AND size IS NULL AND content IS NOT NULL
                """, [.integer(caller.accountID)]
            ) { Int(try $0.int64("count")) } ?? 0
        guard open < limits.openUploadsPerAccount else {
            throw ServerError(
                .limitExceeded, "The account has \(limits.openUploadsPerAccount) uploads in parts open already.",
                remedy: "Finish or abandon one; one that gets no part is given up after a day.")
        }
    }

    /// The open upload, if it is the caller's own.
    package func find(of caller: Caller) throws -> Row? {
        try connection.first(
            """
            SELECT stored, content, created FROM blob
            WHERE owner = $1 AND zone = $2 AND id = $3 AND uploader = $4 AND size IS NULL AND content IS NOT NULL
            """, key + [.integer(caller.id)]
        ) { row in
            guard let stored = BlobID(try row.text("stored")) else {
                throw StorageError.unexpectedType(column: "stored", wanted: "a blob id")
            }
            let layout = try UploadLayout(contentBytes: try row.int64("content"), isSealed: !zone.isPublic)
            return Row(stored: stored, layout: layout, touched: try row.int64("created"))
        }
    }

    /// - Throws: `assetNotAvailable`.
    package func open(of caller: Caller) throws -> Row {
        guard let row = try find(of: caller) else { throw Self.notOpen }
        return row
    }

    package static let notOpen = ServerError(
        .assetNotAvailable, "The caller has no open upload with this id.",
        remedy: "Begin the upload anew, with another id.")

    package func wire(_ row: Row) throws -> Sealkit_V1_UploadState {
        let present = try connection.rows(
            "SELECT part FROM asset_part WHERE owner = $1 AND zone = $2 AND id = $3 AND stored = 1 ORDER BY part", key
        ) { try $0.int64("part") }
        var ranges: [Sealkit_V1_PartRange] = []
        for part in present {
            if let last = ranges.last, Int64(last.first) + Int64(last.count) == part {
                ranges[ranges.count - 1].count += 1
            } else {
                ranges.append(
                    .with {
                        $0.first = UInt32(clamping: part)
                        $0.count = 1
                    })
            }
        }
        return .with {
            $0.contentBytes = UInt64(clamping: row.layout.contentBytes)
            $0.partChunks = UInt32(Limits.assetPartChunks)
            $0.partCount = UInt32(clamping: row.layout.partCount)
            $0.parts = ranges
            $0.expires = row.touched + Blobs.stagedFor
        }
    }

    // MARK: Parts

    /// The hashes of a part's chunks, where its bytes are there.
    package func leaves(ofPart part: Int64) throws -> [UInt8]? {
        try connection.first(
            """
            SELECT leaves FROM asset_part WHERE owner = $1 AND zone = $2 AND id = $3 AND part = $4 AND stored = 1
            """, key + [.integer(part)]
        ) { try $0.bytes("leaves") }
    }

    /// What the part is stands once and for all, before its bytes are on the disk.
    /// - Throws: `assetFileModified` for other bytes than those that came before.
    package func reserve(_ part: Int64, leaves: [UInt8]) throws {
        let count = try connection.execute(
            """
            INSERT INTO asset_part (owner, zone, id, part, stored, leaves) VALUES ($1, $2, $3, $4, 0, $5)
            ON CONFLICT (owner, zone, id, part) DO UPDATE SET leaves = excluded.leaves
            WHERE asset_part.leaves = excluded.leaves
            """, key + [.integer(part), .blob(leaves)])
        guard count == 1 else { throw Self.otherBytes }
    }

    /// The part's bytes are on the disk, and what it is stands once and for all.
    /// - Throws: `assetFileModified` for other bytes than those that came before.
    package func stored(_ part: Int64, leaves: [UInt8], now: Int64) throws {
        let count = try connection.execute(
            """
            INSERT INTO asset_part (owner, zone, id, part, stored, leaves) VALUES ($1, $2, $3, $4, 1, $5)
            ON CONFLICT (owner, zone, id, part) DO UPDATE SET stored = 1 WHERE asset_part.leaves = excluded.leaves
            """, key + [.integer(part), .blob(leaves)])
        guard count == 1 else { throw Self.otherBytes }
        try touch(now)
    }

    package static let otherBytes = ServerError(
        .assetFileModified, "Other bytes were uploaded as this part before.",
        remedy: "Begin the upload anew, with another id and another key.")

    private func touch(_ now: Int64) throws {
        try connection.execute(
            "UPDATE blob SET created = $4 WHERE owner = $1 AND zone = $2 AND id = $3", key + [.integer(now)])
    }

    /// The leaves of all parts, one after the other.
    /// - Throws: `constraintViolation` while a part is missing.
    package func leaves(_ row: Row) throws -> [Digest] {
        var leaves: [Digest] = []
        leaves.reserveCapacity(Int(row.layout.chunkCount))
        var next: Int64 = 0
        try connection.stream(
            "SELECT part, leaves FROM asset_part WHERE owner = $1 AND zone = $2 AND id = $3 AND stored = 1 ORDER BY part",
            key
        ) { part in
            guard try part.int64("part") == next else { return false }
            let bytes = try part.bytes("leaves")
            for start in stride(from: 0, to: bytes.count, by: Digest.byteCount) {
                leaves.append(try Digest(bytes[start..<start + Digest.byteCount]))
            }
            next += 1
            return true
        }
        guard next == row.layout.partCount else {
            throw ServerError(
                .constraintViolation, "Part \(next) of the upload is missing.",
                remedy: "Send the parts that the upload's state does not list, then finish.")
        }
        return leaves
    }

    /// Makes a staged blob of it, which a record may claim.
    /// - Throws: `assetNotAvailable` where the upload has gone meanwhile.
    package func finish(_ row: Row, root: Digest, now: Int64) throws {
        guard try Blobs.finish(id, stored: row.stored, size: row.layout.blobBytes, root: root, in: zone, connection)
        else {
            throw Self.notOpen
        }
        try touch(now)
        try connection.execute("DELETE FROM asset_part WHERE owner = $1 AND zone = $2 AND id = $3", key)
    }

    /// Whether it was finished before, as just this asset.
    package func isFinished(by caller: Caller, root: Digest) throws -> Bool {
        let blob = try Blobs.find(id, in: zone, connection)
        return blob?.size != nil && blob?.uploader == caller.id && blob?.root == root
    }
}
