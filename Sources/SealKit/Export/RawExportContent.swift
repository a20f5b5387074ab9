import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// `export.json` (FILES.md, "Raw export"): bytes are lower-case hex.
struct RawExportContent: Encodable {
    struct Entry: Encodable {
        let bytes, signature: String
    }

    struct Grant: Encodable {
        let epoch, zoneIncarnation, scopeIncarnation: UInt32
        let sealed: String
    }

    struct Field: Encodable {
        let name: String
        let `class`, tag: UInt8
        let stored: String
    }

    /// A statement, and what shows who signed it.
    struct Signed: Encodable {
        let statement, signature: String
        let leafCount, index: Int
        let path: [String]
    }

    struct Record: Encodable {
        let signed: Signed
        let fields: [Field]

        /// One object of both.
        func encode(to encoder: any Encoder) throws {
            try signed.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(fields, forKey: .fields)
        }

        private enum CodingKeys: CodingKey { case fields }
    }

    /// A record that went with the target of its reference: the target's deletion, which covers its last statement.
    struct Notice: Encodable {
        let record, tombstone: Signed
        /// Of the tree of what the deletion covers.
        let count, index: Int
        let path: [String]
    }

    /// Who signed records of the public database.
    struct Author: Encodable {
        struct Generation: Encodable {
            let bytes, signature, previousSignature: String
        }

        let generations: [Generation]
    }

    struct Asset: Encodable {
        let record, field, file: String
    }

    struct Share: Encodable {
        let routingID: String
        let preview: String?

        /// With `null` where there is no preview.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(routingID, forKey: .routingID)
            try container.encode(preview, forKey: .preview)
        }

        private enum CodingKeys: CodingKey { case routingID, preview }
    }

    /// A hierarchical share in the zone.
    struct Hierarchy: Encodable {
        let shareRecordName: String
        let roster: [Entry]
        let grants: [Grant]
        var shares: [Share] = []
    }

    let format = "sealkit-raw"
    let version = 3
    let user, container, environment, owner, zoneName, shareRecordName: String
    /// The zone's own scope; empty for who takes part in hierarchies of it alone.
    var roster: [Entry] = []
    var grants: [Grant] = []
    var hierarchies: [Hierarchy] = []
    var records: [Record] = []
    var notices: [Notice] = []
    var assets: [Asset] = []
    var shares: [Share] = []
    var authors: [Author] = []

    /// Entries of all rosters.
    var entries: Int { roster.count + hierarchies.reduce(0) { $0 + $1.roster.count } }

    /// Of the public database, which is nobody's.
    init(publicDatabase scope: Scope) {
        user = scope.owner.recordName
        container = scope.container
        environment = scope.environment.name
        owner = scope.owner.recordName
        zoneName = scope.zoneName
        shareRecordName = scope.shareRecordName
    }

    init(zone scope: Scope, user: UserID) {
        self.user = user.recordName
        container = scope.container
        environment = scope.environment.name
        owner = scope.owner.recordName
        zoneName = scope.zoneName
        shareRecordName = scope.shareRecordName
    }

    /// One of the zone's scopes, as the server keeps it.
    mutating func add(_ view: ZoneView, _ entries: [SignedRosterEntry], _ own: [OwnGrant], shares: [Share]) {
        let roster = entries.map { Entry(bytes: Hex.encode($0.bytes), signature: Hex.encode($0.signature)) }
        let life = view.roster.incarnations
        let grants = own.map {
            Grant(
                epoch: $0.epoch, zoneIncarnation: life.zone, scopeIncarnation: life.scope,
                sealed: Hex.encode($0.sealed))
        }
        if view.scope.shareRecordName.isEmpty {
            (self.roster, self.grants, self.shares) = (roster, grants, shares)
        } else {
            hierarchies.append(
                Hierarchy(shareRecordName: view.scope.shareRecordName, roster: roster, grants: grants, shares: shares))
        }
    }
}

extension RawExportContent.Signed {
    init(_ wire: Sealkit_V1_Record) throws(SealError) {
        let proof = try StatementProof(wire.proof)
        statement = Hex.encode([UInt8](wire.statement))
        signature = Hex.encode(proof.signature)
        leafCount = proof.leafCount
        index = proof.index
        path = proof.path.map(\.hex)
    }
}

extension RawExportContent.Record {
    init(_ wire: Sealkit_V1_Record) throws(SealError) {
        signed = try RawExportContent.Signed(wire)
        var fields: [RawExportContent.Field] = []
        for field in wire.fields {
            let form: (class: UInt8, tag: UInt8, bytes: [UInt8])
            switch try WireField(field) {
            case .stored(let stored, _): form = try stored.form()
            case .publicAsset(let asset, _): form = asset.form()
            case .digest: throw .fieldMismatch
            }
            fields.append(.init(name: field.name, class: form.class, tag: form.tag, stored: Hex.encode(form.bytes)))
        }
        self.fields = fields
    }
}

extension RawExportContent.Author {
    init(_ chain: IdentityChain) {
        generations = chain.signed.map {
            Generation(
                bytes: Hex.encode($0.bytes), signature: Hex.encode($0.signature),
                previousSignature: Hex.encode($0.previousSignature))
        }
    }
}

extension RawExportContent.Notice {
    init(_ wire: Sealkit_V1_Record) throws(SealError) {
        record = try RawExportContent.Signed(wire)
        tombstone = try RawExportContent.Signed(wire.derived.tombstone)
        count = Int(wire.derived.count)
        index = Int(wire.derived.index)
        path = try wire.derived.siblings().map(\.hex)
    }
}
