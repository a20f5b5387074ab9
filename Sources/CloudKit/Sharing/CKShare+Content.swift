import Foundation
import SealKit

extension CKShare {
    /// What a share is beside its record.
    struct Content: Sendable {
        typealias Edit = @Sendable (inout SealKit.Share) -> Void

        /// As it was fetched, or saved last, with what was set since; its participants are those below.
        var share: SealKit.Share
        var participants: [CKShareParticipant]
        /// Of title, type and thumbnail, what was set and is not saved.
        var changed: Set<String> = []
        /// What was set since the share was last sent: it comes on top of what is stored.
        private var edits: [(key: String?, edit: Edit)] = []
        private var added: [CKShareParticipant] = []
        private var removed: [CKShareParticipant] = []

        init(_ share: SealKit.Share, participants: [CKShareParticipant]) {
            self.share = share
            self.participants = participants
        }

        /// It was never saved.
        var isNew: Bool { share.participants.isEmpty }

        mutating func change(_ key: String?, _ edit: @escaping Edit) {
            edit(&share)
            if let key { changed.insert(key) }
            edits.append((key, edit))
        }

        mutating func add(_ participant: CKShareParticipant) {
            removed.removeAll { $0.isEqual(participant) }
            if let known = participants.first(where: { $0.isEqual(participant) }) {
                guard known !== participant else { return }
                known.permission = participant.permission
                if known.participantID == participant.participantID { known.role = participant.role }
            } else {
                participants.append(participant)
                added.append(participant)
            }
        }

        mutating func remove(_ participant: CKShareParticipant) {
            guard participant.role != .owner else { return }
            participants.removeAll { $0.isEqual(participant) && $0.role != .owner }
            added.removeAll { $0.isEqual(participant) }
            removed.append(participant)
        }

        /// Those who were blocked.
        mutating func removeAll(named names: Set<String>) {
            for participant in participants {
                guard let name = participant.sealed.userIdentity.userRecordID?.recordName, names.contains(name) else {
                    continue
                }
                remove(participant)
            }
        }

        /// - Throws: `invalidArguments` for a role or permission that there is not.
        mutating func sent() throws(SealKitError) -> SealKit.Share {
            var sent = share
            for participant in sent.participants {
                let isKept = participants.contains { $0.isSamePerson(as: participant) }
                if !isKept { sent.removeParticipant(participant) }
            }
            for participant in participants where participant.sealed.role != .owner {
                sent.addParticipant(try participant.sent())
            }
            (edits, added, removed) = ([], [], [])
            return sent
        }

        mutating func take(_ stored: SealKit.Share) {
            let known = participants
            share = stored
            participants = stored.participants.map { participant in
                guard
                    let object = known.first(where: { object in
                        object.isSamePerson(as: participant)
                            || (object.sealed.role == .owner && participant.role == .owner)
                    })
                else { return CKShareParticipant(participant) }
                object.take(participant)
                return object
            }
            participants.removeAll { participant in
                participant.role != .owner && removed.contains { $0.isEqual(participant) }
            }
            participants += added.filter { participant in !participants.contains { $0.isEqual(participant) } }
            changed = Set(edits.compactMap(\.key))
            for (_, edit) in edits { edit(&share) }
        }

        /// Participants of a copy are its own.
        func copied() -> Content {
            var copy = self
            let objects = participants.map { ($0, CKShareParticipant.copy(of: $0)) }
            copy.participants = objects.map(\.1)
            copy.added = objects.filter { original, _ in added.contains { $0 === original } }.map(\.1)
            return copy
        }
    }
}

extension CKShareParticipant {
    fileprivate static func copy(of participant: CKShareParticipant) -> CKShareParticipant {
        participant.copy() as? CKShareParticipant ?? CKShareParticipant(participant.sealed)
    }
}
