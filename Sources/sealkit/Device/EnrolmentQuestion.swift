import SealKit

/// What both devices of an enrolment show and ask. To be told the other's digits, and not just yes, makes people look.
enum EnrolmentQuestion {
    enum Answer {
        case digits
        case transcript(String)
    }

    /// Which of the two devices asks.
    enum Side {
        case new, old

        /// What is true when the answers were wrong; what the other one's user has said there is not known here.
        fileprivate var refusal: SealKitError {
            switch self {
            case .new:
                SealKitError(
                    .integrityFailure,
                    "what the other device shows, as it was typed here, is not what this one shows; this one has taken nothing",
                    remedy:
                        "begin again. If the other device says that it has handed over, that was for this command alone and is void, "
                        + "unless it did so although the two showed different digits: then run sealkit account rotate-keys there"
                )
            case .old:
                SealKitError(
                    .integrityFailure,
                    "what the other device shows, as it was typed here, is not what this one shows; nothing was handed over",
                    remedy:
                        "begin again on the new device; if the two really show different digits, somebody stands between them: distrust the server"
                )
            }
        }
    }

    /// The digits are fixed before they are shown, by what both devices have committed to: whoever stands between the
    /// two gets no other ones by being asked for again.
    private static let tries = 3

    static func show(_ comparison: EnrolmentComparison, _ output: Output) throws(SealKitError) {
        try output.result(
            "This device shows \(comparison.code)\ntranscript \(comparison.transcript)", bare: comparison.code,
            json: ["code": .string(comparison.code), "transcript": .string(comparison.transcript)])
    }

    /// - Throws: `integrityFailure` after three answers that are not what this device shows; `invalidArguments` where
    ///   nobody answers; `operationCancelled`.
    static func ask(_ comparison: EnrolmentComparison, on side: Side, _ output: Output) throws(SealKitError) -> Answer {
        for left in (0..<tries).reversed() {
            let answer: String
            do {
                answer = try Prompt.line(
                    "The six digits that the other device shows, or its transcript: ",
                    missing: "nobody has said what the other device shows",
                    remedy: "begin again, and type here what the other device shows")
            } catch {
                guard error.code == .invalidArguments, left < tries - 1 else { throw error }
                throw side.refusal
            }
            let typed = answer.filter { !$0.isWhitespace }
            if typed == comparison.code { return .digits }
            if typed == comparison.transcript { return .transcript(typed) }
            guard left > 0 else { break }
            output.note("This device shows something else. Look again; \(left.counted("try", "tries")) left.")
        }
        throw side.refusal
    }
}
