public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// Where a share is, as a server says.
public struct SharePlace: Sendable, Hashable {
    public let container: String
    public let environment: String
    public let zoneName: String
    /// The owner's user record name.
    public let ownerName: String
    public let shareRecordName: String

    public init(container: String, environment: String, zoneName: String, ownerName: String, shareRecordName: String) {
        self.container = container
        self.environment = environment
        self.zoneName = zoneName
        self.ownerName = ownerName
        self.shareRecordName = shareRecordName
    }

    /// - Throws: `otherContainer`.
    func check(container: String, environment: Environment) throws(ShareRefusal) {
        guard self.container == container, self.environment == environment.name else { throw .otherContainer(self) }
    }

    /// The scope that is named here. The URL commits to it: another share or owner behind it is refused before anything
    /// else.
    /// - Throws: `otherContainer`, `roster`.
    public func scope(
        behind url: ShareURL, container: String, environment: Environment
    ) throws(ShareRefusal) -> Scope {
        try check(container: container, environment: environment)
        do throws(SealError) {
            let scope = Scope(
                container: container, environment: environment, owner: try UserID(recordName: ownerName),
                zoneName: zoneName, shareRecordName: shareRecordName)
            try url.check(scopeID: scope.id)
            return scope
        } catch {
            throw .roster(error)
        }
    }

    /// The owner of the share behind a URL, to whom somebody may write who asks for access. The scope names the owner,
    /// whose name certifies the key: nobody else reads it.
    /// - Throws: as `scope`; `owner`.
    public func owner(
        _ chain: @autoclosure () throws(SealError) -> IdentityChain, behind url: ShareURL, container: String,
        environment: Environment
    ) throws(ShareRefusal) -> (owner: IdentityChain, scope: Scope) {
        let scope = try scope(behind: url, container: container, environment: environment)
        do throws(SealError) {
            let owner = try chain()
            guard owner.userID == scope.owner else { throw .invalidIdentity }
            return (owner, scope)
        } catch {
            throw .owner(error)
        }
    }
}

extension SharePlace {
    public init(_ wire: Wire.ShareMetadataResponse) {
        self.init(
            container: wire.container, environment: wire.environment, zoneName: wire.zone?.zoneName ?? "",
            ownerName: wire.zone?.ownerName ?? "", shareRecordName: wire.shareRecordName)
    }

    public init(_ wire: Wire.ShareOwnerResponse) {
        self.init(
            container: wire.container, environment: wire.environment, zoneName: wire.zone?.zoneName ?? "",
            ownerName: wire.zone?.ownerName ?? "", shareRecordName: wire.shareRecordName)
    }
}
