/// What a change token stands for: the version of everything that its holder has been given.
struct ModelToken {
    var life = 0
    var seen: [String: Int] = [:]
    /// Of a reading that began at the beginning and has not come to its end. Who goes on from there twice, or after a
    /// new start, is given at the end what is not known any more to have come.
    var isMidway = false
    /// When the reading began that it goes on from.
    var began = 0
    /// What its holder has, as far as it was given it.
    var held: Set<String> = []

    /// Takes one change in, which has to be one.
    mutating func deliver(_ name: String, _ version: Int?, _ what: String, mayRepeat: Bool = false) throws(Finding) {
        guard let version else { throw Finding("\(what) delivers \(name), which never was") }
        try check(mayRepeat || seen[name] != version, "\(what) delivers \(name) again without a change")
        seen[name] = version
    }

    /// At a feed's end everything has been given; of what was deleted, what its holder had been given before.
    func checkComplete(_ items: [String: (version: Int, isDeleted: Bool)], _ what: String) throws(Finding) {
        for (name, item) in items where seen[name] != item.version {
            try check(item.isDeleted && seen[name] == nil, "\(what) does not deliver the change of \(name)")
        }
        let left = held.filter { items[$0] == nil }
        try check(left.isEmpty, "\(what) does not deliver that \(left.sorted()) went")
    }
}
