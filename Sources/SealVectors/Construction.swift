import SealVectorChecks

/// A construction whose file this target generates; what its tests say is checked by `VectorConstruction`.
protocol Construction: SendableMetatype {
    static var construction: VectorConstruction { get }
    static var algorithm: String { get }
    static var header: [String] { get }
    static func generate(into builder: inout VectorBuilder) throws
}

extension Construction {
    /// The file's name without its ending.
    static var name: String { construction.rawValue }
}
