public import SealPrimitives
public import SealStatements

/// A seat of a verified roster that somebody may take.
public enum Seat: Sendable {
    case invitation(Invitation)
    case everybody(PublicSeat)

    public var id: ID16 {
        switch self {
        case .invitation(let invitation): invitation.id
        case .everybody(let seat): seat.id
        }
    }

    public var permission: Permission {
        switch self {
        case .invitation(let invitation): invitation.permission
        case .everybody(let seat): seat.permission
        }
    }

    public var signingKey: VerificationKey {
        switch self {
        case .invitation(let invitation): invitation.signingKey
        case .everybody(let seat): seat.signingKey
        }
    }

    /// Whether the grant opens with the acceptor's own key as well.
    public var isForKnownPerson: Bool {
        if case .invitation(let invitation) = self { invitation.invitee != nil } else { false }
    }
}
