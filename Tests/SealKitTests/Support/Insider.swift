import Foundation
import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// A member who may write, with a modified client: what it signs an honest server takes, since nobody but members can
/// open it.
struct Insider {
    let person: Person
    /// As this person names it.
    let zone: RecordZone.ID
    /// Of a hierarchy that is shared by itself.
    var shareRecordName = ""

    private func view() async throws -> ZoneView {
        let scope = try core.scope(of: zone)
        return try await core.keeper(of: shareRecordName.isEmpty ? scope : scope.ofShare(shareRecordName)).refresh()
    }

    private var core: ContainerCore { person.container.core }

    /// Under a record key that nobody has.
    func signWithRandomKey(
        _ name: String, type: String = "Note", parent: String? = nil, following existing: Record? = nil
    ) async throws {
        let view = try await view()
        var statement = Forgery.statement(by: person, view, name: name, type: type, following: existing?.base)
        statement.share = existing?.base?.statement.share
        if let parent { statement.parent = parent }
        let field = type == Share.recordType ? "title" : "body"
        let good = try Forgery.record(
            statement, [(field, .encrypted(.string("x")))], by: person, key: view.currentKey())
        var random = SystemRandom()
        let key = random.bytes(Statement.wrappedKeyBytes)
        try await send(
            try Forgery.resign(good, by: person.identity.keys.signingKey) { $0.wrappedKey = key }, following: existing)
    }

    /// Good as a whole, with a field that nothing opens, beside a plain one.
    func signWithRandomField(
        _ name: String, parent: String? = nil, with references: [String: Record.Reference] = [:],
        following existing: Record? = nil
    ) async throws {
        let view = try await view()
        var statement = Forgery.statement(by: person, view, name: name, following: existing?.base)
        if let parent { statement.parent = parent }
        var random = SystemRandom()
        let sealed = WireField.stored(.encrypted(Value.string("").tag, sealed: random.bytes(72)), blob: nil)
        var plain: [(name: String, field: FieldDraft)] = [(name: "headline", field: .plain(.string("plain")))]
        for (key, reference) in references { plain.append((name: key, field: .plain(reference.recordValue))) }
        let wire = try Forgery.record(
            statement, plain, stored: [("body", sealed)], by: person, key: view.currentKey(),
            recordKey: SecretBytes(random: &random, count: 32))
        try await send(wire, following: existing)
    }

    /// With an uploaded file, and the root of another one: an honest server refuses it, one that looks away takes it.
    func signForAnotherFile(_ name: String, _ file: URL) async throws {
        let found = try await saved(name, file)
        let asset: Asset? = found["file"]
        let remote = try #require(asset?.remote)
        let sealed = try #require(remote.sealed)
        var root = sealed.root.bytes
        root[0] ^= 1
        let swapped = SealedAsset(
            fileKey: sealed.fileKey, size: sealed.size, salt: sealed.salt, chunkCount: sealed.chunkCount,
            root: try Digest(root))
        let signed = try await record(name, swapped, blob: remote.blob, following: found)
        #expect(await failure { try await send(signed, following: found) } == .assetFileModified)
        try await person.server.take(blob: remote.blob, for: root)
        try await send(signed, following: found)
    }

    /// With an uploaded file, as it was signed for, and another key than it was sealed with.
    func signWithAnotherFileKey(_ name: String, _ file: URL) async throws {
        let found = try await saved(name, file)
        let asset: Asset? = found["file"]
        let remote = try #require(asset?.remote)
        let sealed = try #require(remote.sealed)
        var random = SystemRandom()
        let swapped = SealedAsset(
            fileKey: SecretBytes(random: &random, count: 32), size: sealed.size, salt: sealed.salt,
            chunkCount: sealed.chunkCount, root: sealed.root)
        try await send(try await record(name, swapped, blob: remote.blob, following: found), following: found)
    }

    /// A good record with a file, as it is stored.
    private func saved(_ name: String, _ file: URL) async throws -> Record {
        var record = person.note(in: zone, "with a file", name: name)
        record["file"] = Asset(fileURL: file)
        let saved = try await person.shared.save(record)
        return try await person.shared.fetchingAssets(.onDemand).record(for: saved.recordID)
    }

    private func record(
        _ name: String, _ asset: SealedAsset, blob: String, following found: Record
    ) async throws -> Sealkit_V1_Record {
        let view = try await person.keeper(of: zone).refresh()
        var wire = try Forgery.record(
            Forgery.statement(by: person, view, name: name, following: found.base), [("file", .asset(asset))],
            by: person, key: view.currentKey())
        wire.fields = try wire.fields.map { field in
            guard field.name == "file", case .stored(let stored, _) = try WireField(field) else { return field }
            return WireField.stored(stored, blob: blob).wire(name: field.name)
        }
        return wire
    }

    private func send(_ wire: Sealkit_V1_Record, following existing: Record?) async throws {
        let request = Sealkit_V1_ModifyRecordsRequest.with {
            var record = wire
            record.clearProof()
            record.changeTag = existing?.recordChangeTag ?? ""
            $0.operationID = newOperationID()
            $0.zone = Sealkit_V1_ZoneID.with { id in (id.zoneName, id.ownerName) = (zone.zoneName, zone.ownerName) }
            $0.signature = wire.proof.signature
            $0.records = [record]
        }
        let response: Sealkit_V1_ModifyRecordsResponse = try await core.call(.shared, Endpoints.records.modify, request)
        guard case .record? = response.results.first?.outcome else {
            throw SealKitError(response.results.first?.failure ?? Sealkit_V1_Failure())
        }
    }

    /// Opens the key that is due, and gives these people something that opens nothing.
    func openKey(cheating victims: [Person]) async throws {
        let view = try await person.keeper(of: zone).refresh()
        var random = SystemRandom()
        let good = try core.author.next(
            on: view.roster, changes: [], rotating: true, current: view.currentKey(), time: 1, random: &random)
        let subjects = Set(victims.map { GrantSubject.member($0.userID) })
        let garbage = random.bytes(1200)
        let grants = good.grants.map { grant in
            RosterAuthor<XWingHPKE>.Grant(
                subject: grant.subject, epoch: grant.epoch,
                sealed: subjects.contains(grant.subject) ? garbage : grant.sealed)
        }
        let opened = try #require(try RosterEntry(canonicalBytes: good.entry.bytes, container: core.identifier).epoch)
        let epoch = EpochOpening(
            number: opened.number, keyID: opened.keyID, checkpoint: Checkpoint.none, previousKey: opened.previousKey,
            coverage: grants.map { .init(subject: $0.subject, grantHash: GrantHash.of($0.sealed)) }.sorted {
                $0.subject < $1.subject
            })
        let entry = Forgery.entry(by: person, on: view.roster, [], epoch: epoch)
        try await person.shared.append(.init(entry: entry, grants: grants, epochKey: good.epochKey), view: view)
        _ = try await person.keeper(of: zone).refresh()
    }
}
