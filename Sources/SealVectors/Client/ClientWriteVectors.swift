import SealPrimitives
import SealStatements
import SealVectorChecks

extension ClientWriteVectors: Construction {
    static let construction = VectorConstruction.clientWrite
    static let algorithm = "What a client signs, and what it makes of the answers to that"
    static let header = [
        "Scripts of a batch that a client sends, and of what a server answers, honest and lying, round by round (PROTOCOL-PROCEDURES.md, \"Save\" and \"Delete\"). A test is invalid where something that the server says is not believed; the steps after that are made all the same, and each has its own verdicts. `reason` is the first refusal.",
        "Batch: `writer` saves and deletes `items` of a zone, by a `policy`, where `atomic` all or nothing. An item is to `save` a record of that name (its `type`, `parent`, and all of its `fields`, plain ones by the canonical bytes of their `value`; `changed` are the keys that the app has set or removed), or to `delete` it. `last` is what it was fetched as: a statement, verified and seen, and its fields. The group's `rosters` are those of a `zone`, of two hierarchical shares in it (`share`, `other`), of that zone after a member has left it (`left`), and of the first share after its end (`ended`).",
        "`knows`: the writer goes by the first `entries` of these rosters from now on. `readies`: whether a scope is ready to be written to, which is asked before each round: `ready`, `keyDue`, `ended`, `notMember`.",
        "A round: `asksFor` are the parents that are to be looked up, ascending by name, and `parents` what that shows, verified (R-PLACE-1, R-PLACE-5). `unplaced` are those that have no scope: `outside` (in no share of the writer's), `moves` (it would leave its share, and is not the owner's), `leftBehind` (a deletion in a share that has ended), `past` (of an earlier life of the zone), or `isGone` (the same of a deletion, which is done). `sends` are the others in their order, each as its `statement`, of which wrapped key and salt are the sealer's (R-STMT, R-SUCC, R-LATER, R-TAKEN-2), and whether a save keeps its record's key (R-SEAL-1 to 3). Of an atomic batch nothing is sent where one has no scope.",
        "`answers` are the results in order: `stored`, by the name that it gives, or a `code`, or nothing; with `shows` (what the server has, as in `client-judge.json`, Reading), `dependents` and `taken`. `looksUp` are those of which the writer looks up what there is, `found` is what that shows.",
        "`verdicts`, in order, after which it goes `again`, by name and in that order: `merges` (what the app gave, put into what there is), `makesAgain` (after its deletion), `deletesNewest`, `covers` (the deletion, signed for what goes along: R-TAKEN-7), `again` (as it is), `behind` (once the rosters' tails are here), `takesOthers` (beside the deletions of `dependents` that refer to it, verified: R-ALONG-1 to 3). Those that are done: `saved`, `deleted`, `isGone`; `waits` (it goes after the others, in a batch of its own), `changed` and `deleted` of a save (the app's to merge, or to make anew), `keepsChanging`, `keepsGrowing` (after 8 rounds), `refused` (the code is its result so far: what was refused with `batchRequestFailed` or `referenceViolation` may go again beside others), `batchFailed` (with its atomic batch), `unseen`.",
        "Those that refuse: `unsaid` (no answer, or one of another name), `withheld` (R-SEEN-10; also what is shown though it is said not to be there), and those of `client-judge.json` for what is shown, which is held against what was seen: `unverified`, `older`, `forked`, `behind`, `misplaced`, `changed`.",
        "`whole`: the server refuses a request as a whole, with that code: `refreshesRosters`, `asksForScopes` or `asksForRights` (the zone may be shared in another way than was known), `ends`. It counts as a round. `nothing` and `shown`: what the server says of a record afterwards, held against what was remembered when it was stored (R-SEEN-9, R-TAKEN-8).",
        "Restored: of a record, by revision and hash, what was `seen`, what the `copied` version was, and what a restored server has `stored`; where that is `lost`, the next statement's `revision` (with that `gap`) and `previous` (R-LOST-4).",
        "Repetition: what was `sent`, and got no answer; `there` is the hash of what there is now, which `isGone` or not, and the request `isRepeatable` for a day. `stored`, `isGone`; `mayHaveComeLater`: the app merges; `open`: it goes as if it had never been sent.",
        "Conflict: what becomes of an `item` (a save of a `new` record or a `fetched` one, or a `deletion`) under a `policy`, where there is another version in its way: one that shows the `same` to an app, an `other` one, one that is `unopened` (signed by somebody who may write, and it does not open), also `unopenedOfOtherType`, or a deletion (`gone`); `isLast`, in the eighth round. Verdicts as above, and `replaces` (what the app gave, all of it, in the place of what does not open), `unopened` and `otherType` (the app's).",
        "Objection: what an answer is found out by, whatever the policy. `there` is the hash of what is shown and verified, which `isGone` or not, `last` that of what the item follows; the server said that there was nothing (`isDenied`), the item's values stay as they are under another key (`isRekeying`). `hidden`: it shows what it said was not there. `written`: somebody else has written other values.",
        "Public: what `author` signs in the public database's `scope` to `save` or `delete` a record of that name and `type`, after `last`: the `statement`, of which salt and fields' digest are the signer's (R-PUB-1 to R-PUB-6).",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let records = try RecordStories()
        try WritingStories(reading: ReadingStories(records: records)).generate(into: &builder)
        try builder.group("Restored") { try restored(&$0, records) }
        try builder.group("Repetition") { try repetition(&$0, records) }
        try WritingRules(records: records).generate(into: &builder)
    }

