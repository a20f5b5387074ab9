/// Something that should not be: what was promised and does not hold.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func check(_ holds: Bool, _ description: @autoclosure () -> String) throws(Finding) {
    guard holds else { throw Finding(description()) }
}
