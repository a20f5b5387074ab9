internal import SealWire

extension SealKitError {
    /// CloudKit's codes (CKError, without the prefix), then SealKit's own. Open: a newer server may send more.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        init(_ code: ErrorCode) { rawValue = code.rawValue }

        /// A bug, or a file of this device that cannot be used: a damaged trust store or journal of operations among
        /// them. What to do: mend the file as the reason says, or report it.
        public static let internalError = Code(.internalError)
        /// This device has no way to the server: its name cannot be looked up, or no network leads there; nothing was
        /// sent. What to do: wait for a network.
        public static let networkUnavailable = Code(.networkUnavailable)
        /// The server takes no connections, or does not answer what only reads; no change was sent. What to do: check
        /// address and server; try later.
        public static let networkFailure = Code(.networkFailure)
        /// Not a container identifier, or a share of another container. What to do: use the right one.
        public static let badContainer = Code(.badContainer)
        /// The server is shutting down, or a proxy says that it is not there. What to do: wait `retryAfter` seconds.
        public static let serviceUnavailable = Code(.serviceUnavailable)
        /// Too many requests of a kind. What to do: wait `retryAfter` seconds.
        public static let requestRateLimited = Code(.requestRateLimited)
        /// Nobody is signed in, the account may not be used here, the server does not know it, or the database was
        /// taken for another account. What to do: sign in; take the database from its container again.
        public static let notAuthenticated = Code(.notAuthenticated)
        /// A read-only participant writes; somebody who is neither owner nor administrator changes a share, or an
        /// administrator what is the owner's; the account was not given the key; the server makes no accounts, or none
        /// without a code. What to do: do not offer it.
        public static let permissionFailure = Code(.permissionFailure)
        /// No such record, share, invitation or recovery bundle. What to do: drop the tag and make it again, or ignore.
        public static let unknownItem = Code(.unknownItem)
        /// A name, type, value, address, URL, time-out or token is malformed; a reference among encrypted values (an
        /// asset does not compile); a list of mixed kinds; a date that is not finite. What to do: mend the call; the
        /// reason names the fault.
        public static let invalidArguments = Code(.invalidArguments)
        /// The record changed since it was fetched; `serverRecord`, `clientRecord` and, as far as it is at hand,
        /// `ancestorRecord` are there. What to do: merge into `serverRecord`, save that.
        public static let serverRecordChanged = Code(.serverRecordChanged)
        /// What answers is not a SealKit server, or not as one does: `http` where TLS is spoken, `https` where it is
        /// not, no HTTP at all. What to do: check the address.
        public static let serverRejectedRequest = Code(.serverRejectedRequest)
        /// There is no file to read. What to do: make the asset again.
        public static let assetFileNotFound = Code(.assetFileNotFound)
        /// The file changed while it was uploaded, or its bytes did on their way. What to do: save again.
        public static let assetFileModified = Code(.assetFileModified)
        /// The server does not speak this SDK's wire format; data, a key file or a device's record of another version.
        /// What to do: update the older side.
        public static let incompatibleVersion = Code(.incompatibleVersion)
        /// A place that is taken (a key store, key file, archive, download or contact's name), or work that only one
        /// may do at a time (the journal, a long-lived operation, an enrolment, new keys). What to do: the reason names
        /// it: choose another place or name; wait for the other.
        public static let constraintViolation = Code(.constraintViolation)
        /// The task was cancelled.
        public static let operationCancelled = Code(.operationCancelled)
        /// The token is of another zone or life of the zone, or too old. What to do: fetch from the start.
        public static let changeTokenExpired = Code(.changeTokenExpired)
        /// Another item of an atomic batch failed. What to do: mend that one, send all again.
        public static let batchRequestFailed = Code(.batchRequestFailed)
        /// More changes wait for the server's disk than it answers in time; this one was not begun. What to do: wait
        /// `retryAfter` seconds.
        public static let zoneBusy = Code(.zoneBusy)
        /// Zones or shares in the wrong database. What to do: use the other one.
        public static let badDatabase = Code(.badDatabase)
        /// An account stores, or a public database holds, as much as the server allows; a zone has too many records, a
        /// user too many zones, an account too many containers; or more is uploaded than records refer to. What to do:
        /// show ``Account/storageUsage()``; delete something, or ask the operator for more; of uploads: save their
        /// records, or wait a day.
        public static let quotaExceeded = Code(.quotaExceeded)
        /// The zone does not exist, or is not shared with this account (any more). What to do: make it, or hide it;
        /// with `userDidResetEncryptedDataKey` make it again and upload what this device has.
        public static let zoneNotFound = Code(.zoneNotFound)
        /// The zone's user has purged it. What to do: delete the local copies; make it again only if the user asks for
        /// it.
        public static let userDeletedZone = Code(.userDeletedZone)
        /// Over 400 items, 1 MiB a record, 1,000 fields, or the server's message size; fetched assets that do not fit
        /// into the temporary folder beside those in use. What to do: send in parts; fetch assets on demand.
        public static let limitExceeded = Code(.limitExceeded)
        /// Over 100. What to do: remove some.
        public static let tooManyParticipants = Code(.tooManyParticipants)
        /// The record, one above or below it, or its zone is shared already. What to do: use that share, or delete it
        /// first.
        public static let alreadyShared = Code(.alreadyShared)
        /// The parent is neither stored nor in the batch, or it is below the record itself. What to do: save it in the
        /// same batch; choose another.
        public static let referenceViolation = Code(.referenceViolation)
        /// The share waits for an address that is not known to be the caller's, who may well have an account. What to
        /// do: run the verification flow (<doc:Sharing>).
        public static let participantMayNeedVerification = Code(.participantMayNeedVerification)
        /// A change was sent, and no answer could be had; it may have been made. What to do: fetch to see; or do it
        /// again.
        public static let serverResponseLost = Code(.serverResponseLost)
        /// The stored bytes are gone. What to do: ask its author to save it again.
        public static let assetNotAvailable = Code(.assetNotAvailable)
        /// The keys are locked on this device, or the server does not accept the login now (a wrong clock, another
        /// origin). What to do: unlock and sign in; keep caches.
        public static let accountTemporarilyUnavailable = Code(.accountTemporarilyUnavailable)
        /// Somebody who asks for access may join without: it is invited, or the share is public. What to do: accept the
        /// share.
        public static let participantAlreadyInvited = Code(.participantAlreadyInvited)
        /// The session has ended; the SDK logs in again by itself.
        public static let sessionExpired = Code(.sessionExpired)
        /// The share changed under the call; the SDK redoes it, and throws when it keeps happening. What to do: try
        /// again.
        public static let rosterChanged = Code(.rosterChanged)
        /// The same, with a new key. What to do: try again.
        public static let staleEpoch = Code(.staleEpoch)
        /// Somebody left or has changed keys; the SDK opens a new key first, unless the account may not. What to do:
        /// try again.
        public static let rotationDue = Code(.rotationDue)
        /// What goes with the record kept changing while it was deleted; the SDK verifies it and signs again, and
        /// throws when it keeps happening. What to do: try again.
        public static let deletionIncomplete = Code(.deletionIncomplete)
        /// A signature, hash, key or rule does not hold; nothing was opened. What to do: do not trust this answer;
        /// compare with the owner.
        public static let integrityFailure = Code(.integrityFailure)
        /// Code or token wrong, late, spent, or somebody else's; all look alike. What to do: begin again.
        public static let verificationFailed = Code(.verificationFailed)
        /// The server's (or this device's) disk is full; nothing was written. What to do: free space.
        public static let storageFull = Code(.storageFull)
        /// Another device has given the account new keys. What to do: enrol this device again, or recover the account
        /// on it; keep caches.
        public static let keysReplaced = Code(.keysReplaced)
        /// The server's operator has suspended the account; the reason has the operator's own words. Keep caches: it
        /// may be undone, and nothing is lost.
        public static let accountSuspended = Code(.accountSuspended)
        /// The server's certificate was signed by nobody whom this device trusts, is for another name, or is not good
        /// at this time, and nothing was sent; or what answers there speaks no TLS, TLS where `http://` was asked for,
        /// or no HTTP. What to do: mend the address, the certificate or the clock; name the authority's PEM file
        /// (`HTTPTransport.Configuration.certificateAuthorityFile`).
        public static let serverNotTrusted = Code(.serverNotTrusted)
        /// The key file does not open. What to do: ask again.
        public static let wrongPassphrase = Code(.wrongPassphrase)
        /// The server shows something older than, or different from, what this device has verified. What to do: the
        /// same; the server may have been restored from a backup (<doc:Restored>).
        public static let rollback = Code(.rollback)
    }
}

extension SealKitError.Code: CustomStringConvertible {
    public var description: String { rawValue }
}
