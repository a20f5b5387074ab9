import Foundation
import SealKit
import Synchronization

/// Which notification was told last, by container, environment and user. It is no secret, and nothing of a record.
final class PushPositions: Sendable {
    private struct State {
        var ids: [String: String] = [:]
        /// The file was there and could not be read; places that were told so.
        var isDamaged = false
        var told: Set<String> = []
    }

    private let state: Mutex<State>
    private let file: URL?

    static let fileName = "notifications.json"

    /// - Parameter folder: nil keeps positions for as long as the process lasts.
    init(_ folder: URL?) {
        file = folder?.appendingPathComponent(Self.fileName)
        var read = State()
        if let file {
            do { read.ids = try PrivateFile.read(file).map(Self.ids) ?? [:] } catch { read.isDamaged = true }
        }
        state = Mutex(read)
    }

    private static func ids(in content: PrivateFile.Content) throws -> [String: String] {
        try JSONDecoder().decode([String: String].self, from: content.bytes)
    }

    subscript(place: String) -> String? { state.withLock { $0.ids[place] } }

    /// Once for each place.
    func isDamaged(_ place: String) -> Bool {
        state.withLock { $0.isDamaged && $0.told.insert(place).inserted }
    }

    /// A position that cannot be written is told again after a restart, which is no harm: notifications are hints. The
    /// other places of the file are those of whoever wrote them last: other apps of the account share it.
    func keep(_ id: String, for place: String) {
        state.withLock { state in
            state.ids[place] = id
            guard let file else { return }
            StateFolder.make(for: file)
            try? PrivateFile.locked(file) { () throws(SealKitError) in
                // What cannot be read just now stays; what says nothing begins anew.
                let content = try PrivateFile.read(file)
                var ids = content.flatMap { try? Self.ids(in: $0) } ?? [:]
                ids[place] = id
                guard let data = try? JSONEncoder().encode(ids) else { return }
                try PrivateFile.replace(file, with: data)
            }
        }
    }
}
