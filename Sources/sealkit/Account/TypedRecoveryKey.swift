import Foundation
import SealEnvelope
import SealKit

/// A recovery key as somebody types it, group by group: at a terminal, a group that is mistyped is typed again, and no
/// other.
struct TypedRecoveryKey {
    private static let groupCount = 13
    private static let groupLength = 5

    private var groups: [String]

    /// - Returns: nil where it cannot be told which group is which.
    init?(_ text: String) {
        let parts = TypedRecoveryKey.plain(text).split { $0 == "-" || $0.isWhitespace }.map(String.init)
        let characters = Array(parts.joined())
        if parts.count == TypedRecoveryKey.groupCount {
            groups = parts
        } else if characters.count == TypedRecoveryKey.groupCount * TypedRecoveryKey.groupLength {
            groups = stride(from: 0, to: characters.count, by: TypedRecoveryKey.groupLength).map { start in
                String(characters[start..<start + TypedRecoveryKey.groupLength])
            }
        } else {
            return nil
        }
    }

    /// With the hyphen for what word processors and messengers put in its place, or in a space's: none of them is a
    /// key's character.
    private static func plain(_ typed: String) -> String {
        String(
            String.UnicodeScalarView(
                typed.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .dashPunctuation, .spaceSeparator: "-"
                    default: scalar == "\u{2212}" ? "-" : scalar
                    }
                }))
    }

    // MARK: Checking

    /// From 1.
    private var mistyped: [Int] {
        (1...TypedRecoveryKey.groupCount).filter { RecoveryKey.isMistyped(group: groups[$0 - 1], at: $0) }
    }

    private func key() throws(SealKitError) -> RecoveryKey {
        do { return try RecoveryKey(text: groups.joined(separator: "-")) } catch {
            throw Self.refused("look at each of its groups")
        }
    }

    private static func refused(_ remedy: String) -> SealKitError {
        SealKitError(.invalidArguments, "the recovery key is not complete or mistyped", remedy: remedy)
    }

    // MARK: Asking

    private static let shape = "it has 13 groups of five letters and digits"

    /// Asks for a key at the terminal, or reads it from standard input.
    /// - Throws: `invalidArguments`, which names the groups, where nobody can be asked again; `operationCancelled` for
    ///   an empty line in the place of what was to be typed again.
    static func read() throws(SealKitError) -> RecoveryKey {
        var typed = try first()
        while true {
            guard let known = typed else {
                guard Prompt.isAtTerminal else { throw refused(shape) }
                typed = TypedRecoveryKey(
                    try again("That is no whole key: \(shape). All of it (an empty line gives up): "))
                continue
            }
            let mistyped = known.mistyped
            guard let group = mistyped.first else { return try known.key() }
            guard Prompt.isAtTerminal else {
                throw refused("look at group \(mistyped.map(String.init).joined(separator: ", "))")
            }
            let answer = try again(
                "Group \(group) of \(groupCount) is mistyped. That group again (an empty line gives up): ")
            // Whoever types all of it again has answered too.
            typed = TypedRecoveryKey(answer) ?? known.with(answer, asGroup: group)
        }
    }

    /// A file may hold what a command has printed with the key: the key is its first line that has the shape of one.
    private static func first() throws(SealKitError) -> TypedRecoveryKey? {
        let first = try Prompt.pipedSecret("Recovery key: ")
        guard !Prompt.isAtTerminal else { return TypedRecoveryKey(first) }
        var line = first
        for _ in 0..<mostLines {
            if let key = TypedRecoveryKey(line), key.groups.allSatisfy({ $0.count == groupLength }) { return key }
            guard let next = try Interruption.readLine(STDIN_FILENO) else { break }
            line = next
        }
        return TypedRecoveryKey(first)
    }

    private static let mostLines = 10

    private static func again(_ question: String) throws(SealKitError) -> String {
        let answer = try Prompt.secret(question, remedy: "give the whole key as a line on standard input")
        guard !answer.allSatisfy(\.isWhitespace) else {
            throw SealKitError(.operationCancelled, "the recovery key was not typed to its end; nothing was changed")
        }
        return answer
    }

    private func with(_ text: String, asGroup number: Int) -> TypedRecoveryKey {
        var changed = self
        changed.groups[number - 1] = TypedRecoveryKey.plain(text).filter { $0 != "-" && !$0.isWhitespace }
        return changed
    }
}
