import ArgumentParser
import Foundation
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Proves to a demonstration what a removed participant can and cannot open with everything that it ever had and
/// everything that the server's database holds. It goes to no server.
///
/// Every grant in the file is tried with the account's keys; the keys that open are walked back to the first epoch;
/// then each record key is tried with each of them, as a key of the epoch that the record names.
struct OldKeyCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-old-key",
        abstract: "Try this account's keys on records as a server's database holds them.",
        shouldDisplay: false)

    @Option(
        help: ArgumentHelp(
            "Roster, grants and records, as the demonstration takes them from the database.", valueName: "file"),
        completion: .file())
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

    func run() async throws {
        let evidence = try read()
        let seeds = try KeyFile(contentsOf: global.keyFileURL).open { () throws(SealKitError) in
            if let given = try global.givenPassphrase() { return given }
            return try Prompt.secret("Passphrase: ", remedy: "give it with --passphrase-file")
        }
        guard let seed = seeds.last else { return }
        let keys = try seed.identityKeys(container: global.containerIdentifier, using: XWingHPKE.self)
        let user = try keys.firstIdentity(time: 0).userID
        let roster = try roster(evidence)
        let held = held(evidence.grants, roster: roster, user: user, keys: keys)
        try output.result(
            "member now: \(roster.members[user] != nil); epochs: \(roster.epochs.count); epoch keys held: \(held.map(\.context.epoch))",
            json: [
                "isMember": .bool(roster.members[user] != nil), "epochs": .integer(Int64(roster.epochs.count)),
                "heldEpochs": .array(held.map { .integer(Int64($0.context.epoch)) }),
            ])
        for record in evidence.records {
            let statement = try Statement(canonicalBytes: [UInt8](record.statement))
            let opening = held.filter { RecordOpener.unwraps(statement, with: $0) }
            try output.result(
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
            container: global.containerIdentifier,
            environment: global.environment == .production ? .production : .development,
            owner: try UserID(recordName: evidence.owner), zoneName: evidence.zone)
        let entries = evidence.entries.map {
            SignedRosterEntry(bytes: [UInt8]($0.entry), signature: [UInt8]($0.signature))
        }
        guard let roster = try Roster(replaying: entries, scope: scope) else {
            throw Failure.Local(status: .badInput, reason: "there is no roster entry")
        }
        return roster
    }

    /// Whatever the grants give, and every earlier key that they lead to.
    private func held(_ grants: [Data], roster: Roster, user: UserID, keys: IdentityKeys) -> [EpochKey] {
        var held: [EpochContext: EpochKey] = [:]
        for (index, epoch) in roster.epochs.enumerated().reversed() {
            for grant in grants where held[epoch.context] == nil {
                held[epoch.context] = try? Grants<XWingHPKE>.open([UInt8](grant), epoch: epoch, as: user, keys: keys)
            }
            guard index > 0, let key = held[epoch.context] else { continue }
            let earlier = roster.epochs[index - 1]
            if held[earlier.context] == nil {
                held[earlier.context] = try? key.openPrevious(epoch.previousKey, epoch: earlier)
            }
        }
        return held.values.sorted { $0.context.epoch < $1.context.epoch }
    }
}
