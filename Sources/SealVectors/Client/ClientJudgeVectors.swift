import SealPrimitives
import SealStatements
import SealVectorChecks

extension ClientJudgeVectors: Construction {
    static let construction = VectorConstruction.clientJudge
    static let algorithm = "What a client believes after what it has seen"
    static let header = [
        "Scripts of what a server answers, honest and lying, one step after the other, with what a client makes of it. A test is invalid where anything is refused; the steps after that are made all the same, and each has its own verdict. `reason` is the first refusal.",
        "Records: `reader` remembers nothing at first. The group's `rosters` are those of a `zone`, of a hierarchical share in it (`share`, of the record `Share-1`), and of another one (`other`, `Share-2`). A step is one of these.",
        "`reads`: whose rosters the reader has from now on: its readable scopes (all, to the owner).",
        "`answer`: records of one answer, each with a `record` (`statement` and `proof`), where it was asked for by name its `recordName`, where it came along what brought the record into its scope (`moved`), or the deletion that it went with (`tombstone`, and `count`, `index`, `path` of the notice); `departed` is there where it left the scope. `verdicts` are the reader's, in order. The question was sent when `asked` steps had been made, where that is not all before this one. `accepting` are hashes of late statements that the user accepts (R-SEEN-14).",
        "`readTo`: a feed was read to its end without a gap, and went by these heads (R-SEEN-4). `absentFrom`: an entry of that scope's roster shows that the reader was out of it (R-SEEN-10).",
        "`nothing`: the record of that name is not there, as the server says. `brought`: a reading of the feed from its beginning to its end has brought the records of these names alone; `missing` are those that the reader asks for (R-SEEN-13), ascending by name.",
        "Verdicts that believe: `accepted`; `unknownDeletion` (it takes nothing: R-SEEN-5, R-MOVE-6); `overtaken` (R-SEEN-1, R-SEEN-10 or R-SEEN-12 speaks against it, and the reader has come to know that since it asked: it asks again); `unseen`. Those that refuse: `unverified` (R-READ-1 to 5, R-MOVE-6, R-MOVE-7, R-DERIVED-1 to 5); `older` (R-SEEN-1, R-SEEN-12); `forked` (R-SEEN-2, or the next revision breaks R-SUCC-2); `behind` (an older head: R-SUCC-3, R-LATER-1); `misplaced` (another scope: R-SUCC-3, R-LATER-1); `changed` (R-SUCC-4); `backdated` (R-SEEN-4, R-DERIVED-7); `withheld` (R-SEEN-10).",
        "Roster: a device of the account of `seeds` follows the roster of `scope`; `floor` is the head that it was enrolled with. The group's `logs` are its `entries`, behind the first `at` ones of the log that it `partsFrom`. A step is the tail that a server answers: `count` entries of a `log` from number `from` on, whether `moreComing`, and where its log ends. `abandoned` are those of a branch that come along, `whole` the log that the server gives a device which asks for all of it. `knows` is how many entries the device has verified afterwards.",
        "Verdicts: `accepted`; `succeeded` (R-FORK-3, R-FORK-4); and, refused, `mended` (the server has lost entries: R-LOST-1), `shortened` (the same again, or it ends before `floor`), `forked`, `endless`, `unknownEnd`, `unknownScope`, `keysReplaced` and `foreignKeys` (R-GEN-5), `invalid` (an entry breaks a rule).",
        "With `abandons` a step is the owner, who ends a fork on the first `count` entries of a `log`, and gives the head up that it names, or its own branch: `ended`, `endedOwn`; `notForked`, `notAbandonable` (the head is in that log), `yetAnotherBranch` (a third one was verified here).",
        "Reading: `reader` has the rosters that it `reads`, of those of Records, remembers nothing at first, and is shown whole answers. `answer`: each record as it is `shown` (its name, type, and whether `deleted` or `departed`), with its `fields`: plain ones by the canonical bytes of their `value`, others by their `digest`; asked for were the `desiredKeys`, or all. The rest is as in Records. `cycles` are those among the records that are believed (R-PLACE-9).",
        "To a participant of shares alone, `asksFor` are the parents that are to be looked up, ascending by name, `found` is what that shows, by its newest statement, which is verified, and `heldBack` are the records that are not shown (R-PLACE-3, R-PLACE-4): that is no refusal.",
        "`taken`: what the server says goes along with the deletion of `target`, nearest to it first: records as they are shown, whose reference is `field`. It is `covered`, and the deletion's `fields` are `digest`, or the verdict is what stands against it (R-TAKEN-7). `nothing`: nothing is shown under that name, because of the code that the answer `says`, or without a word (R-SEEN-10). `noAnswer` is a code that says nothing of the record.",
        "Feed: what comes in parts, which is read from the beginning (`isWhole`) or from somewhere else (\"Read\", step 3). A step is a part, asked for at the token `from` and going on at `to`: `records` of a zone's feed, by their statements (`recordsBesideOthers`: not the first zone of an answer), `zones` of a list, or `results` of a query. `circle`: it leads nowhere, or was there before. `asks`: of these names, `brought` are those that came, in what began at the beginning, and in the last part.",
        "Listing: a list that is asked for in parts, each after the `last` of the one before, at first after `after`: `names` by their `bytes`, `places` of a feed, or names each of which comes `once`, in no order. `circle`: one does not come after the one before, or has come before, or more is coming after nothing; the rest is not asked for.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let records = try RecordStories()
        try records.generate(into: &builder)
        try RosterStories().generate(into: &builder)
        try ReadingStories(records: records).generate(into: &builder)
        try ListingStories.generate(into: &builder)
    }
}
