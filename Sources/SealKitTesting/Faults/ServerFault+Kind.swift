extension ServerFault {
    /// The catalogue: each kind is the name of the function or property that makes such a fault.
    public enum Kind: String, Sendable, CaseIterable {
        /// The whole server, as it was before.
        case rollback

        /// Of records.
        case flippedBit, swappedFields, mixedRevisions, plainField, withheldField, olderRecord, movedRecord
        /// Of records.
        case anotherRecord, borrowedSignature, inventedRecord, deniedRecord, unsignedDeletion, goneWith, emptyAnswers
        /// Of what an answer says beside its records.
        case withheldHead

        /// Of feeds, lists and zones.
        case leftOutRecord, leftOutZone, emptyFeed, endlessFeed, floodedFeed, deniedZone, deletedZone

        /// Of rosters and keys.
        case shortenedRoster, forgedEntry, endlessRoster, wrongGrants, announcedRotation, exchangedKeys, weakKeys

        /// Of accounts and devices.
        case inventedDevice, damagedRecoveryBundle, interceptedEnrolment, exchangedVerification

        /// Of shares.
        case exchangedShare, offeredSeat

        /// Of assets.
        case alteredChunks, exchangedAsset

        /// Of the network.
        case offline, refusal, lostAnswers, brokenDownloads, notASealKitServer

        /// The lines of SealKit's table of attacks (`Tests/Support/attacks.txt`) that a test may try with it.
        public var attacks: [Int] {
            switch self {
            case .rollback: [21, 23, 27, 34, 54, 60, 64, 67]
            case .flippedBit: [3]
            case .swappedFields: [25]
            case .mixedRevisions: [26]
            case .plainField, .withheldField: [28]
            case .olderRecord: [27, 34]
            case .movedRecord: [33]
            case .anotherRecord: [25]
            case .borrowedSignature: [8]
            case .inventedRecord: [29, 32]
            case .deniedRecord: [34, 76]
            case .unsignedDeletion: [34]
            case .goneWith: [70]
            case .emptyAnswers: [76]
            case .leftOutRecord, .leftOutZone: [75]
            case .emptyFeed: [18, 77]
            case .endlessFeed: [78]
            case .floodedFeed: [82]
            case .deniedZone: [59, 76]
            case .deletedZone: [59]
            case .shortenedRoster: [23]
            case .forgedEntry: [14, 15]
            case .endlessRoster: [90]
            case .wrongGrants: [2, 3, 9]
            case .announcedRotation: [11]
            case .exchangedKeys: [1]
            case .weakKeys: [7]
            case .inventedDevice: [12]
            case .damagedRecoveryBundle: [3]
            case .interceptedEnrolment: [62, 74]
            case .exchangedVerification: [65]
            case .exchangedShare: [41]
            case .offeredSeat: [61]
            case .alteredChunks: [30]
            case .exchangedAsset: [31]
            case .offline, .refusal: [24]
            case .lostAnswers: [63, 69]
            case .brokenDownloads: [58]
            case .withheldHead, .notASealKitServer: []
            }
        }
    }
}
