import SealClient
import SealEnvelope

extension SealKitError {
    /// What a client refuses of an answer about a share's URL, said to apps.
    init(_ refusal: ShareRefusal, behind url: ShareURL) {
        self =
            switch refusal {
            case .otherServer:
                SealKitError(
                    .invalidArguments, "the share is on another server: \(url.origin)",
                    remedy: "use an account on that server, or make one there")
            case .otherContainer(let place):
                SealKitError(
                    .badContainer, "the share is in the container \(place.container), \(place.environment)",
                    remedy: "open it with that container")
            case .roster(let error): .integrity(error, "the share")
            case .endless:
                SealKitError(
                    .serverRejectedRequest,
                    "the server says that the share's roster goes on, and gives nothing more of it",
                    remedy: "try again, and distrust a server that keeps doing so")
            case .preview(let error): .integrity(error, "the share's preview")
            case .noSeat:
                SealKitError(
                    .unknownItem, "the share has no open invitation for this account", remedy: "ask its owner for one")
            case .invitation(let error): .integrity(error, "the invitation")
            case .grant(let error, let epoch):
                SealKitError(
                    .integrityFailure,
                    "the invitation's grant does not open (\(error)): it is the one that was signed for, by whoever invited or has opened key \(epoch) since",
                    remedy: "ask the owner to open another key with rotateKeys(of:), and accept then")
            case .owner(let error): .integrity(error, "the share's owner")
            }
    }
}
