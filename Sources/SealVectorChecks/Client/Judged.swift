/// The judgements of one test: each is held against the recorded one, and the first refusal is the test's.
struct Judged {
    private var refusal: Judgement?

    mutating func expect(_ key: String, of fields: Fields, _ judgement: Judgement) throws(VectorError) {
        try fields.expect(key, .string(judgement.name))
        note(judgement)
    }

    mutating func note(_ judgement: Judgement) {
        if judgement.isRefusal, refusal == nil { refusal = judgement }
    }

    /// - Throws: `disbelieved` where something was refused.
    func finish() throws(VectorError) {
        if let refusal { throw .disbelieved(refusal) }
    }
}
