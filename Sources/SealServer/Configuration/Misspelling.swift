/// What somebody may have meant who has written a name that there is not.
enum Misspelling {
    /// Letters in which the two may differ.
    private static let most = 2

    /// The nearest one; nil where none is close.
    /// - Parameter letters: how each is written.
    static func nearest<Name: Hashable>(
        to written: String, among names: Set<Name>, _ letters: (Name) -> String
    ) -> Name? {
        let distances = names.map { (name: $0, distance: distance(letters($0), written), letters: letters($0)) }
        // Of two that are as near, always the same.
        let nearest = distances.min { ($0.distance, $0.letters) < ($1.distance, $1.letters) }
        return nearest.flatMap { $0.distance <= most ? $0.name : nil }
    }

    /// How many letters have to be put in, taken out or changed to make one of the other.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        var row = Array(0...other.count)
        for (place, letter) in one.enumerated() {
            var before = row[0]
            row[0] = place + 1
            for column in other.indices {
                let changed = before + (letter == other[column] ? 0 : 1)
                before = row[column + 1]
                row[column + 1] = min(changed, before + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
