public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// What is wanted of a share: how its people and settings are to differ from what was read of it. What is not named
/// stays as it is, also where another device has changed it since.
public struct ShareWish: Sendable {
    /// Who is in the share, or is to be invited.
    public struct Person: Sendable {
        /// Of the invitation by which somebody is in the share, or is to be; nil for the owner.
        public var invitationID: ID16?
        /// nil for a placeholder.
        public var user: UserID?
        /// Verified keys: without them nobody is invited who is known by name.
        public var chain: IdentityChain?
        /// E-mail address or phone number that somebody is invited by.
        public var address: String?
        public var role: Role
        /// nil for none, which nobody in a share has.
        public var permission: Permission?
        /// When an open invitation is over: microseconds since 1970, 0 for never; nil for what no invitation can hold.
        public var expires: Int64?

        public init(
            invitationID: ID16?, user: UserID?, chain: IdentityChain?, address: String?, role: Role = .privateUser,
            permission: Permission?, expires: Int64? = 0
        ) {
            self.invitationID = invitationID
            self.user = user
            self.chain = chain
            self.address = address
            self.role = role
            self.permission = permission
            self.expires = expires
        }
    }

    public enum PublicPermission: Sendable {
        case asItIs
        /// nil for none.
        case to(Permission?)
    }

    /// Those who are to be there, in their order: as each was read, nil for somebody new, and as each is to be.
    public var people: [(before: Person?, now: Person)] = []
    /// Those who are to go.
    public var gone: [Person] = []
    public var publicPermission = PublicPermission.asItIs
    public var blocked: Set<UserID> = []
    public var unblocked: Set<UserID> = []
    /// What new URLs show.
    public var preview: SharePreview

    public init(preview: SharePreview) { self.preview = preview }
}
