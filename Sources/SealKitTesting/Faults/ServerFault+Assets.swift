import Foundation
public import SealKit
import SealWire
import SwiftProtobuf

/// Lies about the bytes of assets.
extension ServerFault {
    /// What is done to the chunks of an asset on its way down.
    public enum ChunkLie: String, Sendable, CaseIterable {
        /// One bit of one chunk is another one.
        case flipped
        /// Two chunks are in each other's place.
        case swapped
        /// One chunk comes twice.
        case repeated
        /// One chunk is left out.
        case dropped
        /// The end is missing.
        case cut
        /// There is more than there was.
        case lengthened
    }

    /// Every asset comes with altered chunks. Seen as `integrityFailure`, before one wrong byte is handed out. An asset
    /// of one chunk has none to swap, repeat or drop: of it a bit is flipped.
    public static func alteredChunks(_ lie: ChunkLie) -> ServerFault {
        ServerFault(
            .alteredChunks,
            downloading: { _, range, bytes in
                // The hashes of the chunks, which come after them, are as they were.
                guard range.lowerBound == 0, !bytes.isEmpty else { return bytes }
                return lie.applied(to: bytes)
            })
    }

    /// A record's asset is another record's file. Seen as `integrityFailure` when it is fetched.
    /// - Parameters:
    ///   - id: the record, in the zone of the other one.
    ///   - field: of both records.
    ///   - other: whose file comes.
    public static func exchangedAsset(of id: Record.ID, field: String, with other: Record.ID) -> ServerFault {
        ServerFault(.exchangedAsset) { call, response in
            try await RecordAnswers.change(id, call, &response) { record in
                guard let index = record.fields.firstIndex(where: { $0.name == field }) else { return }
                let found = try await RecordAnswers.lookUp(
                    other.recordName, zone: id.zoneID.onWire, call, at: call.server)
                guard let theirs = found.record.fields.first(where: { $0.name == field }) else {
                    throw RecordAnswers.NothingToShow()
                }
                record.fields[index].asset.blob = theirs.asset.blob
            }
        }
    }
}

extension ServerFault.ChunkLie {
    /// Bytes of a sealed chunk (PROTOCOL.md, "Assets").
    private static let chunk = 65_552

    fileprivate func applied(to bytes: Data) -> Data {
        let (bytes, chunk) = (Data(bytes), Self.chunk)
        let (first, second) = (bytes.prefix(chunk), bytes.dropFirst(chunk).prefix(chunk))
        let isLong = second.count == chunk
        switch self {
        case .swapped where isLong: return second + first + bytes.dropFirst(2 * chunk)
        case .repeated where isLong: return first + first + bytes.dropFirst(2 * chunk)
        case .dropped where isLong: return Data(bytes.dropFirst(chunk))
        case .cut: return Data(bytes.dropLast())
        case .lengthened: return bytes + [0]
        case .flipped, .swapped, .repeated, .dropped:
            var flipped = bytes
            flipped[0] ^= 1
            return flipped
        }
    }
}
