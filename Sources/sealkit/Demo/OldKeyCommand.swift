import ArgumentParser
import Foundation
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Proves to a demonstration what a removed participant can and cannot open with everything that it ever had and
/// everything that the server's database holds. It goes to no server.
///
/// Every grant in the file is tried with the account's keys; the keys that open are walked back to the first epoch; then
/// each record key is tried with each of them, in the key's own epoch and in the record's.
struct OldKeyCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-old-key",
        abstract: "Try this account's keys on records as a server's database holds them.",
        shouldDisplay: false)

    @Option(help: ArgumentHelp("Roster, grants and records, as the demonstration takes them from the database.", valueName: "file"))
    var recordJson: String

    @OptionGroup var global: GlobalOptions

    /// Byte strings are base64.
    struct Evidence: Decodable {
        struct Entry: Decodable { let entry, signature: Data }
        struct StoredRecord: Decodable { let statement: Data }
        let owner: String
        let zone: String
        let entries: [Entry]
        /// Every grant that the database holds or ever held, whomever it is for.
        let grants: [Data]
        let records: [StoredRecord]
    }

    /// An epoch key that opened: its raw bytes, for trying them where they do not belong.
    private struct HeldKey {
        let epoch: Roster.Epoch
        let bytes: SecretBytes
    }

    func run() async throws {
        let evidence = try read()
        let seeds = try KeyFile(contentsOf: global.keyFileURL).open { () throws(SealKitError) in
            if let given = try global.givenPassphrase() { return given }
            return try Prompt.secret("Passphrase: ")
        }
        guard let seed = seeds.last else { return }
        let keys = try seed.identityKeys(container: global.containerIdentifier, using: XWingHPKE.self)
        let user = try keys.firstIdentity(time: 0).userID
        let roster = try roster(evidence)
        let held = try held(evidence.grants, roster: roster, user: user, keys: keys)
        output.result(
            "member now: \(roster.members[user] != nil); epochs: \(roster.epochs.count); epoch keys held: \(held.map(\.epoch.number))",
            json: [
                "isMember": .bool(roster.members[user] != nil), "epochs": .integer(Int64(roster.epochs.count)),
                "heldEpochs": .array(held.map { .integer(Int64($0.epoch.number)) }),
            ])
        for record in evidence.records {
            let statement = try Statement(canonicalBytes: [UInt8](record.statement))
            let opening = held.filter { opens(statement, with: $0) }
            output.result(
                "\(statement.recordName.escaped): epoch \(statement.epoch), \(held.count) keys tried, \(opening.count) open it",
                json: [
                    "recordName": .string(statement.recordName), "epoch": .integer(Int64(statement.epoch)),
                    "keysTried": .integer(Int64(held.count)), "keysThatOpen": .integer(Int64(opening.count)),
                ])
        }
    }

    private func read() throws -> Evidence {
        guard let data = FileManager.default.contents(atPath: recordJson),
            let evidence = try? JSONDecoder().decode(Evidence.self, from: data)
        else { throw Failure.Local(status: .badInput, reason: "\(recordJson) is not evidence that this command reads") }
        return evidence
    }

    private func roster(_ evidence: Evidence) throws -> Roster {
        let scope = Scope(
            container: global.containerIdentifier, environment: global.environment == .production ? .production : .development,
            owner: try UserID(recordName: evidence.owner), zoneName: evidence.zone)
        var entries = evidence.entries.map { SignedRosterEntry(bytes: [UInt8]($0.entry), signature: [UInt8]($0.signature)) }[...]
        guard let first = entries.popFirst() else { throw Failure.Local(status: .badInput, reason: "there is no roster entry") }
        var roster = try Roster(opening: first, scope: scope)
        for entry in entries { try roster.append(entry) }
        return roster
    }

    /// Whatever the grants give, and every earlier key that they lead to.
    private func held(_ grants: [Data], roster: Roster, user: UserID, keys: IdentityKeys) throws -> [HeldKey] {
        var held: [HeldKey] = []
        for epoch in roster.epochs {
            for grant in grants {
                guard let bytes = try? XWingHPKE.open([UInt8](grant), seed: keys.grantSeed, info: info(epoch, user)) else { continue }
                held.append(HeldKey(epoch: epoch, bytes: SecretBytes(copying: bytes)))
                break
            }
        }
        guard let newest = held.last, let top = roster.epochs.firstIndex(where: { $0.context == newest.epoch.context }) else { return held }
        var known = Set(held.map(\.epoch.context))
        var key = newest.bytes
        for index in stride(from: top, to: 0, by: -1) {
            let epoch = roster.epochs[index]
            var pae = PAE(.previousKey, pieces: EpochContext.pieces)
            epoch.context.add(to: &pae)
            guard let earlier = try? AEAD.openSecret(epoch.previousKey, under: key, associatedData: pae.finish()) else { break }
            key = earlier
            if known.insert(roster.epochs[index - 1].context).inserted {
                held.append(HeldKey(epoch: roster.epochs[index - 1], bytes: earlier))
            }
        }
        return held.sorted { $0.epoch.number < $1.epoch.number }
    }

    /// A member's grant's HPKE info (PROTOCOL.md, "Grants").
    private func info(_ epoch: Roster.Epoch, _ user: UserID) -> [UInt8] {
        var pae = PAE(.grant, pieces: EpochContext.pieces + 3)
        epoch.context.add(to: &pae)
        pae.add(epoch.keyID)
        pae.add(GrantSubject.member(user).kind)
        pae.add(user.id)
        return pae.finish()
    }

    /// Whether the record key comes out: with the epoch's context, or with the one that the record names.
    private func opens(_ statement: Statement, with held: HeldKey) -> Bool {
        let own = EpochContext(
            scopeID: statement.scopeID,
            incarnations: Incarnations(zone: statement.zoneIncarnation, scope: statement.scopeIncarnation), epoch: statement.epoch)
        return [held.epoch.context, own].contains { unwraps(statement, key: held.bytes, context: $0) }
    }

    /// The record key as it is wrapped (PROTOCOL.md, "Record keys").
    private func unwraps(_ statement: Statement, key: SecretBytes, context: EpochContext) -> Bool {
        var wrapping = PAE(.recordWrap, pieces: EpochContext.pieces)
        context.add(to: &wrapping)
        var binding = PAE(.recordKey, pieces: EpochContext.pieces + 1)
        context.add(to: &binding)
        binding.add(recordContext(statement))
        let wrapper = Hash.derive(key, wrapping)
        return (try? AEAD.openSecret(statement.wrappedKey, under: wrapper, associatedData: binding.finish())) != nil
    }

    private func recordContext(_ statement: Statement) -> Digest {
        var pae = PAE(.recordContext, pieces: 7)
        pae.add(statement.container)
        pae.add(statement.environment.rawValue)
        pae.add(statement.owner.id)
        pae.add(statement.zoneName)
        pae.add(statement.zoneIncarnation)
        pae.add(statement.recordName)
        pae.add(statement.recordType)
        return Hash.digest(pae)
    }
}
