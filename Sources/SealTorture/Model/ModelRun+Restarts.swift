import SealLab

extension ModelRun {
    /// A device keeps what it knows, or starts with what it kept, or with nothing: its answers stay the same.
    mutating func restart(_ device: Int, _ random: inout SeededRandom) async throws {
        doing = "device \(device) is asked what the server did wrong"
        try await checkNoAccusation(devices[device].container, by: "device \(device)")
        switch random.below(6) {
        case 0, 1:
            doing = "device \(device) keeps its trust store"
            try devices[device].keep()
            count(.trustKept)
        case 2:
            doing = "device \(device) goes back to the trust store that it kept"
            if try devices[device].goBack(withCopies: false) { count(.trustSetBack) }
        case 3:
            doing = "device \(device) goes back to the trust store, the copies and the tokens that it kept"
            if try devices[device].goBack(withCopies: true) { count(.deviceSetBack) }
        case 4:
            doing = "device \(device) loses its trust store"
            try devices[device].lose(withCopies: false)
            count(.trustLost)
        default:
            doing = "device \(device) loses its trust store, its copies and its tokens"
            try devices[device].lose(withCopies: true)
            count(.deviceLost)
        }
    }
}
