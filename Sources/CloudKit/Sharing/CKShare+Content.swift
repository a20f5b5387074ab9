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
        /// What was set and no save has stored yet: it comes on top of what is stored.
        private var edits: [(moment: Int, key: String?, edit: Edit)] = []
        private var added: [(moment: Int, participant: CKShareParticipant)] = []
        private var removed: [(moment: Int, participant: CKShareParticipant)] = []
        /// Goes up with each change and each save that begins.
        private var moment = 0
        /// Of the save whose share this is.
        private var taken = 0

        /// Which changes one save sends.
        struct Sent: Sendable {
            fileprivate let moment: Int
            /// Of each participant, its own.
            fileprivate let participants: [ObjectIdentifier: Int]
        }

        init(_ share: SealKit.Share, participants: [CKShareParticipant]) {
            self.share = share
            self.participants = participants
        }

        /// It was never saved.
        var isNew: Bool { share.participants.isEmpty }

        mutating func change(_ key: String?, _ edit: @escaping Edit) {
            edit(&share)
            if let key { changed.insert(key) }
            moment += 1
            edits.append((moment, key, edit))
        }

        mutating func add(_ participant: CKShareParticipant) {
            moment += 1
            removed.removeAll { $0.participant.participantID == participant.participantID }
            guard let known = participants.one(like: participant.sealed) else {
                participants.append(participant)
                added.append((moment, participant))
                return
            }
            guard known !== participant else { return }
            if known.participantID == participant.participantID {
                known.role = participant.role
            } else if known.role == .publicUser, share.publicPermission == .none {
                // Who came by the public URL goes with it, and is invited.
                participants.removeAll { $0 === known }
                participants.append(participant)
                added.append((moment, participant))
                return
            }
            known.permission = participant.permission
            known.renew(as: participant.sealed)
        }

        mutating func remove(_ participant: CKShareParticipant) {
            guard participant.role != .owner else { return }
            // One person may have two places.
            let isKnown = participants.contains { $0.participantID == participant.participantID }
            let isMeant = { (other: CKShareParticipant) in
                isKnown ? other.participantID == participant.participantID : other.isEqual(participant)
            }
            participants.removeAll { isMeant($0) && $0.role != .owner }
            moment += 1
            added.removeAll { isMeant($0.participant) }
            removed.append((moment, participant))
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

        /// Without those who were removed, and before anybody is added or changed.
        var unsent: SealKit.Share {
            var left = share
            let kept = Set(participants.map(\.participantID))
            for participant in share.participants where !kept.contains(participant.participantID) {
                left.removeParticipant(participant)
            }
            return left
        }

        /// - Throws: `invalidArguments` for a role or permission that there is not.
        mutating func sent() throws(SealKitError) -> (share: SealKit.Share, sent: Sent) {
            var sent = unsent
            var moments: [ObjectIdentifier: Int] = [:]
            for participant in participants where participant.sealed.role != .owner {
                let own = try participant.sent()
                sent.addParticipant(own.participant)
                moments[ObjectIdentifier(participant)] = own.moment
            }
            moment += 1
            return (sent, Sent(moment: moment, participants: moments))
        }

        mutating func take(_ stored: SealKit.Share, of sent: Sent) {
            // A later save was answered first.
            guard sent.moment > taken else { return }
            taken = sent.moment
            edits.removeAll { $0.moment < sent.moment }
            added.removeAll { $0.moment < sent.moment }
            removed.removeAll { $0.moment < sent.moment }
            // One who has another id now is known by name or address, unless that is somebody's who is there as well.
            let ids = Set(stored.participants.map(\.participantID))
            var (known, others) = ([:] as [String: CKShareParticipant], [] as [CKShareParticipant])
            for object in participants {
                if ids.contains(object.participantID) {
                    known[object.participantID] = object
                } else {
                    others.append(object)
                }
            }
            share = stored
            participants = stored.participants.map { participant in
                var object = known[participant.participantID]
                if object == nil {
                    let index = others.firstIndex { other in
                        other.isSamePerson(as: participant)
                            || (other.sealed.role == .owner && participant.role == .owner)
                    }
                    object = index.map { others.remove(at: $0) }
                }
                guard let object else { return CKShareParticipant(participant) }
                object.take(participant, of: sent.participants[ObjectIdentifier(object)] ?? 0)
                return object
            }
            // One person may have two places.
            participants.removeAll { participant in
                participant.role != .owner
                    && removed.contains { _, one in
                        ids.contains(one.participantID)
                            ? one.participantID == participant.participantID
                            : known[participant.participantID] == nil && one.isEqual(participant)
                    }
            }
            for (_, participant) in added where !participants.contains(where: { $0.isEqual(participant) }) {
                participants.append(participant)
            }
            changed = Set(edits.compactMap(\.key))
            for (_, _, edit) in edits { edit(&share) }
        }

        /// Participants of a copy are its own.
        func copied() -> Content {
            var copy = self
            let objects = participants.map { ($0, CKShareParticipant.copy(of: $0)) }
            copy.participants = objects.map(\.1)
            copy.added = added.compactMap { moment, original in
                objects.first { $0.0 === original }.map { (moment, $0.1) }
            }
            return copy
        }
    }
}

extension [CKShareParticipant] {
    /// The one with the same id, or else the first that is the same person.
    func one(like participant: SealKit.Share.Participant) -> CKShareParticipant? {
        first { $0.participantID == participant.participantID } ?? first { $0.isSamePerson(as: participant) }
    }
}

extension CKShareParticipant {
    fileprivate static func copy(of participant: CKShareParticipant) -> CKShareParticipant {
        participant.copy() as? CKShareParticipant ?? CKShareParticipant(participant.sealed)
    }
}
