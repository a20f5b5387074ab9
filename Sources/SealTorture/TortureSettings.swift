/// What the environment and the arguments ask for. What is mistyped ends the run, as no rounds and no steps do, or a
/// run of nothing would pass.
struct TortureSettings {
    static let parts = ["crash", "vanish", "slow", "disk", "model"]
    /// Only where they are named.
    static let further = ["servers", "servers-model", "cluster", "soak"]

    let seed: UInt64
    let rounds: Int
    /// Of the model's test.
    let steps: Int
    /// Of the soak.
    let minutes: Int
    let clients: Int
    /// The only steps to play, which a failure named; empty for random ones.
    let shown: [UInt64]
    private let wanted: Set<String>

    /// - Parameter arguments: without the program's name.
    init(arguments: [String], environment: [String: String]) throws(Finding) {
        // make passes on what is not set as nothing.
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        func number<T: FixedWidthInteger>(_ name: String, atLeast least: T = 1, or usual: T) throws(Finding) -> T {
            guard let text = value(name) else { return usual }
            guard let number = T(text), number >= least else {
                throw Finding("\(name)=\(text) is no number: \(least) or more")
            }
            return number
        }
        seed = try number("SEED", atLeast: 0, or: UInt64.random(in: 1...999_999_999))
        rounds = try number("ROUNDS", or: 100)
        steps = try number("MODEL", or: 10_000)
        minutes = try number("MINUTES", or: 60)
        clients = try number("CLIENTS", or: 200)
        var shown: [UInt64] = []
        for text in value("STEPS")?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let step = UInt64(text) else { throw Finding("STEPS has \(text), which is no step's number") }
            shown.append(step)
        }
        self.shown = shown
        let known = Self.parts + Self.further
        for part in arguments where !known.contains(part) {
            throw Finding("\(part) is no part of the torture: \(known.joined(separator: ", "))")
        }
        wanted = Set(arguments)
    }

    func isWanted(_ part: String) -> Bool { wanted.contains(part) || (wanted.isEmpty && Self.parts.contains(part)) }
}
