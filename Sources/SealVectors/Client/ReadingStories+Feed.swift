import SealPrimitives
import SealVectorChecks

/// What comes in parts: whether they lead on.
extension ReadingStories {
    func feed(_ group: inout VectorBuilder.GroupBuilder) {
        pages(&group)
        zones(&group)
        others(&group)
    }

    private func told(
        _ group: inout VectorBuilder.GroupBuilder, _ comment: String, _ isValid: Bool, isWhole: Bool = true,
        _ tell: (inout FeedStory) -> Void
    ) {
        var story = FeedStory()
        tell(&story)
        let fields: [String: JSON] = ["isWhole": .bool(isWhole), "steps": .array(story.steps)]
        if isValid {
            group.valid(comment, fields, flag: "Rule")
        } else {
            group.invalid(comment, fields, flag: "Rule")
        }
    }

    private func pages(_ group: inout VectorBuilder.GroupBuilder) {
        let (a, b, c) = (FeedStory.record("A", 1), FeedStory.record("B", 1), FeedStory.record("C", 1))
        told(&group, "one part after the other, and what came", true) {
            $0.part([a, b], from: 0, to: 1)
            $0.part([c], from: 1, to: 2, more: false)
            $0.brought(["A", "B", "C"], of: ["A", "B", "C", "D"])
        }
        told(&group, "an empty feed", true) { $0.part([], from: 0, to: 1, more: false) }
        told(&group, "a record that has changed comes again", true) {
            $0.part([a, b], from: 0, to: 1)
            $0.part([FeedStory.record("A", 2)], from: 1, to: 2, more: false)
        }
        told(&group, "the notice that a record went comes by the statement that it had", true) {
            $0.part([a, b], from: 0, to: 1)
            $0.part([FeedStory.record("A", 1, "deleted")], from: 1, to: 2, more: false)
        }
        told(&group, "what did not begin at the beginning says nothing of what came", true, isWhole: false) {
            $0.part([a], from: 1, to: 2)
            $0.part([b], from: 2, to: 3, more: false)
            $0.brought(["B"], of: ["A", "B", "C"])
        }
        told(&group, "more is coming, from the same place", false) {
            $0.part([a], from: 0, to: 1)
            $0.part([b], from: 1, to: 1, "circle")
        }
        told(&group, "more is coming, from nowhere", false) { $0.part([a], from: 0, to: 0, "circle") }
        told(&group, "more is coming after nothing", false) { $0.part([], from: 0, to: 1, "circle") }
        told(&group, "a part that was there before, at another place", false) {
            $0.part([a, b], from: 0, to: 1)
            $0.part([a, b], from: 1, to: 2, "circle")
        }
        told(&group, "one record that was there before, as the feed ends", false) {
            $0.part([a, b], from: 0, to: 1)
            $0.part([c, b], from: 1, to: 2, more: false, "circle")
        }
        told(&group, "one record twice in a part", false) { $0.part([a, b, a], from: 0, to: 1, more: false, "circle") }
        told(&group, "a part that is refused is not taken", false) {
            $0.part([a, b], from: 0, to: 1)
            $0.part([c], from: 1, to: 1, "circle")
            $0.part([c], from: 1, to: 2, more: false)
            $0.brought(["A", "C"], of: ["A", "C", "D"])
        }
    }

    private func zones(_ group: inout VectorBuilder.GroupBuilder) {
        let (a, b) = (FeedStory.zone("A", 1), FeedStory.zone("B", 3))
        told(&group, "a zone comes again as it was, at a place of its own", true) {
            $0.part([a, b], from: 0, to: 1, .zones)
            $0.part([a], from: 1, to: 2, .zones)
            $0.part([FeedStory.zone("A", 2)], from: 2, to: 3, more: false, .zones)
        }
        told(&group, "a zone comes again as it was, at a place that was passed", false) {
            $0.part([a, b], from: 0, to: 1, .zones)
            $0.part([a], from: 1, to: 2, .zones)
            $0.part([a], from: 2, to: 1, "circle", .zones)
        }
        told(&group, "a zone comes again as it was, once too often", false) {
            $0.part([a], from: 0, to: 1, .zones)
            for place in 1...16 { $0.part([a], from: place, to: place + 1, .zones) }
            $0.part([a], from: 17, to: 18, "circle", .zones)
            $0.part([a, b], from: 17, to: 18, .zones)
            $0.part([a], from: 18, to: 19, .zones)
        }
        told(&group, "zones, and more after nothing", false) { $0.part([], from: 0, to: 1, "circle", .zones) }
    }

