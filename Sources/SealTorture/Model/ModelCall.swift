import SealKit

/// One call of a device. It is made first and held against the model afterwards, so that several can be under way at
/// once.
protocol ModelCall: Sendable {
    associatedtype Answer: Sendable
    var device: Int { get }
    var description: String { get }
    /// Whether it opens a zone's key first where that is due, as whoever writes does: others' calls may come between
    /// the two.
    var opensDueKey: Bool { get }
    func answer(from device: ModelDevice) async throws(SealKitError) -> Answer
    /// Makes the call of the model too.
    /// - Returns: the copies that the device goes on with; nil for what it drops.
    /// - Throws: `Finding` when the model's answer is another one.
    func explain(_ answer: Answer, by store: inout ModelStore, for device: ModelDevice) throws -> [ModelDevice.Key:
        ModelDevice.Copy?]
}

/// A call that was answered.
struct AnsweredCall: Sendable {
    let device: Int
    let description: String
    let opensDueKey: Bool
    let explain: @Sendable (inout ModelStore, ModelDevice) throws -> [ModelDevice.Key: ModelDevice.Copy?]

    init<Call: ModelCall>(_ call: Call, from device: ModelDevice) async throws(SealKitError) {
        let answer = try await call.answer(from: device)
        self.device = call.device
        description = call.description
        opensDueKey = call.opensDueKey
        explain = { try call.explain(answer, by: &$0, for: $1) }
    }
}

/// - Parameters:
///   - found: nil for a success, as `expected`.
func checkCode(_ found: SealKitError.Code?, _ expected: SealKitError.Code?) throws(Finding) {
    try check(
        found == expected, "fails with \(found?.rawValue ?? "nothing"), not with \(expected?.rawValue ?? "nothing")")
}
