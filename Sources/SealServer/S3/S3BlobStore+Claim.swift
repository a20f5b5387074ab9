import NIOHTTP1
import SealStorage

/// Whose a place is, and that it is still.
extension S3BlobStore {
    /// That a name is given once.
    static let once = (name: "if-none-match", value: "*")

    /// Makes a place the owner's where it is nobody's.
    /// - Returns: whether a name that is taken is not given again, as it was asked.
    /// - Throws: `BlobStoreError.notOurs`; `S3Failure`.
    static func claim(
        _ client: S3Client, _ owner: S3Mark, _ mayBegin: () async throws -> Bool
    ) async throws -> Bool {
        let found = try await mark(of: client)
        guard found ?? owner == owner else { throw BlobStoreError.notOurs(client.place.name) }
        if found == nil {
            guard try await mayBegin() else { throw BlobStoreError.notOurs(client.place.name) }
            try await write(owner, client)
            try await require(owner, client)
        }
        let wasWritten = try await writesAgain(owner, client)
        // Two that begin at once: the other one's was written over, or this one's.
        if wasWritten { try await require(owner, client) }
        return !wasWritten
    }

    /// Throws where the place is another's by now, or nobody's.
    static func require(_ mark: S3Mark, _ client: S3Client) async throws {
        guard try await self.mark(of: client) == mark else { throw BlobStoreError.notOurs(client.place.name) }
    }

    private static func mark(of client: S3Client) async throws -> S3Mark? {
        do { return S3Mark(try await client.send(S3Request(.GET, S3Mark.key)).body) } catch let failure as S3Failure
            where failure.isNotFound
        {
            return nil
        }
    }

    /// Leaves what somebody else has written meanwhile, where the store knows of that.
    private static func write(_ mark: S3Mark, _ client: S3Client) async throws {
        var request = S3Request(.PUT, S3Mark.key, body: mark.body)
        request.headers = [Self.once]
        do { _ = try await client.send(request) } catch let failure as S3Failure where failure.isTaken {
        } catch let failure as S3Failure where failure.isUnknownToStore {
            request.headers = []
            _ = try await client.send(request)
        }
    }

    /// Whether the store writes over a name that is to be given once, as is tried with the same mark.
    private static func writesAgain(_ mark: S3Mark, _ client: S3Client) async throws -> Bool {
        var request = S3Request(.PUT, S3Mark.key, body: mark.body)
        request.headers = [once]
        do { _ = try await client.send(request) } catch let failure as S3Failure {
            if failure.isTaken { return false }
            // One without room may say so first: then names are looked for.
            guard failure.isUnknownToStore || failure.isFull else { throw failure }
        }
        return true
    }
}
