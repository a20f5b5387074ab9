import SealClient
import SealPrimitives
import SealStatements

/// What a host is told of a record: that it is there in another version than before, is not believed, or is gone.
struct RecordNews {
    let name: String
    let isThere: Bool
    let refusal: String
    let version: ID16

    fileprivate func isSame(as other: RecordNews) -> Bool { refusal == other.refusal && version == other.version }
}

extension SharedZone {
    /// What is not as its host was told last.
    func news() -> [RecordNews] {
        var (now, news): ([RecordNews], [RecordNews]) = ([], [])
        now.reserveCapacity(names.count)
        var place = 0
        func leave(before name: String?) {
            while place < told.count, name.map({ told[place].name < $0 }) ?? true {
                news.append(RecordNews(name: told[place].name, isThere: false, refusal: "", version: .zero))
                place += 1
            }
        }
        for name in names {
            let shown = shown(name)
            let one = RecordNews(
                name: name, isThere: true, refusal: shown == nil ? disbelief(of: name)?.name ?? "unknownItem" : "",
                version: shown.map { ID16(prefixOf: $0.read.verified.hash) } ?? .zero)
            leave(before: name)
            let isKnown = place < told.count && told[place].name == name
            if !(isKnown && told[place].isSame(as: one)) { news.append(one) }
            if isKnown { place += 1 }
            now.append(one)
        }
        leave(before: nil)
        told = now
        return news
    }

    /// - Returns: of what is believed and opens, what the query asks for, in its order; what is equal there by name.
    func names(by query: Query) -> [String] {
        var found: [(keys: [IndexKey], name: String)] = []
        for name in names {
            guard let shown = shown(name), shown.read.statement.recordType == query.recordType,
                let subject = subject(of: shown), query.matches(subject), let keys = query.sortKeys(of: subject)
            else { continue }
            found.append((keys, name))
        }
        found.sort { first, second in
            first.keys == second.keys ? first.name < second.name : query.isOrdered(first.keys, second.keys)
        }
        return found.map { $0.name }
    }

    /// A record as queries see it, sealed fields too: who asks has opened it.
    private func subject(of shown: Shown) -> Query.Subject? {
        if let subject = shown.subject { return subject }
        var fields: [String: Value] = [:]
        let key = try? open(shown) { name, field in
            switch field {
            case .plain(let value), .encrypted(let value): fields[name] = value
            case .asset, .publicAsset, .omitted: break
            }
        }
        guard key != nil else { return nil }
        let subject = Query.Subject(shown.read.statement, created: shown.created, modified: shown.modified, fields)
        shown.subject = subject
        return subject
    }
}
