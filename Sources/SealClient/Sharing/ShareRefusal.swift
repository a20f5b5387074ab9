public import SealPrimitives

/// Why a client does not believe what a server answers about a share's URL, or takes no seat there: flat, and without
/// anything secret, as `SealError` is.
public enum ShareRefusal: Error, Sendable, Equatable {
    /// The URL is one of another server.
    case otherServer
    /// The share is in another container or environment than the caller looks in.
    case otherContainer(SharePlace)
    /// The URL leads to another share than the one that is shown, or the roster does not hold.
    case roster(SealError)
    /// The roster is said to go on, and nothing more of it comes.
    case endless
    /// The preview does not open, or is by nobody who administered the share.
    case preview(SealError)
    /// There is no open seat for this account.
    case noSeat
    /// The URL's secret is not the one of the seat, or the grant is another than was signed for.
    case invitation(SealError)
    /// The grant that was signed for does not open.
    case grant(SealError, epoch: UInt32)
    /// The identity that is shown as the owner's is somebody else's.
    case owner(SealError)
}
