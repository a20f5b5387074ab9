import SealPrimitives
import SealVectorChecks

/// Lists that come in parts: whether they come to an end.
enum ListingStories {
    static func generate(into builder: inout VectorBuilder) throws { try builder.group("Listing") { tell(&$0) } }

    private static func tell(_ group: inout VectorBuilder.GroupBuilder) {
        func test(
            _ comment: String, _ order: String, after: String = "", _ parts: [(names: [String], isMoreComing: Bool)],
            isValid: Bool = true
        ) {
            var last = after
            var steps: [JSON] = []
            for (index, part) in parts.enumerated() {
                var step: [String: JSON] = [
                    "names": .array(part.names.map { .string($0) }), "moreComing": .bool(part.isMoreComing),
                ]
                last = part.names.last ?? last
                if isValid || index < parts.count - 1 {
                    step["verdict"] = .string("accepted")
                    step["last"] = .string(last)
                } else {
                    step["verdict"] = .string("circle")
                }
                steps.append(.object(step))
            }
            var fields: [String: JSON] = ["order": .string(order), "steps": .array(steps)]
            if order != "once" { fields["after"] = .string(after) }
            if isValid {
                group.valid(comment, fields, flag: "Rule")
            } else {
                group.invalid(comment, fields, flag: "Rule")
            }
        }
        test("by their bytes, in two parts", "bytes", [(["A", "Z", "a"], true), (["aa", "b"], false)])
        test("nothing", "bytes", [([], false)])
        test("the last part is empty", "bytes", [(["A"], true), ([], false)])
        test("a name of more than a byte a letter comes after", "bytes", [(["z", "\u{e4}"], false)])
        test("from a name on", "bytes", after: "M", [(["N"], false)])
        test("the name that it was asked for after", "bytes", after: "M", [(["M"], false)], isValid: false)
        test("a name from before", "bytes", after: "M", [(["L"], false)], isValid: false)
        test("not in order", "bytes", [(["B", "A"], false)], isValid: false)
        test("a name twice", "bytes", [(["A", "A"], false)], isValid: false)
        test("a part that was there before", "bytes", [(["A", "B"], true), (["A", "B"], true)], isValid: false)
        test("more is coming after nothing", "bytes", [(["A"], true), ([], true)], isValid: false)
        test("places of a feed", "places", after: "0", [(["1", "2"], true), (["10"], false)])
        test("the greatest place", "places", after: "9", [(["18446744073709551615"], false)])
        test("a place twice", "places", after: "0", [(["1", "1"], false)], isValid: false)
        test("places that go back", "places", after: "0", [(["10"], true), (["9"], true)], isValid: false)
        test("a place of nothing more", "places", after: "7", [([], true)], isValid: false)
        test("each once, in no order", "once", [(["B", "A"], true), (["C"], false)])
        test("nothing at all", "once", [([], false)])
        test("one that has come before", "once", [(["B", "A"], true), (["C", "B"], false)], isValid: false)
        test("one twice in a part", "once", [(["B", "B"], false)], isValid: false)
        test("more after a part of none", "once", [(["B"], true), ([], true)], isValid: false)
    }
}
