import SealPrimitives

extension RosterChange {
    private enum Tag: UInt8 {
        case open = 1
        case settings = 2
        case invite = 3
        case revoke = 4
        case accept = 5
        case setPermission = 6
        case setRole = 7
        case remove = 8
        case leave = 9
        case identity = 10
        case block = 11
        case unblock = 12
        case close = 13
    }

    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .open(let opening):
            writer.number(Tag.open.rawValue)
            opening.write(to: &writer)
        case .settings(let settings):
            writer.number(Tag.settings.rawValue)
            settings.write(to: &writer)
        case .invite(let invitation):
            writer.number(Tag.invite.rawValue)
            invitation.write(to: &writer)
        case .revoke(let id):
            writer.number(Tag.revoke.rawValue)
            writer.id(id)
        case .accept(let acceptance):
            writer.number(Tag.accept.rawValue)
            writer.id(acceptance.invitationID)
            acceptance.acceptor.write(to: &writer)
            writer.raw(acceptance.signature)
        case .setPermission(let user, let permission):
            writer.number(Tag.setPermission.rawValue)
            writer.id(user.id)
            writer.number(permission.rawValue)
        case .setRole(let user, let role):
            writer.number(Tag.setRole.rawValue)
            writer.id(user.id)
            writer.number(role.rawValue)
        case .remove(let user):
            writer.number(Tag.remove.rawValue)
            writer.id(user.id)
        case .leave: writer.number(Tag.leave.rawValue)
        case .identity(let generations):
            writer.number(Tag.identity.rawValue)
            IdentityChain.write(generations, to: &writer)
        case .block(let user):
            writer.number(Tag.block.rawValue)
            writer.id(user.id)
        case .unblock(let user):
            writer.number(Tag.unblock.rawValue)
            writer.id(user.id)
        case .close: writer.number(Tag.close.rawValue)
        }
    }

    /// - Parameter container: of the scope, which identity chains must be of.
    init(reading reader: inout CanonicalReader, container: String?) throws(SealError) {
        guard let tag = Tag(rawValue: try reader.byte()) else { throw .malformed }
        switch tag {
        case .open: self = .open(try Opening(reading: &reader))
        case .settings: self = .settings(try Settings(reading: &reader))
        case .invite: self = .invite(try Invitation(reading: &reader, container: try RosterChange.known(container)))
        case .revoke: self = .revoke(try reader.id())
        case .accept:
            self = .accept(
                Acceptance(
                    invitationID: try reader.id(),
                    acceptor: try IdentityChain(reading: &reader, container: RosterChange.known(container)),
                    signature: try reader.raw(SigningKey.signatureBytes)))
        case .setPermission: self = .setPermission(UserID(try reader.id()), try reader.permission())
        case .setRole:
            let user = UserID(try reader.id())
            guard let role = Role(rawValue: try reader.byte()), role == .administrator || role == .privateUser else {
                throw .malformed
            }
            self = .setRole(user, role)
        case .remove: self = .remove(UserID(try reader.id()))
        case .leave: self = .leave
        case .identity:
            let generations = try IdentityChain.generations(reading: &reader)
            guard !generations.isEmpty else { throw .malformed }
            self = .identity(generations)
        case .block: self = .block(UserID(try reader.id()))
        case .unblock: self = .unblock(UserID(try reader.id()))
        case .close: self = .close
        }
    }

    /// Changes that bring identities are only readable when the scope, and so the container, is known.
    private static func known(_ container: String?) throws(SealError) -> String {
        guard let container else { throw .notNextEntry }
        return container
    }
}

extension RosterChange.Opening {
    fileprivate func write(to writer: inout CanonicalWriter) {
        writer.string(scope.container)
        writer.number(scope.environment.rawValue)
        writer.id(scope.owner.id)
        writer.string(scope.zoneName)
        writer.string(scope.shareRecordName)
        writer.number(incarnations.zone)
        writer.number(incarnations.scope)
        writer.number(encryptionScope.rawValue)
        writer.optionalString(rootRecordName)
        writer.flag(abandoned != nil)
        if let abandoned {
            writer.number(abandoned.sequence)
            writer.digest(abandoned.hash)
        }
        owner.write(to: &writer)
    }

    fileprivate init(reading reader: inout CanonicalReader) throws(SealError) {
        let container = try reader.name()
        guard let environment = Environment(rawValue: try reader.byte()) else { throw .malformed }
        let owner = UserID(try reader.id())
        let zoneName = try reader.name()
        let shareRecordName = try reader.string(atMost: Limits.nameBytes)
        guard shareRecordName.isEmpty || Names.isPlain(shareRecordName) else { throw .invalidName }
        scope = Scope(
            container: container, environment: environment, owner: owner, zoneName: zoneName,
            shareRecordName: shareRecordName)
        incarnations = Incarnations(zone: try reader.number(), scope: try reader.number())
        guard let encryptionScope = EncryptionScope(rawValue: try reader.byte()) else { throw .malformed }
        self.encryptionScope = encryptionScope
        rootRecordName = try reader.optionalName()
        abandoned =
            try reader.flag()
            ? RosterChange.AbandonedHead(sequence: try reader.number(), hash: try reader.digest()) : nil
        self.owner = try IdentityChain(reading: &reader, container: container)
    }
}

extension RosterChange.Settings {
    /// The public permission none, in its byte.
    private static let none: UInt8 = 0

    fileprivate func write(to writer: inout CanonicalWriter) {
        writer.number(publicSeat?.permission.rawValue ?? Self.none)
        writer.digest(linkID)
        publicSeat?.write(to: &writer)
    }

    fileprivate init(reading reader: inout CanonicalReader) throws(SealError) {
        let byte = try reader.byte()
        linkID = try reader.digest()
        if byte == Self.none {
            publicSeat = nil
        } else {
            guard let permission = Permission(rawValue: byte) else { throw .malformed }
            publicSeat = try PublicSeat(reading: &reader, permission: permission)
        }
    }
}

extension CanonicalReader {
    mutating func permission() throws(SealError) -> Permission {
        guard let permission = Permission(rawValue: try byte()) else { throw .malformed }
        return permission
    }
}
