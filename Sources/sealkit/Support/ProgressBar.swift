import Foundation
import Synchronization

/// A bar on standard error, where that is a terminal and nobody asked for silence.
final class ProgressBar: Sendable {
    enum Unit {
        case bytes, records

        func text(_ count: Int64) -> String {
            switch self {
            case .bytes: ByteCount.text(count)
            case .records: "\(count)"
            }
        }
    }

    private let label: String
    private let unit: Unit
    private let isShown: Bool
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    init(_ label: String, unit: Unit = .bytes, _ output: Output) {
        self.label = label.escaped.shortened(to: 24)
        self.unit = unit
        isShown = isatty(STDERR_FILENO) == 1 && !output.isJSON && !output.isQuiet
    }

    func update(_ done: Int64, of total: Int64) {
        guard isShown, total > 0 else { return }
        let now = ContinuousClock.now
        let isDue = last.withLock { last in
            guard done < total, let shown = last, now - shown < .milliseconds(100) else {
                last = now
                return true
            }
            return false
        }
        guard isDue else { return }
        let width = 30
        let filled = Int(Double(width) * Double(min(done, total)) / Double(total))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        StandardStream.error.show("\r\(label) \(bar) \(unit.text(done)) of \(unit.text(total))\u{1B}[K")
    }

    /// Takes the bar away.
    func finish() {
        guard isShown, last.withLock({ $0 != nil }) else { return }
        StandardStream.error.show("\r\u{1B}[K")
    }
}

enum ByteCount {
    static func text(_ count: Int64) -> String {
        switch count {
        case ..<1024: "\(count) B"
        case ..<(1 << 20): String(format: "%.1f KiB", Double(count) / 1024)
        case ..<(1 << 30): String(format: "%.1f MiB", Double(count) / 1_048_576)
        default: String(format: "%.2f GiB", Double(count) / 1_073_741_824)
        }
    }
}
