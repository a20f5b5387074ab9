import Foundation
import SealClient
import SealPrimitives
import SealStatements

/// A record whose signed statement holds, and which does not open: under a key that was never given out, or with
/// fields, files or wrapped keys that are something else than they say. Its statement covers every stored byte, so that
/// its author made it so, or took over what another member had made: no server can. Nothing of it is given out. Whoever
/// may write deletes it, or saves something else in its place.
struct UnopenedRecord: Sendable {
    /// What its statement says, and its plain fields: nothing that it holds sealed, and no key.
    let record: Record
    /// Names the record, its author and the reason.
    let error: SealKitError

    enum Cause: Sendable, Hashable {
        /// Its author made it so, or took that over: as it is it never opens, or only with a later version, of which
        /// no device waits for it.
        case author
        /// It may open once this account has the key.
        case lackOf(EpochKeyName)
    }

    /// - Parameter record: with its statement as base.
    init(_ record: Record, _ statement: SealStatements.Statement, because error: SealError) {
        self.record = record
        let (name, author) = (statement.recordName, statement.author.recordName)
        let remedy = "delete it, or save over it with the policy allKeys"
        let cause: Cause =
            error == .missingKey
            ? .lackOf(EpochKeyName(scopeID: Data(statement.scopeID.bytes), epoch: statement.epoch)) : .author
        let told =
            switch error {
            case .missingKey:
                SealKitError(
                    .integrityFailure,
                    "record \(name), signed by \(author), is under key \(statement.epoch), and this account was given none (\(error)); nothing of it was opened",
                    remedy:
                        "whoever opened that key gave out bad grants, or the server withholds one; to be rid of the record \(remedy)"
                )
            case .unsupported:
                SealKitError(
                    .incompatibleVersion,
                    "record \(name), signed by \(author), holds something that this version does not read",
                    remedy:
                        "update SealKit, and fetch the zone from its beginning then; or, if \(author) means harm, \(remedy)"
                )
            default:
                SealKitError(
                    .integrityFailure,
                    "record \(name) does not open (\(error)): \(author), who signed it last, made it so or took that over; nothing of it was given out",
                    remedy: "ask \(author) about it; \(remedy)")
            }
        self.error = told.ofUnopened(cause)
    }

    /// Another record in its place, which follows its statement. Nothing sealed is carried over; the parent stays
    /// unless it is another one.
    /// - Parameter draft: of the same type: that stays until a record is deleted.
    func replaced(by draft: Record) -> Record {
        var next = record
        next.fields = draft.fields.filter { if case .omitted = $0.value { false } else { true } }
        next.changed = Set(next.fields.keys)
        if WriteMerge.takes(draft.parent?.recordName, over: draft.base?.statement.parent) { next.parent = draft.parent }
        return next
    }
}

/// Which key of a zone or share something is sealed under.
struct EpochKeyName: Sendable, Hashable, Codable {
    let scopeID: Data
    let epoch: UInt32
}

extension Database {
    /// Which of these keys this account holds by now, and which it will never get since it is in their zone or share no
    /// more, or that is gone. The rosters are followed first, which brings its grants.
    func fate(
        of keys: Set<EpochKeyName>, in zoneID: RecordZone.ID
    ) async throws(SealKitError) -> (held: Set<EpochKeyName>, lost: Set<EpochKeyName>) {
        let zone = try zoneScope(zoneID)
        var scopes = [zone]
        for share in try await core.trust.shares(of: zone.id) { scopes.append(zone.ofShare(share)) }
        var (held, lost): (Set<EpochKeyName>, Set<EpochKeyName>) = ([], [])
        for scope in scopes {
            let scopeID = Data(scope.id.bytes)
            var wanted = keys.filter { $0.scopeID == scopeID }
            guard !wanted.isEmpty else { continue }
            do throws(SealKitError) {
                let view = try await core.keeper(of: scope).refresh()
                let opened = wanted.filter { view.keys[$0.epoch] != nil }
                held.formUnion(opened)
                wanted.subtract(opened)
                if !view.isMember { lost.formUnion(wanted) }
            } catch let error where error.code == .zoneNotFound || error.code == .unknownItem {
                lost.formUnion(wanted)
            }
        }
        return (held, lost)
    }
}

extension RecordReader.Outcome {
    /// What there is under the name, as far as its statement and its plain fields say; nil where there is nothing.
    var present: Record? {
        switch self {
        case .record(let record): record
        case .unopened(let there): there.record
        case .deletion: nil
        }
    }
}
