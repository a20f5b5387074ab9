import Foundation
import SealStatements

/// What an archive is made of (FILES.md, "Data archive"): `manifest.json`, and for each zone a folder with `zone.json`,
/// `records.jsonl` and `assets`.
enum ArchiveFormat {
    static let manifest = "manifest.json"
    static let zone = "zone.json"
    static let records = "records.jsonl"
    static let assets = "assets"
    static let name = "sealkit-data"
    static let version = 1

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return encoder
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return decoder
    }

    /// Which database a zone is of.
    enum Place: String, Codable, Sendable {
        case `public`, `private`, shared

        init(_ scope: Database.Scope) {
            self =
                switch scope {
                case .public: .public
                case .private: .private
                case .shared: .shared
                }
        }

        var scope: Database.Scope {
            switch self {
            case .public: .public
            case .private: .private
            case .shared: .shared
            }
        }
    }

    struct Manifest: Codable, Sendable {
        struct Zone: Codable, Sendable {
            /// Below the archive: `zones/1`, …
            let folder: String
            let zoneName: String
            let ownerName: String
            let database: Place
            let records: Int
            let assets: Int
            /// SHA-256 of `zone.json` and `records.jsonl`; those of the assets are in the records.
            let sums: [String: String]
        }

        var format = ArchiveFormat.name
        var version = ArchiveFormat.version
        let server: String
        let container: String
        let environment: String
        /// The account's user record name.
        let user: String
        let created: String
        var zones: [Zone]
    }

    /// What is known of a zone beside its records. Shares are for information: they do not come back by an import.
    struct Zone: Codable, Sendable {
        struct Share: Codable, Sendable {
            let recordName: String
            let rootRecordName: String?
            let title: String
            let publicPermission: String
            let participants: [Participant]
        }

        struct Participant: Codable, Sendable {
            let userRecordName: String?
            let address: String?
            let role: String
            let permission: String
            let acceptanceStatus: String
        }

        /// A record that did not verify or open or, in the public database, may not be read; it is not in the archive.
        struct Unreadable: Codable, Sendable {
            let recordName: String
            let code: String
            /// What was wrong, and whose doing it is where a signature says so.
            let reason: String?
        }

        var shares: [Share] = []
        var unreadable: [Unreadable] = []
        /// Records that changed while the zone was read: of their lines the last one counts.
        var repeated: [String] = []
    }

    /// A line of `records.jsonl`.
    struct Record: Codable, Sendable {
        let recordName: String
        let recordType: String
        /// Gone since an earlier line.
        var deleted: Bool?
        var parent: String?
        /// The share's record of which this one is the root.
        var share: String?
        var created: String?
        var modified: String?
        var creator: String?
        var lastModifiedBy: String?
        var fields: [String: ArchivedField] = [:]
    }
}

extension ArchiveFormat.Zone.Share {
    init(_ share: SealKit.Share) {
        recordName = share.recordID.recordName
        rootRecordName = share.rootRecordID?.recordName
        title = share.title
        publicPermission = "\(share.publicPermission)"
        participants = share.participants.map { participant in
            .init(
                userRecordName: participant.userIdentity.userRecordID?.recordName,
                address: participant.userIdentity.lookupInfo?.address, role: "\(participant.role)",
                permission: "\(participant.permission)", acceptanceStatus: "\(participant.acceptanceStatus)")
        }
    }
}
