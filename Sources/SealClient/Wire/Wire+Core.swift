public import SealPrimitives
public import SealStatements

// What messages hold as values of the core, and back: SealCoding does the same for SwiftProtobuf's.

extension SealStatements.Value {
    /// - Throws: `malformed` for an absent or unknown kind, a list of mixed kinds, a list in a list, and a date that is
    ///   not finite or is a negative zero.
    public init(_ wire: Wire.Value) throws(SealError) {
        switch wire.kind {
        case .string(let text): self = .string(text)
        case .data(let data): self = .data(data)
        case .int64(let number): self = .int64(number)
        case .double(let number): self = .double(number)
        case .date(let seconds): self = .date(try Self.canonicalSeconds(seconds))
        case .location(let place):
            self = .location(
                SealStatements.Location(
                    latitude: place.latitude, longitude: place.longitude, altitude: place.altitude,
                    horizontalAccuracy: place.horizontalAccuracy, verticalAccuracy: place.verticalAccuracy,
                    course: place.course, speed: place.speed, time: try Self.canonicalSeconds(place.timestamp)))
        case .reference(let reference):
            self = .reference(try ReferenceValue(inMessage: reference.recordName, action: reference.action))
        case .list(let list):
            self = try SealStatements.Value(listInMessage: list.values) { element throws(SealError) in
                if case .list = element.kind { throw .malformed }
                return try SealStatements.Value(element)
            }
        case nil: throw .malformed
        }
    }
}

extension Wire.Value {
    public init(_ value: SealStatements.Value) {
        switch value {
        case .string(let text): kind = .string(text)
        case .data(let bytes): kind = .data(bytes)
        case .int64(let number): kind = .int64(number)
        case .double(let number): kind = .double(number)
        case .date(let seconds): kind = .date(seconds == 0 ? 0 : seconds)
        case .location(let place):
            kind = .location(
                .with {
                    $0.latitude = place.latitude
                    $0.longitude = place.longitude
                    $0.altitude = place.altitude
                    $0.horizontalAccuracy = place.horizontalAccuracy
                    $0.verticalAccuracy = place.verticalAccuracy
                    $0.course = place.course
                    $0.speed = place.speed
                    $0.timestamp = place.time == 0 ? 0 : place.time
                })
        case .reference(let reference):
            kind = .reference(
                .with {
                    $0.recordName = reference.recordName
                    $0.action = UInt32(reference.action.rawValue)
                })
        case .list(let elements): kind = .list(.with { $0.values = elements.map { Wire.Value($0) } })
        }
    }
}

extension WireField {
    /// - Throws: `malformed`, `invalidLength`.
    public init(_ wire: Wire.Field) throws(SealError) {
        switch wire.content {
        case .plain(let value): self = .stored(.plain(try SealStatements.Value(value)), blob: nil)
        case .encrypted(let sealed):
            guard let byte = UInt8(exactly: sealed.kind) else { throw .malformed }
            let tag = try ValueTag(byte: byte)
            guard tag.mayBeEncrypted else { throw .unsupported }
            self = .stored(.encrypted(tag, sealed: sealed.sealed), blob: nil)
        case .asset(let asset):
            let commitment = AssetCommitment(
                salt: try Digest(asset.salt), chunkCount: asset.chunkCount, root: try Digest(asset.root),
                descriptor: asset.descriptor)
            self = .stored(.asset(commitment), blob: asset.blob)
        case .omitted(let digest): self = .digest(try Digest(digest))
        case .publicAsset(let asset):
            self = .publicAsset(try PublicAsset(claimed: asset.size, root: try Digest(asset.root)), blob: asset.blob)
        case nil: throw .malformed
        }
    }
}

