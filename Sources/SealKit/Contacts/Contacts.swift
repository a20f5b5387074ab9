import Foundation
import SealClient
import SealPrimitives
import SealStatements

/// The people whose keys this device knows, in one container.
///
/// The first keys that a device sees of somebody count from then on. A name certifies the first of them, so no server
/// can answer for it with its own; newer ones are signed by those before. They are kept in the trust store: another
/// device of the account keeps its own, and what was verified there has to be compared there.
public struct Contacts: Sendable {
    let core: ContainerCore

    /// Everybody, by name.
    /// - Throws: `notAuthenticated`; `integrityFailure` when the trust store was damaged.
    public func all() async throws(SealKitError) -> [Contact] {
        try core.requireSignedIn()
        var contacts: [Contact] = []
        let names = try await names()
        for (user, row) in try await core.trust.contacts(container: core.identifier) {
            contacts.append(try Contact(user, row, own: core.identity().chain, names))
        }
        return contacts
    }

    /// Those with new keys or a conflict, which the user has not looked at.
    public func needingAttention() async throws(SealKitError) -> [Contact] { try await all().filter(\.needsAttention) }

    /// - Throws: `unknownItem` for somebody whose keys this device has never seen.
    public func contact(for userRecordID: Record.ID) async throws(SealKitError) -> Contact {
        try core.requireSignedIn()
        let user = try user(userRecordID)
        guard let row = try await core.trust.contact(user, container: core.identifier) else {
            throw SealKitError(
                .unknownItem, "this device has seen no keys of \(user.recordName)",
                remedy: "read a share that you are in together, or look the person up to invite")
        }
        return try Contact(user, row, own: core.identity().chain, try await names())
    }

    /// As `contact(for:)`, after the server was asked for the person's newest keys: what a safety number is compared
    /// with.
    ///
    /// Somebody whom the server does not know any more is as this device knows them; keys that do not follow from those
    /// known are the contact's `conflict`.
    /// - Throws: as `contact(for:)`; `rollback` when the server answers with keys that were replaced; why it could not
    ///   be asked.
    public func refreshedContact(for userRecordID: Record.ID) async throws(SealKitError) -> Contact {
        let handle = Share.LookupInfo.userRecordName(try user(userRecordID).recordName)
        for result in try await core.lookUp([handle]) {
            do { _ = try await core.identity(in: result, of: handle) } catch {
                guard error.code == .unknownItem || error.code == .integrityFailure else { throw error }
            }
        }
        return try await contact(for: userRecordID)
    }

    /// Notes that the user has compared this contact's safety number with the person's own, and they were the same.
    /// - Throws: `serverRecordChanged` when the keys have changed since the contact was read: compare again;
    ///   `integrityFailure` while other keys wait to be accepted.
    @discardableResult
    public func verify(_ contact: Contact) async throws(SealKitError) -> Contact {
        guard contact.conflict == nil else { throw ContactBook.changed(try user(contact.userRecordID)) }
        let chain = try ContactBook.chain(contact.row.chain, container: core.identifier)
        return try await update(contact, chain: contact.row.chain, changed: nil, verified: Data(chain.hash.bytes))
    }

    /// Takes the mark away again.
    /// - Throws: `serverRecordChanged`.
    @discardableResult
    public func unverify(_ contact: Contact) async throws(SealKitError) -> Contact {
        guard contact.conflict == nil else { throw ContactBook.changed(try user(contact.userRecordID)) }
        return try await update(contact, chain: contact.row.chain, changed: contact.row.changed, verified: nil)
    }

    /// Takes note of a contact's new keys. Where other keys wait (`conflict`), they count in place of those known from
    /// now on: do it only when the person has confirmed them. Verified is nobody by this.
    /// - Throws: `serverRecordChanged` when yet other keys have been seen since the contact was read.
    @discardableResult
    public func accept(_ contact: Contact) async throws(SealKitError) -> Contact {
        let isOther = contact.row.refused != nil
        return try await update(
            contact, chain: contact.row.refused ?? contact.row.chain, changed: nil,
            verified: isOther ? nil : contact.row.verified)
    }

    private func update(_ contact: Contact, chain: Data, changed: Int64?, verified: Data?) async throws(SealKitError)
        -> Contact
    {
        try core.requireSignedIn()
        let isDone = try await core.trust.update(
            try user(contact.userRecordID), container: core.identifier, seen: contact.row, chain: chain,
            changed: changed,
            verified: verified)
        guard isDone else {
            throw SealKitError(
                .serverRecordChanged,
                "the keys of \(contact.userRecordID.recordName) have changed since they were shown",
                remedy: "read the contact again, and compare its new safety number")
        }
        return try await self.contact(for: contact.userRecordID)
    }

    func user(_ id: Record.ID) throws(SealKitError) -> UserID {
        guard let user = try? UserID(recordName: id.recordName) else {
            throw SealKitError(
                .invalidArguments, "\"\(id.recordName)\" is not a user's record name",
                remedy: "it is _ and 32 hexadecimal digits")
        }
        return user
    }
}

extension Container {
    /// The people whose keys this device knows: to compare safety numbers, and to hear of new keys.
    public var contacts: Contacts { Contacts(core: core) }
}
