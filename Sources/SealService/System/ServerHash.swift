package import SealPrimitives

/// The server's own hashes: BLAKE2b-256 over a PAE, each with a label of its own. No client ever computes them.
package enum ServerHash {
    package enum Label: String {
        case sessionToken = "sealkit/1/server/session-token"
        case challenge = "sealkit/1/server/challenge"
        case address = "sealkit/1/server/address"
        case addressID = "sealkit/1/server/address-id"
        case outboxKey = "sealkit/1/server/outbox-key"
        case codeKey = "sealkit/1/server/code-key"
        case code = "sealkit/1/server/code"
        case managementToken = "sealkit/1/server/management-token"
        case operatorToken = "sealkit/1/server/operator-token"
        case webhookDelivery = "sealkit/1/server/webhook-delivery"
        case sendingSubject = "sealkit/1/server/sending-subject"
        case query = "sealkit/1/server/query"
        case cursorKey = "sealkit/1/server/cursor-key"
        case feedKey = "sealkit/1/server/feed-key"
        case databaseFeed = "sealkit/1/server/database-feed"
        case zoneFeed = "sealkit/1/server/zone-feed"
        case enrolmentTicket = "sealkit/1/server/enrolment-ticket"
        case operation = "sealkit/1/server/operation"
        case registrationCode = "sealkit/1/server/registration-code"
        case secretFingerprint = "sealkit/1/server/secret-fingerprint"
        case backupRecipient = "sealkit/1/server/backup-recipient"
        case activityKey = "sealkit/1/server/activity-key"
        case activity = "sealkit/1/server/activity"
        case consoleSession = "sealkit/1/server/console-session"
        case consoleForm = "sealkit/1/server/console-form"
        case alertKey = "sealkit/1/server/alert-key"
        case logUser = "sealkit/1/server/log-user"
        case backupFile = "sealkit/1/server/backup-file"
        case challengeKey = "sealkit/1/server/challenge-key"
        case limitKey = "sealkit/1/server/limit-key"
        case limitSubject = "sealkit/1/server/limit-subject"
    }

    /// For values that nobody can guess.
    package static func digest(_ label: Label, _ pieces: [UInt8]...) -> [UInt8] {
        Hash.digest(pae(label, pieces)).bytes
    }

    /// For values that can be guessed: without the key, a reader of the database cannot try them.
    static func keyed(_ key: SecretBytes, _ label: Label, _ pieces: [UInt8]...) -> [UInt8] { keyed(key, label, pieces) }

    static func keyed(_ key: SecretBytes, _ label: Label, _ pieces: [[UInt8]]) -> [UInt8] {
        Hash.derive(key, pae(label, pieces)).copyBytes()
    }

    package static func key(_ key: SecretBytes, _ label: Label) -> SecretBytes { Hash.derive(key, pae(label, [])) }

    private static func pae(_ label: Label, _ pieces: [[UInt8]]) -> PAE {
        var pae = PAE(pieces: pieces.count + 1)
        pae.add(label.rawValue)
        for piece in pieces { pae.add(piece) }
        return pae
    }
}

/// Numbers as bytes, for hashes and for keys of caches.
package enum ServerBytes {
    package static func of(_ number: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(number)
        return bytes
    }
}