extension Wire.Field {
    public init(_ field: WireField, name: String) {
        self.name = name
        switch field {
        case .stored(.plain(let value), _): content = .plain(Wire.Value(value))
        case .stored(.encrypted(let tag, let sealed), _):
            content = .encrypted(
                .with {
                    $0.kind = UInt32(tag.byte)
                    $0.sealed = sealed
                })
        case .stored(.asset(let asset), let blob):
            content = .asset(
                .with {
                    $0.blob = blob ?? ""
                    $0.salt = asset.salt.bytes
                    $0.chunkCount = asset.chunkCount
                    $0.root = asset.root.bytes
                    $0.descriptor = asset.descriptor
                })
        case .digest(let digest): content = .omitted(digest.bytes)
        case .publicAsset(let asset, let blob):
            content = .publicAsset(
                .with {
                    $0.blob = blob
                    $0.size = asset.size
                    $0.root = asset.root.bytes
                })
        }
    }
}

extension Wire.DerivedDeletion {
    /// - Throws: `malformed` for a path that is none.
    public func siblings() throws(SealError) -> [Digest] { try [Digest](treePath: path) }
}

extension SealStatements.DerivedDeletion {
    /// - Parameters:
    ///   - record: the record's own statement, verified.
    ///   - tombstone: the one that `wire` brings, verified.
    /// - Throws: `malformed` for a path that is none.
    public init(_ wire: Wire.DerivedDeletion, of record: VerifiedStatement, tombstone: VerifiedStatement)
        throws(SealError)
    {
        guard let count = Int(exactly: wire.count), let index = Int(exactly: wire.index) else { throw .malformed }
        self.init(record: record, tombstone: tombstone, count: count, index: index, path: try wire.siblings())
    }
}

extension SealStatements.TakenRecord {
    /// - Parameter record: the statement that `wire` brings, verified.
    /// - Throws: `invalidNotice` where the reference is missing; decoding errors.
    public init(_ wire: Wire.TakenRecord, record: VerifiedStatement) throws(SealError) {
        try self.init(record: record, field: wire.field, fieldsInMessage: wire.record?.fields ?? []) {
            field throws(SealError) in (field.name, try WireField(field))
        }
    }
}

extension SealStatements.StatementProof {
    /// - Throws: `malformed` for a path that is none.
    public init(_ wire: Wire.StatementProof) throws(SealError) {
        guard let leafCount = Int(exactly: wire.leafCount), let index = Int(exactly: wire.index) else {
            throw .malformed
        }
        self.init(
            signature: wire.signature, leafCount: leafCount, index: index, path: try [Digest](treePath: wire.path))
    }
}

extension Wire.StatementProof {
    public init(_ proof: SealStatements.StatementProof) {
        signature = proof.signature
        leafCount = UInt32(proof.leafCount)
        index = UInt32(proof.index)
        path.reserveCapacity(proof.path.count * Digest.byteCount)
        for node in proof.path { node.append(to: &path) }
    }
}

extension SealStatements.IdentityChain {
    /// The chain, verified. - Throws: as `IdentityChain.init(verifying:container:)`.
    public init(_ wire: Wire.IdentityChain, container: String) throws(SealError) {
        try self.init(
            verifying: wire.identities.map {
                SealStatements.SignedIdentity(
                    bytes: $0.statement, signature: $0.signature, previousSignature: $0.previousSignature)
            }, container: container)
    }
}

extension Wire.IdentityChain {
    public init(_ chain: SealStatements.IdentityChain) {
        identities = chain.signed.map { link in
            .with {
                $0.statement = link.bytes
                $0.signature = link.signature
                $0.previousSignature = link.previousSignature
            }
        }
    }
}

extension SignedRosterEntry {
    public init(_ wire: Wire.SignedEntry) { self.init(bytes: wire.entry, signature: wire.signature) }
}

extension Wire.SignedEntry {
    public init(_ entry: SignedRosterEntry) {
        self.entry = entry.bytes
        signature = entry.signature
    }
}

extension Wire.Grant {
    public init(subject: GrantSubject, epoch: UInt32, sealed: [UInt8]) {
        subjectKind = UInt32(subject.kind)
        self.subject = subject.id.bytes
        self.epoch = epoch
        self.sealed = sealed
    }

    /// - Throws: `malformed`, `invalidLength`.
    public func grantSubject() throws(SealError) -> GrantSubject {
        guard let kind = UInt8(exactly: subjectKind) else { throw .malformed }
        return try GrantSubject(kind: kind, id: ID16(subject))
    }
}
