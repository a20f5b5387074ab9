import SealKit

/// What both devices of an enrolment show and ask. To be told the other's digits, and not just yes, makes people look.
enum EnrolmentQuestion {
    enum Answer {
        case digits
        case transcript(String)
    }

    static func show(_ comparison: EnrolmentComparison, _ output: Output) {
        output.result(
            "This device shows \(comparison.code)\ntranscript \(comparison.transcript)", bare: comparison.code,
            json: ["code": .string(comparison.code), "transcript": .string(comparison.transcript)])
    }

    /// - Throws: `integrityFailure` for other digits: somebody may stand between the devices.
    static func ask(_ comparison: EnrolmentComparison) throws(SealKitError) -> Answer {
        let typed = try Prompt.line(
            "The six digits that the other device shows, or its transcript: ", missing: "nobody has said what the other device shows")
        let digits = typed.filter { !$0.isWhitespace }
        if digits.count > 6 { return .transcript(digits) }
        guard digits == comparison.code else {
            throw SealKitError(
                .integrityFailure, "the other device shows something else: somebody may stand between the two",
                remedy: "nothing was handed over; begin again on the new device")
        }
        return .digits
    }
}