    private static func restored(_ group: inout VectorBuilder.GroupBuilder, _ records: RecordStories) throws {
        let first = records.zone.statement(by: records.alice)
        let second = records.after(first)
        let third = records.after(second)
        func version(_ statement: Statement) -> JSON {
            .object(["revision": .number(statement.revision), "hash": .hex(records.hash(statement))])
        }
        func test(
            _ comment: String, seen: Statement? = nil, copied: Statement? = nil, stored: Statement? = nil,
            gap: UInt64 = 0, revision: UInt64? = nil, after previous: Statement? = nil
        ) {
            var fields: [String: JSON] = ["gap": .number(gap), "verdict": .string("notLost")]
            fields["seen"] = seen.map(version)
            fields["copied"] = copied.map(version)
            fields["stored"] = stored.map(version)
            if let revision, let previous {
                fields["verdict"] = .string("lost")
                fields["revision"] = .number(revision)
                fields["previous"] = .hex(records.hash(previous))
            }
            group.valid(comment, fields, flag: "Rule")
        }
        test("seen, and gone from the server", seen: second, gap: 7, revision: 11, after: second)
        test("the server has less", seen: third, stored: first, revision: 5, after: third)
        test("the copy is of more than was seen", seen: first, copied: third, stored: first, revision: 5, after: third)
        test("the copy is of less than was seen", seen: third, copied: first, stored: second, revision: 5, after: third)
        test("the server has what was seen", seen: second, stored: second)
        test("the server has more", seen: second, stored: third)
        let another = records.after(first) { $0.parent = "List" }
        test("the server has another of that number", seen: second, stored: another, revision: 4, after: second)
        test("never seen", stored: first)
    }

    private static func repetition(_ group: inout VectorBuilder.GroupBuilder, _ records: RecordStories) throws {
        let first = records.zone.statement(by: records.alice)
        let sent = records.after(first)
        let deletion = records.deletion(first, by: records.alice)
        let other = records.after(first, by: records.owner)
        func test(
            _ comment: String, _ sent: Statement, _ there: Statement, isGone: Bool = false, isRepeatable: Bool,
            _ verdict: String
        ) {
            group.valid(
                comment,
                [
                    "sent": .hex(sent.canonicalBytes()), "there": .hex(records.hash(there)), "isGone": .bool(isGone),
                    "isRepeatable": .bool(isRepeatable), "verdict": .string(verdict),
                ], flag: "Rule")
        }
        for isRepeatable in [true, false] {
            let when = isRepeatable ? "within the server's day" : "later"
            test("what was sent is there, \(when)", sent, sent, isRepeatable: isRepeatable, "stored")
            test("what it follows is there, \(when)", sent, first, isRepeatable: isRepeatable, "open")
            test(
                "another version is there, \(when)", sent, other, isRepeatable: isRepeatable,
                isRepeatable ? "open" : "mayHaveComeLater")
            test(
                "its deletion is there, \(when)", sent, deletion, isGone: true, isRepeatable: isRepeatable,
                isRepeatable ? "open" : "mayHaveComeLater")
            test("it was deleted, \(when)", deletion, deletion, isGone: true, isRepeatable: isRepeatable, "isGone")
            test("it was to be deleted, \(when)", deletion, first, isRepeatable: isRepeatable, "open")
            test(
                "it was to be deleted, and is another version, \(when)", deletion, other, isRepeatable: isRepeatable,
                isRepeatable ? "open" : "mayHaveComeLater")
        }
    }
}
