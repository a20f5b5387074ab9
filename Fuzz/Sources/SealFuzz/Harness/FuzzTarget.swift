/// One thing to fuzz: a file of its own, and a line in `targets`.
protocol FuzzTarget: SendableMetatype {
    /// On the command line, and the folder of its corpus and its regressions.
    static var name: String { get }
    /// What the fuzzer starts from.
    static var seeds: [Seed] { get }
    /// The longest input that is tried.
    static var maximumLength: Int { get }
    /// Bytes that the target itself may allocate at once, whatever its input.
    static var allowance: Int { get }
    /// Returns for every input there is. What the core refuses is fine; what breaks a property goes to `violated`.
    static func run(_ input: [UInt8])
}

extension FuzzTarget {
    static var maximumLength: Int { 4_096 }
    static var allowance: Int { 65_536 }
}

/// Where first inputs come from. `fuzz.py` extracts them: the executable needs neither JSON nor files.
enum Seed {
    /// Every value of `key` in `Vectors/<file>.json`, at whatever depth, as hexadecimal; `prefix` goes before it.
    case hex(_ file: String, _ key: String, prefix: [UInt8] = [])
    /// The same as text.
    case text(_ file: String, _ key: String)
    /// Made here.
    case made([UInt8])
}