    private func others(_ group: inout VectorBuilder.GroupBuilder) {
        let (a, b) = (FeedStory.record("A", 1), FeedStory.record("B", 1))
        told(&group, "beside other zones there may be no room for a first part", true) {
            $0.part([], from: 0, to: 0, .recordsBesideOthers)
            $0.part([a], from: 0, to: 1, more: false)
        }
        told(&group, "beside other zones there may be no room for another part", true) {
            $0.part([a], from: 0, to: 1)
            $0.part([], from: 1, to: 1, .recordsBesideOthers)
            $0.part([b], from: 1, to: 2, more: false)
        }
        told(&group, "beside other zones, at another place after nothing", false) {
            $0.part([a], from: 0, to: 1)
            $0.part([], from: 1, to: 2, "circle", .recordsBesideOthers)
        }
        told(&group, "beside other zones, records from the same place", false) {
            $0.part([a], from: 0, to: 1)
            $0.part([b], from: 1, to: 1, "circle", .recordsBesideOthers)
        }
        told(&group, "a part of what was searched may have no results", true, isWhole: false) {
            $0.part([a], from: 0, to: 1, .results)
            $0.part([], from: 1, to: 2, .results)
            $0.part([b], from: 2, to: 0, more: false, .results)
        }
        told(&group, "a search from the same place", false, isWhole: false) {
            $0.part([a], from: 0, to: 1, .results)
            $0.part([], from: 1, to: 1, "circle", .results)
        }
        told(&group, "a result that was there before", false, isWhole: false) {
            $0.part([a], from: 0, to: 1, .results)
            $0.part([b, a], from: 1, to: 0, more: false, "circle", .results)
        }
    }
}

/// The steps of one test of a way through something that comes in parts.
private struct FeedStory {
    private(set) var steps: [JSON] = []

    enum Kind: String {
        case records, recordsBesideOthers, zones, results
    }

    /// - Parameters:
    ///   - version: of its statement, which nobody verifies before it is known to lead on.
    ///   - form: what is said of it beside that.
    static func record(_ name: String, _ version: UInt8, _ form: String? = nil) -> JSON {
        var item: [String: JSON] = ["name": .string(name), "statement": .hex(Array(name.utf8) + [version])]
        if let form { item[form] = .bool(true) }
        return .object(item)
    }

    /// - Parameter version: of all that is said of it, its name too.
    static func zone(_ name: String, _ version: UInt64) -> JSON {
        .object(["name": .string(name), "version": .number(version)])
    }

    /// From a place to a place: 0 is none.
    mutating func part(
        _ items: [JSON], from start: Int, to end: Int, more: Bool = true, _ verdict: String = "accepted",
        _ kind: Kind = .records
    ) {
        func token(_ place: Int) -> JSON { .hex(place == 0 ? [] : [UInt8(place)]) }
        steps.append(
            .object([
                "kind": .string(kind.rawValue), "items": .array(items), "from": token(start), "to": token(end),
                "moreComing": .bool(more), "verdict": .string(verdict),
            ]))
    }

    mutating func part(_ items: [JSON], from start: Int, to end: Int, more: Bool = true, _ kind: Kind) {
        part(items, from: start, to: end, more: more, "accepted", kind)
    }

    mutating func brought(_ names: [String], of asked: [String]) {
        steps.append(
            .object(["asks": .array(asked.map { .string($0) }), "brought": .array(names.map { .string($0) })]))
    }
}
