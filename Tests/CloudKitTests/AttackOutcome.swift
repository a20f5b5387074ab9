import Foundation
import Synchronization
import Testing

/// What became of an attack on an app of CloudKit's names, for the table that `make attacks` prints: noted once its
/// test has shown it.
enum AttackOutcome {
    private static let file = Mutex<FileHandle?>(
        ProcessInfo.processInfo.environment["SEALKIT_ATTACK_OUTCOMES"].flatMap { FileHandle(forWritingAtPath: $0) })

    /// Nothing was there to refuse: what the attacker got is worth nothing.
    static func held(_ what: String) { note(what, kind: "held") }

    static func refused(_ what: String) { note(what, kind: "refused") }

    private static func note(_ text: String, kind: String) {
        guard let test = Test.current?.name.prefix(while: { $0 != "(" }) else { return }
        file.withLock { file in
            guard let file else { return }
            _ = try? file.seekToEnd()
            try? file.write(contentsOf: Data("\(test)\t\(kind)\t\(text)\n".utf8))
        }
    }
}
