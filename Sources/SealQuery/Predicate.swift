/// Which records a query is about.
public indirect enum Predicate: Sendable, Hashable {
    case constant(Bool)
}
